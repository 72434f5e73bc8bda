#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"
#include "kernels/transpose_body.hpp"

namespace tcsim {

constinit const KernelFamily<double> family_f64_plain = family<double, 16>();
constinit const KernelFamily<float> family_f32_plain = family<float, 16>();

void transpose_f32_plain(std::int64_t row_count, std::int64_t column_count, Rows<float> from,
                         Rows<float> ahead, float* to, const std::int64_t* columns) {
  transpose<float, 16>(row_count, column_count, from, ahead, to, columns);
}

void transpose_f64_plain(std::int64_t row_count, std::int64_t column_count, Rows<double> from,
                         Rows<double> ahead, double* to, const std::int64_t* columns) {
  transpose<double, 16>(row_count, column_count, from, ahead, to, columns);
}

}  // namespace tcsim
