#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"

namespace tcsim {

constinit const KernelFamily<double> family_f64_avx2 = family<double, 32>();
constinit const KernelFamily<float> family_f32_avx2 = family<float, 32>();

}  // namespace tcsim
