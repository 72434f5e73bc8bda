#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"

namespace tcsim {

#define DEFINE(T, type, mr, nr)                                                                    \
  void multiply_##type##_##mr##x##nr##_avx512(std::int64_t kc, const T* left, const T* right,      \
                                              T* c, const std::int64_t* columns, bool overwrite) { \
    multiply<T, 64, mr* static_cast<int>(sizeof(T)) / 64, nr>(kc, left, right, c, columns,         \
                                                              overwrite);                          \
  }
TCSIM_AVX512_SHAPES(DEFINE)
#undef DEFINE

}  // namespace tcsim
