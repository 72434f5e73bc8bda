// tcsim bench conv: the executor on the layers of a network beside oneDNN. One core, cold caches,
// as in ttile, section 7. Weights lie as each has them best before the clock starts.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite.hpp"
#include "core/workload/convolution.hpp"

namespace tcsim::bench {

// oneDNN's contestants.
inline constexpr std::array onednn_names{"oneDNN nchw", "oneDNN nhwc", "oneDNN blocked",
                                         "oneDNN blocked + reorders"};

// Measures one convolution of f32; `shape` is what it was made from. Its contestants are tcsim and
// those of onednn_names for whose layout oneDNN has code; where it has none for blocks, "blocked"
// is the layout that it chooses itself. oneDNN's algorithm is the direct one. Of its
// implementations, of the sizes of blocks, and of padding the image or reading zeros that are in
// it, each contestant has what is fastest in a first race.
//
// Throws UnsupportedError if there is too little memory, and Interrupted between executions.
SuiteCase bench_convolution(const Contraction& contraction, const ConvolutionShape& shape,
                            const Schedule& schedule, ColdYardstick& yardstick,
                            const SuiteOptions& options);

// tcsim's rate over a contestant's, medians; none where there is no such one or it is wrong.
std::optional<double> ratio_to(const SuiteCase& of, const std::string& name);

// Below this share of oneDNN's rate a layer counts as slower.
inline constexpr double slow_layer = 0.9;

struct ConvolutionSummary {
  double of_peak = 0;  // geometric mean of tcsim
  struct Peer {
    std::string name;
    std::optional<double> ratio;    // geometric mean over the layers that it computes
    std::optional<double> of_peak;  // the same of its share of the peak
    int layers = 0, slow = 0;       // in which tcsim is slow beside it
  };
  std::vector<Peer> peers;
  int slow = 0;  // layers slow beside oneDNN's plain layout (nchw) or its blocked one
};
// None of no cases.
std::optional<ConvolutionSummary> convolution_summary(const std::vector<SuiteCase>& cases);

}  // namespace tcsim::bench
