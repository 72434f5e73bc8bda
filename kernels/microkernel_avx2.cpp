#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"

namespace tcsim {

#define DEFINE(T, type, mr, nr)                                                                   \
  void multiply_##type##_##mr##x##nr##_avx2(std::int64_t kc, const T* left, const T* right, T* c, \
                                            const std::int64_t* columns, bool overwrite) {        \
    multiply<T, 32, mr* static_cast<int>(sizeof(T)) / 32, nr>(kc, left, right, c, columns,        \
                                                              overwrite);                         \
  }
TCSIM_AVX2_SHAPES(DEFINE)
#undef DEFINE

}  // namespace tcsim
