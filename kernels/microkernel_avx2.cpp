#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"
#include "kernels/transpose_body.hpp"

namespace tcsim {

constinit const KernelFamily<double> family_f64_avx2 = family<double, 32>();
constinit const KernelFamily<float> family_f32_avx2 = family<float, 32>();

void transpose_f32_avx2(std::int64_t row_count, std::int64_t column_count, Rows<float> from,
                        Rows<float> ahead, float* to, const std::int64_t* columns) {
  transpose<float, 32>(row_count, column_count, from, ahead, to, columns);
}

void transpose_f64_avx2(std::int64_t row_count, std::int64_t column_count, Rows<double> from,
                        Rows<double> ahead, double* to, const std::int64_t* columns) {
  transpose<double, 32>(row_count, column_count, from, ahead, to, columns);
}

}  // namespace tcsim
