// What the shared object of bench/onednn_module.cpp lets be called. It is apart because oneDNN is
// large: a program that is linked with it loads 40 MB whenever it starts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace tcsim::bench {

// Arrays have an entry for each axis of the image, from the outermost.
struct OnednnProblem {
  int axes = 2;  // 1 to 3
  std::int64_t n = 1, groups = 1, k = 1, c = 1;
  std::int64_t stride = 1, dilation = 1;
  std::int64_t output[3], image[3], filter[3];
  std::int64_t before[3], after[3];  // zeros that the image does not hold
  const float* image_data;           // n, c, places; used as long as the convolution is
  const float* weights;              // groups, k of a group, c of a group, places
};

// How image and output lie in memory; weights always as oneDNN has them best.
enum class OnednnLayout : int {
  nchw,
  nhwc,
  blocked,  // blocks of 16 channels or of 8, of the image too or of the output alone
  any,      // what oneDNN chooses
};

// One way in which oneDNN computes a convolution, on the thread that calls.
class OnednnConvolution {
 public:
  virtual ~OnednnConvolution() = default;
  OnednnConvolution() = default;
  OnednnConvolution(const OnednnConvolution&) = delete;
  OnednnConvolution& operator=(const OnednnConvolution&) = delete;

  virtual std::string how() const = 0;  // "jit:avx512_core, nChw16c to nChw16c"
  virtual void run() = 0;
  virtual void clear() = 0;                      // fills the output with NaN
  virtual void result(float* output) const = 0;  // n, k, places
};

// Ways have numbers from 0. Null, with `more` false, for a number beyond the last; null with `more`
// true where oneDNN has none by that number. Never Winograd, nor oneDNN's reference code.
// `reorders`: run() also brings the image from nchw to its layout and the output to nchw.
using MakeOnednnConvolution = OnednnConvolution*(const OnednnProblem& problem, OnednnLayout layout,
                                                 bool reorders, int way, bool& more);
// "2.6.3", and how it makes threads: "OpenMP", "no threads" or another.
struct OnednnVersion {
  std::string number, threads;
};
using GetOnednnVersion = void(OnednnVersion& version);

extern "C" {
[[gnu::visibility("default")]] MakeOnednnConvolution tcsim_onednn_convolution;
[[gnu::visibility("default")]] GetOnednnVersion tcsim_onednn_version;
}

}  // namespace tcsim::bench
