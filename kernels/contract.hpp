// Contractions for programs: C = alpha A B + beta C on tensors that the caller owns, by the same
// schedules and code that `tcsim run` measures. docs/library.md shows how to link it
// (find_package(tcsim), tcsim::kernels).
#pragma once

#include <map>
#include <memory>
#include <stop_token>
#include <string_view>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// This machine without measuring anything: caches as the kernel describes them, vectors of the best
// instruction set, bandwidths assumed. Good enough to choose tiles for; `tcsim probe` measures the
// rest. Where the kernel is silent, caches of 32 KiB, 1 MiB and 16 MiB.
Machine assumed_machine();

// A contraction that is prepared once and run often: holds its schedule, tables and buffers.
template <class T>
class Contractor {
 public:
  // Chooses the schedule for one of `threads` cores of a machine, or of fewer where there is little
  // to do (threads_worth()); that takes milliseconds to a second, or some 20 microseconds where the
  // tensors fit into the first cache (core/optimize/quick.hpp). T must be the contraction's
  // element type. Throws UnsupportedError for sizes beyond this machine.
  explicit Contractor(const Contraction& contraction, int threads = 1,
                      const Machine& machine = assumed_machine());
  // Runs a given schedule, which must pass check().
  Contractor(const Contraction& contraction, const Schedule& schedule, int threads = 1);
  ~Contractor();
  Contractor(Contractor&&) noexcept;
  Contractor& operator=(Contractor&&) noexcept;

  const Schedule& schedule() const;

  // C = alpha A B + beta C. Tensors lie as the contraction says, and C overlaps neither A nor B. As
  // in BLAS, C is not read where beta is 0, nor A and B where alpha is 0: NaN in them does not
  // matter then. Not on several threads at a time. Throws Interrupted soon after a stop was
  // requested; C is then incomplete.
  void operator()(const T* a, const T* b, T* c, T alpha = 1, T beta = 0, std::stop_token stop = {});

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

extern template class Contractor<float>;
extern template class Contractor<double>;

// Once and for all: label ("aebf,dfce->abcd" or "abcd-aebf-dfce", output first) and the extent of
// each index. Each thread remembers how it did the last 32 of at most 8 MiB; to keep a Contractor
// saves looking that up, a microsecond. Throws UsageError for a label or sizes that do not fit.
template <class T>
void contract(std::string_view label, const std::map<char, std::int64_t>& sizes, const T* a,
              const T* b, T* c, T alpha = 1, T beta = 0, Layout layout = Layout::row_major);

extern template void contract<float>(std::string_view, const std::map<char, std::int64_t>&,
                                     const float*, const float*, float*, float, float, Layout);
extern template void contract<double>(std::string_view, const std::map<char, std::int64_t>&,
                                      const double*, const double*, double*, double, double,
                                      Layout);

}  // namespace tcsim
