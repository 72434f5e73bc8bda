#include "kernels/gather_body.hpp"
#include "kernels/microkernel.hpp"
#include "kernels/transpose_body.hpp"

namespace tcsim {

void transpose_f32_plain(std::int64_t row_count, std::int64_t column_count, Rows<float> from,
                         Rows<float> ahead, float* to, const std::int64_t* columns) {
  transpose<float, 16>(row_count, column_count, from, ahead, to, columns);
}

void transpose_f64_plain(std::int64_t row_count, std::int64_t column_count, Rows<double> from,
                         Rows<double> ahead, double* to, const std::int64_t* columns) {
  transpose<double, 16>(row_count, column_count, from, ahead, to, columns);
}

void gather_f32_plain(const float* from, const std::int32_t* offsets, std::int64_t count,
                      float* to) {
  gather<float, 1>(from, offsets, count, to);
}

void gather_f64_plain(const double* from, const std::int32_t* offsets, std::int64_t count,
                      double* to) {
  gather<double, 1>(from, offsets, count, to);
}

}  // namespace tcsim
