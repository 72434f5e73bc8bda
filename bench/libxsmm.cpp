#include "bench/libxsmm.hpp"

#ifdef TCSIM_HAVE_LIBXSMM
#include <libxsmm.h>
#endif

namespace tcsim::bench {

#ifdef TCSIM_HAVE_LIBXSMM

bool libxsmm_installed() { return true; }
std::string libxsmm_version() { return TCSIM_HAVE_LIBXSMM; }

std::optional<SmallGemm> libxsmm_gemm(int m, int n, int k) {
  const double alpha = 1, beta = 0;
  const int flags = LIBXSMM_GEMM_FLAG_NONE, prefetch = LIBXSMM_GEMM_PREFETCH_NONE;
  const auto code =
      libxsmm_dmmdispatch(m, n, k, nullptr, nullptr, nullptr, &alpha, &beta, &flags, &prefetch);
  if (code == nullptr) return {};
  return [code](const double* a, const double* b, double* c) { code(a, b, c); };
}

#else

bool libxsmm_installed() { return false; }
std::string libxsmm_version() { return {}; }
std::optional<SmallGemm> libxsmm_gemm(int, int, int) { return {}; }

#endif

}  // namespace tcsim::bench
