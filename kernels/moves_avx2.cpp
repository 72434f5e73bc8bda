#include "kernels/gather_body.hpp"
#include "kernels/microkernel.hpp"
#include "kernels/transpose_body.hpp"

namespace tcsim {

void transpose_f32_avx2(std::int64_t row_count, std::int64_t column_count, Rows<float> from,
                        Rows<float> ahead, float* to, const std::int64_t* columns) {
  transpose<float, 32>(row_count, column_count, from, ahead, to, columns);
}

void transpose_f64_avx2(std::int64_t row_count, std::int64_t column_count, Rows<double> from,
                        Rows<double> ahead, double* to, const std::int64_t* columns) {
  transpose<double, 32>(row_count, column_count, from, ahead, to, columns);
}

void gather_f32_avx2(const float* from, const std::int32_t* offsets, std::int64_t count,
                     float* to) {
  gather<float, 8>(from, offsets, count, to);
}

void gather_f64_avx2(const double* from, const std::int32_t* offsets, std::int64_t count,
                     double* to) {
  gather<double, 4>(from, offsets, count, to);
}

}  // namespace tcsim
