// The register tiles of a family (kernels/microkernel.hpp) as Xbyak makes them, when they are first
// asked for: the same sums, and the same lines asked for ahead. A compiler gives each of the
// templates' loops registers of its own, and moves sums and pointers between two loops and to
// memory: 4 % of the time at 128 steps along k, 13 % at 16 (docs/bench.md).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "kernels/microkernel.hpp"

namespace tcsim {

template <class T>
class GeneratedKernels {
 public:
  // What the code of all tiles may take. Those that are asked for later are compiled ones.
  static constexpr std::int64_t usual_limit = 1 << 20;

  // Of vectors of so many bytes, 32 or 64.
  explicit GeneratedKernels(int bytes, std::int64_t limit = usual_limit);

  // A tile of whole vectors, or with a part of the last one; made now if it is not yet and `make`.
  // Null where it is not made so: by a build without Xbyak, where the system refuses memory for
  // code, or behind the limit. On any threads.
  Microkernel<T> of(int vectors, int columns, bool part, bool make);

 private:
  using Slot = std::atomic<Microkernel<T>>;
  const int bytes_;
  const std::int64_t limit_;
  std::mutex making_;
  std::atomic<bool> refused_ = false;  // for good: nobody waits for the lock any more
  std::int64_t made_bytes_ = 0;
  std::array<std::array<std::array<Slot, 2>, KernelFamily<T>::most_columns>,
             KernelFamily<T>::most_vectors>
      slots_{};
  std::vector<std::shared_ptr<const void>> code_;
};

extern template class GeneratedKernels<float>;
extern template class GeneratedKernels<double>;

// Whether this build makes code.
bool generates_code();
// What one type's tiles take of memory at most, in all of the program.
inline std::int64_t generated_kernels_memory() {
  return generates_code() ? GeneratedKernels<double>::usual_limit : 0;
}

}  // namespace tcsim
