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

// C = A B, A m x k, B k x n, all column by column without gaps.
using SmallGemm = std::function<void(const double* a, const double* b, double* c)>;
// Empty without libxsmm, or where it has no code for the size.
std::optional<SmallGemm> libxsmm_gemm(int m, int n, int k);

}  // namespace tcsim::bench
