#include "bench/libxsmm.hpp"

#ifdef TCSIM_HAVE_LIBXSMM
#include <libxsmm.h>
#else
#include <dlfcn.h>
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

namespace {

// As libxsmm.h of version 1 has them.
using XsmmKernel = void (*)(const double* a, const double* b, double* c, ...);
using XsmmDispatch = XsmmKernel(int m, int n, int k, const int* lda, const int* ldb, const int* ldc,
                                const double* alpha, const double* beta, const int* flags,
                                const int* prefetch);

// Null without the library. Lazily, since it may leave the BLAS that it falls back to open.
XsmmDispatch* xsmm_dispatch() {
  static XsmmDispatch* const found = []() -> XsmmDispatch* {
    for (const char* name : {"libxsmm.so.1", "libxsmm.so"}) {
      void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
      if (library == nullptr) continue;
      if (void* code = dlsym(library, "libxsmm_dmmdispatch")) {
        return reinterpret_cast<XsmmDispatch*>(code);
      }
    }
    return nullptr;
  }();
  return found;
}

}  // namespace

bool libxsmm_installed() { return xsmm_dispatch() != nullptr; }
std::string libxsmm_version() { return libxsmm_installed() ? "shared library" : ""; }

std::optional<SmallGemm> libxsmm_gemm(int m, int n, int k) {
  if (!libxsmm_installed()) return {};
  const double alpha = 1, beta = 0;
  const int none = 0;  // of the flags, and to prefetch
  const XsmmKernel code =
      xsmm_dispatch()(m, n, k, nullptr, nullptr, nullptr, &alpha, &beta, &none, &none);
  if (code == nullptr) return {};
  return [code](const double* a, const double* b, double* c) { code(a, b, c); };
}

#endif

}  // namespace tcsim::bench
