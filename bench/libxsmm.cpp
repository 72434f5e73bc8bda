#include "bench/libxsmm.hpp"

#include "bench/peer_limit.hpp"

#ifdef TCSIM_HAVE_LIBXSMM
#include <libxsmm.h>
#else
#include <dlfcn.h>
#endif

namespace tcsim::bench {

namespace {

// As libxsmm.h of version 1 has them.
template <class T>
using XsmmKernel = void (*)(const T* a, const T* b, T* c, ...);
template <class T>
using XsmmDispatch = XsmmKernel<T>(int m, int n, int k, const int* lda, const int* ldb,
                                   const int* ldc, const T* alpha, const T* beta, const int* flags,
                                   const int* prefetch);

struct Libxsmm {
  std::string version;  // "" without the library
  XsmmDispatch<double>* f64 = nullptr;
  XsmmDispatch<float>* f32 = nullptr;
};

#ifdef TCSIM_HAVE_LIBXSMM

const Libxsmm& loaded_libxsmm() {
  static const Libxsmm found{TCSIM_HAVE_LIBXSMM,
                             reinterpret_cast<XsmmDispatch<double>*>(&libxsmm_dmmdispatch),
                             reinterpret_cast<XsmmDispatch<float>*>(&libxsmm_smmdispatch)};
  return found;
}

#else

// Lazily, since it may leave the BLAS that it falls back to open.
const Libxsmm& loaded_libxsmm() {
  static const Libxsmm found = []() -> Libxsmm {
    for (const char* name : {"libxsmm.so.1", "libxsmm.so"}) {
      void* library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
      if (library == nullptr) continue;
      void* const f64 = dlsym(library, "libxsmm_dmmdispatch");
      void* const f32 = dlsym(library, "libxsmm_smmdispatch");
      if (f64 == nullptr || f32 == nullptr) continue;
      return {"shared library", reinterpret_cast<XsmmDispatch<double>*>(f64),
              reinterpret_cast<XsmmDispatch<float>*>(f32)};
    }
    return {};
  }();
  return found;
}

#endif

template <class T>
XsmmDispatch<T>* dispatch();
template <>
XsmmDispatch<double>* dispatch() {
  return loaded_libxsmm().f64;
}
template <>
XsmmDispatch<float>* dispatch() {
  return loaded_libxsmm().f32;
}

}  // namespace

bool libxsmm_installed() { return !loaded_libxsmm().version.empty(); }
std::string libxsmm_version() { return loaded_libxsmm().version; }

template <class T>
std::optional<SmallGemm<T>> libxsmm_gemm(const SmallShape& s) {
  if (!libxsmm_installed()) return {};
  const T alpha = 1, beta = s.add ? 1 : 0;
  const int none = 0;  // of the flags, and to prefetch
  limit_peer("LIBXSMM_TARGET", "hsw", "wsm");
  const auto code =
      dispatch<T>()(s.m, s.n, s.k, &s.lda, &s.ldb, &s.ldc, &alpha, &beta, &none, &none);
  if (code == nullptr) return {};
  return [code](const T* a, const T* b, T* c) { code(a, b, c); };
}

template std::optional<SmallGemm<double>> libxsmm_gemm(const SmallShape&);
template std::optional<SmallGemm<float>> libxsmm_gemm(const SmallShape&);

}  // namespace tcsim::bench
