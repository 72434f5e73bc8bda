#include "kernels/lines_body.hpp"

namespace tcsim {

void lines_f32_avx512(const LineTask<float>& task) { multiply_lines<float, 64>(task); }
void lines_f64_avx512(const LineTask<double>& task) { multiply_lines<double, 64>(task); }

}  // namespace tcsim
