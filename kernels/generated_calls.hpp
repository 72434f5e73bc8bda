// Kernel calls as machine code of their own, made by Xbyak while the program runs, for what is
// done again and again at the same distances (kernels/replay.hpp). The templates of
// microkernel_body.hpp are told sizes, distances, what to fetch and where C's columns are; between
// two tiles they do some 150 instructions, and the multiply-adds wait. Here all of it is constant.
// The same sums in the same order: results are equal to the bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/microkernel.hpp"

namespace tcsim {

// A call, and how many elements from where the operands and C begin its own begin.
template <class T>
struct PlacedCall {
  Microkernel<T> code;
  KernelTask<T> task;  // its pointers and those of its tile of C count for nothing
  std::int64_t left = 0, right = 0, c = 0;
};

template <class T>
class GeneratedCalls {
 public:
  // The most tiles that are made code of, and what it takes at most: what is larger has other
  // costs.
  static constexpr std::int64_t most_tiles = 256;
  static constexpr std::size_t most_bytes = 32 << 10;

  // The calls, one after the other, which are members of the family. Null where they are not made
  // so: with vectors along k, stretches, an update that multiplies, tiles of C that lie unevenly,
  // distances that no instruction holds, more code than that; in a build without Xbyak; and where
  // the system refuses memory for code.
  static std::unique_ptr<const GeneratedCalls> make(const KernelFamily<T>& family,
                                                    std::span<const PlacedCall<T>> calls);

  void operator()(const T* left, const T* right, T* c) const { function_(left, right, c); }
  std::size_t bytes() const { return bytes_; }

 private:
  using Function = void(const T* left, const T* right, T* c);
  std::shared_ptr<const void> code_;
  Function* function_ = nullptr;
  std::size_t bytes_ = 0;
};

extern template class GeneratedCalls<float>;
extern template class GeneratedCalls<double>;

}  // namespace tcsim
