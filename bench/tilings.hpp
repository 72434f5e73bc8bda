// Others' tilings of a convolution as schedules of ours, to run beside tcsim's own choice: ioopt's
// recommendation (section 6, Fig. 8) and the microkernels of ttile (Fig. 10).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/suite.hpp"
#include "core/machine/machine.hpp"
#include "core/optimize/tiling.hpp"
#include "core/workload/convolution.hpp"

namespace tcsim::bench {

// ioopt's recommendation: orders of loops by Algorithm 1, tile sizes by NLopt for all caches
// together, so that the sum over links of the time for what moves is least, with the machine's
// bandwidths. `own` gives what ioopt leaves open: the microkernel and how dimensions are fused into
// groups. A group has one tile: the product of its dimensions' tiles, rounded by snap(). Nothing
// where a cache does not hold a multiply-add.
std::optional<Tiling> recommended_tiling(const Contraction& contraction, const Machine& machine,
                                         const Tiling& own);

// Microkernels that cover an image's row: so many tiles of so many columns, one after another, each
// of so many vectors of output channels. "2[3R11H]+[3R12H]" is {1, {{2, 11}, {1, 12}}}; how sums
// are unrolled is left out.
struct Composition {
  int vectors = 0;
  struct Part {
    int tiles = 0, columns = 0;
  };
  std::vector<Part> parts;

  std::int64_t columns() const;  // of all parts
  std::string text() const;      // "2 11H1K + 12H1K"
};
// That of ttile's Fig. 10 for a layer of the suites yolo9000 and resnet18, by its name.
std::optional<Composition> composition_of(const std::string& layer);

// The schedule of `own` with these kernels; its tiles are rounded to whole rows. Nothing where they
// do not cover a row, or not whole vectors of this layout.
std::optional<Schedule> composed(const Contraction& contraction, const Machine& machine,
                                 const Tiling& own, const Composition& composition);

// One of those that race. Each has weights in a layout of its own.
struct Tiled {
  std::string name, how;
  Contraction contraction;
  Schedule schedule;
};

// Measures them in turns, the first being tcsim's own; `shape` is what they were made from. Throws
// as bench_convolution().
SuiteCase bench_tilings(const std::vector<Tiled>& tilings, const ConvolutionShape& shape,
                        ColdYardstick& yardstick, const SuiteOptions& options);

}  // namespace tcsim::bench
