#include "kernels/lines_body.hpp"

namespace tcsim {

void lines_f32_plain(const LineTask<float>& task) { multiply_lines<float, 16>(task); }
void lines_f64_plain(const LineTask<double>& task) { multiply_lines<double, 16>(task); }

}  // namespace tcsim
