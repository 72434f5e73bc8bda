// Small matrix multiplications by libxsmm, which generates code for one size. Debian has it as a
// static library, which is there or not when tcsim is configured; otherwise a shared one (of
// version 1, whose interface this is) is looked for when a benchmark runs.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tcsim::bench {

bool libxsmm_installed();
std::string libxsmm_version();  // "1.17"; "shared library" where it does not say

// Matrices column by column, the distance between columns given.
struct SmallShape {
  int m = 0, n = 0, k = 0;  // A is m x k, B k x n
  int lda = 0, ldb = 0, ldc = 0;
  bool add = false;  // C = A B + C instead of C = A B
};
template <class T>
using SmallGemm = std::function<void(const T* a, const T* b, T* c)>;
// Empty without libxsmm, or where it has no code for the shape.
template <class T>
std::optional<SmallGemm<T>> libxsmm_gemm(const SmallShape& shape);

}  // namespace tcsim::bench
