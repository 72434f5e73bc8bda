#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"

namespace tcsim {

void multiply_f64_8x6_avx2(std::int64_t kc, const double* left, const double* right, double* c,
                           const std::int64_t* columns, bool overwrite) {
  multiply<double, 32, 2, 6>(kc, left, right, c, columns, overwrite);
}

void multiply_f32_16x6_avx2(std::int64_t kc, const float* left, const float* right, float* c,
                            const std::int64_t* columns, bool overwrite) {
  multiply<float, 32, 2, 6>(kc, left, right, c, columns, overwrite);
}

}  // namespace tcsim
