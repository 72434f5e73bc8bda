#include "kernels/lines_body.hpp"

namespace tcsim {

void lines_f32_avx2(const LineTask<float>& task) { multiply_lines<float, 32>(task); }
void lines_f64_avx2(const LineTask<double>& task) { multiply_lines<double, 32>(task); }

}  // namespace tcsim
