// A convolution's tensors as a textbook has them, f32, with values in them; where the elements lie
// in tcsim's own; and the sum, term by term, that every result is compared with.
#pragma once

#include <cstdint>
#include <vector>

#include "core/workload/contraction.hpp"
#include "core/workload/convolution.hpp"

namespace tcsim::bench {

// Axes are from the outermost, and the last have stride one.
struct PlainConvolution {
  PlainConvolution(const ConvolutionShape& shape, std::uint64_t seed);

  ConvolutionShape shape;
  std::vector<float> image;    // n, c, places without padding
  std::vector<float> padded;   // n, c, places with padding; empty where there is none
  std::vector<float> weights;  // k, c of a group, places
  std::int64_t outputs() const;
};

// The image with zeros around it, the weights, and the output of `contraction`, whichever image
// layout it has. Precondition: it is the shape's.
void write_image(const PlainConvolution& from, const Contraction& contraction, float* to);
void write_weights(const PlainConvolution& from, const Contraction& contraction, float* to);
// n, k, places.
std::vector<float> plain_output(const ConvolutionShape& shape, const Contraction& contraction,
                                const float* from);

// The largest |output - sum| / bound; `output` is n, k, places. Sums are in long double, over the
// filter's places that fall on the image. Compared are, at the first, second, middle and last
// places of every axis, some channels; and `samples` elements anywhere. The bound is that of
// check_result() (kernels/execute.hpp). Infinite where an output is not a number.
double worst_error(const PlainConvolution& convolution, const std::vector<float>& output,
                   int samples, std::uint64_t seed);

}  // namespace tcsim::bench
