#include "kernels/microkernel.hpp"
#include "kernels/microkernel_body.hpp"

namespace tcsim {

constinit const KernelFamily<double> family_f64_plain = family<double, 16>();
constinit const KernelFamily<float> family_f32_plain = family<float, 16>();

}  // namespace tcsim
