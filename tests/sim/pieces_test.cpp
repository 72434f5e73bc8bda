// Pieces of a walk against all of it.
#include "core/model/pieces.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/machine/toml.hpp"
#include "core/model/window.hpp"
#include "core/optimize/random_schedule.hpp"
#include "core/workload/random_contraction.hpp"
#include "sim/simulate.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

// Of schedules that nobody chose, the lines that kernels ask for by the simulator's count of the
// whole walk, and by pieces.
TEST(Pieces, Stand_for_the_whole_walk) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  const Machine machine = find_machine("i7-6700k");
  const Bytes line = common_line(machine);
  std::vector<double> errors;
  for (std::uint64_t i = 0; errors.size() < 15 && i < 60; ++i) {
    const Contraction c = tcsim::random_contraction(seed + i);
    if (c.flops() > 4e7) continue;
    const Schedule s = random_schedule(c, machine, seed + i);
    const Nest nest(c, s, line);
    const auto pieces = count_pieces(c, s, nest, sets_of_caches(machine).front(), line);
    if (!pieces) continue;
    const Traffic all = simulate(Plan(c, s), machine).traffic;
    double found = 0, counted = 0;
    for (ArrayId a : nest.arrays().ids()) {
      const int pack = nest.pack_depth(nest.arrays().tensor_of(a));
      if (pack >= 0 && !nest.arrays().is_buffer(a)) continue;
      found += pieces->lines.kernels[a] * static_cast<double>(line.value());
      counted += static_cast<double>(all.links[1].at(Phase::compute, a).in.value());
    }
    errors.push_back(std::abs(found / counted - 1));
  }
  ASSERT_GT(errors.size(), 5u);
  std::ranges::sort(errors);
  fmt::print("{} schedules, median {:.1f} %, worst {:.1f} %\n", errors.size(),
             100 * errors[errors.size() / 2], 100 * errors.back());
  EXPECT_LT(errors[errors.size() / 2], 0.06);
}

}  // namespace
}  // namespace tcsim
