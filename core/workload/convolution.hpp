// Convolutions of images by their sizes: "conv2d" with "k=64,c=128,y=136,x=136,r=3,s=3,stride=1" is
//
//     O[n,k,y,x] += I[n,c,stride*y+dilation*r,stride*x+dilation*s] * W[k,c,r,s]
//
// as a program. conv1d has x and s alone, conv3d z and t as well. Padding is part of the image: its
// zeros are elements as others are, never a condition inside a loop.
//
//     sizes    = size ("," size)*
//     size     = word "=" value
//     k c      channels of the output and of the image
//     n        images, 1 unless given
//     z y x    places of the output;  or d h w, those of the image without padding
//     t r s    places of the filter, 1 unless given
//     stride dilation   of every axis, 1 unless given
//     pad      zeros on either side of the image, or "same": as many as let the output have the
//              image's places / stride. With d h w alone; "same" unless given
//     groups   k and c fall into so many groups, each convolved by itself (index g); with as many
//     as
//              channels the convolution is depthwise
//     layout   nchw (unless given): x has stride one in O and I, and s in W[k,c,r,s];
//              nhwc: O[n,y,x,k], I[n,y,x,c], W[r,s,c,k];
//              nhwc32k, nhwc48k, ...: the same with weights in blocks of so many output
//              channels, W[k,r,s,c,l] and O[n,y,x,k,l], where l is the channel within a block
//              (O lies in memory as with nhwc); nhwc1k has them channel by channel, W[k,r,s,c];
//              nhwcNk has blocks of 32, or of 16 where those of 32 would have a tenth more channels,
//              and fills up the last block of a group with output channels whose weights are zeros
//              (19 behind 28269), at most one for four of the layer's
//              nchw8c, nchw16c: blocks of so many channels, O[n,k,y,x,l], I[n,c,y,x,d],
//              W[k,c,r,s,d,l], where l and d are channels within a block
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/workload/program.hpp"

namespace tcsim {

// "conv1d", "conv2d", "conv3d".
bool is_convolution_name(std::string_view name);

// What the sizes say, however tensors lie.
struct ConvolutionShape {
  struct Axis {
    std::int64_t output = 1, filter = 1;  // places
    std::int64_t image = 1;               // places without padding
    std::int64_t before = 0, after = 0;   // zeros on either side
    std::int64_t padded() const { return before + image + after; }
  };
  std::int64_t n = 1;
  std::int64_t k = 1, c = 1;  // channels of all groups together
  std::int64_t groups = 1, stride = 1, dilation = 1;
  std::vector<Axis> axes;  // z, y, x or the last of them

  // Multiplications and additions, zeros around the image counted, those that fill up blocks of
  // channels not.
  double flops() const;
};

// Throws as parse_convolution(). Of padding that makes outputs as many as "same" wants, the odd
// zero comes behind the image.
ConvolutionShape convolution_shape(std::string_view name, std::string_view sizes);

// "nchw", "nhwc", "nhwc32k" and so on.
bool is_image_layout(std::string_view text);

// `layouts`, where there are any, count and not that of the sizes: "nhwc32k,nhwc" is the first of
// them whose blocks the channels fill. Of several, nhwc1k is for layers of fewer than 16 output
// channels and input channels in sixteens. Throws UsageError with the place in the sizes, what is
// wrong and what to write instead.
Program parse_convolution(std::string_view name, std::string_view sizes, ElementType type,
                          std::string_view layouts = {});

}  // namespace tcsim
