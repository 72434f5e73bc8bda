#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"
#include "kernels/transpose_body.hpp"

namespace tcsim {

#define DEFINE(T, type, mr, nr)                                                                    \
  void multiply_##type##_##mr##x##nr##_avx512(std::int64_t kc, const T* left, const T* right,      \
                                              T* c, const std::int64_t* columns, bool overwrite) { \
    multiply<T, 64, mr* static_cast<int>(sizeof(T)) / 64, nr>(kc, left, right, c, columns,         \
                                                              overwrite);                          \
  }
TCSIM_AVX512_SHAPES(DEFINE)
#undef DEFINE

void transpose_f32_avx512(std::int64_t row_count, std::int64_t column_count, const float* from,
                          const std::int64_t* rows, float* to, const std::int64_t* columns) {
  transpose<float, 64>(row_count, column_count, from, rows, to, columns);
}

void transpose_f64_avx512(std::int64_t row_count, std::int64_t column_count, const double* from,
                          const std::int64_t* rows, double* to, const std::int64_t* columns) {
  transpose<double, 64>(row_count, column_count, from, rows, to, columns);
}

}  // namespace tcsim
