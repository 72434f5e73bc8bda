#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"

namespace tcsim {

constinit const KernelFamily<double> family_f64_avx512 = family<double, 64>();
constinit const KernelFamily<float> family_f32_avx512 = family<float, 64>();

}  // namespace tcsim
