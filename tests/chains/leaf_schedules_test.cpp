// How statements of chains run on their tiles.
#include "chains/leaf_schedules.hpp"

#include <gtest/gtest.h>

#include "core/fusion/leaf.hpp"
#include "core/schedule/path.hpp"
#include "core/workload/program.hpp"
#include "kernels/contract.hpp"

namespace tcsim::chains {
namespace {

// How often the first pack begins.
std::int64_t packs_of(const Contraction& contraction, const Schedule& schedule) {
  const Path path = only_path(contraction, schedule);
  ByGroup<std::int64_t> range = path.extents;
  std::int64_t packs = 1;
  for (const Step& s : path.steps) {
    if (s.kind == Step::Kind::move) return packs;
    if (s.kind != Step::Kind::loop) continue;
    packs *= s.iterations(range[s.group]);
    range[s.group] = s.largest_tile();
  }
  return 0;
}

// A vector is packed in the order in which the other operand has the dimensions that are summed. On
// a machine of which nothing was measured, where each pack takes 1800 cycles by assumption, there
// are few of them: not one for every two products of each result, as data that are moved would say.
TEST(LeafSchedules, Know_what_packs_cost) {
  const fusion::OperationTree tree = fusion::operation_tree(parse_program(R"(program sum
dims i=28 j=5 k=74 l=14
f64 input X[j, k, l]  f64 input Y[l, i, j, k]
f64 output T[i]
T[i] += X[j, k, l] * Y[l, i, j, k]
)",
                                                                          "test"));
  LeafSchedules schedules(tree, assumed_machine(), 1);
  const std::vector<fusion::Ranges> held(tree.arrays.size());
  const fusion::Leaf leaf = fusion::leaf_at(tree, 0, fusion::all_of(tree), held).leaf;
  for (const bool usual : {true, false}) {
    const Schedule& schedule = schedules.of(leaf, usual).schedule;
    const Contraction contraction = fusion::contraction_of(tree, leaf);
    EXPECT_LE(packs_of(contraction, schedule), 10) << to_line(schedule, contraction);
  }
}

}  // namespace
}  // namespace tcsim::chains
