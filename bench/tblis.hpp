// TBLIS contracts tensors as they lie: its packs read them where BLIS's would read matrices
// (Matthews, SIAM J. Sci. Comput. 40, 2018). Debian has no package of it; a shared library is
// looked for when a benchmark runs.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "bench/peer.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

// Its C interface, as it has been since version 1.
class Tblis {
 public:
  // Of a library that the loader finds by this name or path; none where there is no such library,
  // or it lacks a function. It then uses one thread.
  static std::optional<Tblis> load(const char* library);
  // libtblis.so, looked for once.
  static const std::optional<Tblis>& found();

  // What the library keeps of a tensor, which it alone looks into. Source: 64 bytes in version 1.2.
  struct Tensor {
    alignas(16) std::byte bytes[256];
  };
  // Lengths and strides are kept, not copied.
  template <class T>
  using Init = void(Tensor* tensor, T factor, int dims, std::ptrdiff_t* lengths, T* data,
                    std::ptrdiff_t* strides);
  template <class T>
  Init<T>* init() const;
  // C = A B + factor of C * C, dimensions named by letters; of no group of threads and its own
  // choice of kernels.
  using Multiply = void(const void* threads, const void* kernels, const Tensor* a,
                        const char* names_a, const Tensor* b, const char* names_b, Tensor* c,
                        const char* names_c);
  Multiply* multiply() const { return multiply_; }

 private:
  Init<float>* init_f32_ = nullptr;
  Init<double>* init_f64_ = nullptr;
  Multiply* multiply_ = nullptr;
};

template <>
inline Tblis::Init<float>* Tblis::init<float>() const {
  return init_f32_;
}
template <>
inline Tblis::Init<double>* Tblis::init<double>() const {
  return init_f64_;
}

std::unique_ptr<Peer> make_tblis(const Contraction& contraction, const Tblis& tblis);

}  // namespace tcsim::bench
