// Executes a plan on several threads: C is cut along one group into as many parts, each thread
// packs for itself and computes its part. The same sums are formed in the same order on any number
// of threads, so that the result is the same to the last bit.
#pragma once

#include <memory>
#include <stop_token>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/executor.hpp"

namespace tcsim {

// The parts into which `threads` threads cut a plan, at most so many: along m, n or the batch,
// whichever leaves the largest part smallest, in whole register tiles.
std::vector<Tile> parts_of(const Plan& plan, int threads);

template <class T>
class Crew {
 public:
  // The plan must outlive it. Throws UnsupportedError if the memory for the packed copies cannot be
  // had. Threads are OpenMP's; built without it, the parts are done one after another.
  Crew(const Plan& plan, int threads);
  ~Crew();
  Crew(Crew&&) noexcept;

  int size() const { return static_cast<int>(members_.size()); }  // threads that have work
  // As Executor::run.
  void run(const Tensors<T>& tensors, Update<T> update, std::stop_token stop = {});

 private:
  struct Member;
  std::vector<std::unique_ptr<Member>> members_;
};

extern template class Crew<float>;
extern template class Crew<double>;

}  // namespace tcsim
