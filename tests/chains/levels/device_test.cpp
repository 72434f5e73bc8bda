// The innermost level in a device: the same results, and the same bytes moved, as on the host; and
// what is said where there is none. With PoCL the device is the processor.
#include "chains/levels/device.hpp"

#include <gtest/gtest.h>

#include <random>

#include "chains/levels/run_levels.hpp"
#include "chains/run_chain.hpp"
#include "core/error.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

namespace fs = std::filesystem;
using fusion::OperationTree;
using levels::Hierarchy;

std::string why_not(const OperationTree& tree, std::int64_t tiles) {
  try {
    open_device<double>(tree, tiles, {}, {});
  } catch (const UnsupportedError& e) {
    return e.what();
  }
  return "";
}

// A statement with an index in all three tensors runs as a batch.
OperationTree batched() {
  return fusion::operation_tree(parse_program(R"(
program batched
dims g=3 i=5 j=4 k=6 l=2
f64 input A[i, g, k]  f64 input B[k, j, g]  f64 input D[l, g, j]
f64 intermediate T[g, i, j]
f64 output C[l, i, g]
T[g, i, j] += A[i, g, k] * B[k, j, g]
C[l, i, g] += T[g, i, j] * D[l, g, j]
)",
                                              "test"));
}

TEST(Devices, Give_what_the_host_gives) {
  std::mt19937_64 random(test::new_seed());
  levels::RandomLevels draw(random);
  const fs::path folder = test::scratch("device");
  const std::string none = why_not(fusion::pair_of(4), 16);
  for (int trial = 0; trial < 8; ++trial) {
    fs::create_directory(folder);
    const OperationTree tree =
        trial < 2 ? batched()
                  : fusion::operation_tree(fusion::random_chain_program(random, 1 + trial % 3, 5));
    Hierarchy h = draw.hierarchy();
    if (h.links() < 2) h.levels.insert(h.levels.begin(), h.levels.front());
    for (auto& l : h.levels) l.instances = 1, l.capacity = Bytes(0);
    h.overlap = false;
    const levels::LevelPlan plan = draw.plan(tree, h);
    SCOPED_TRACE(to_text(tree, h, plan.node));
    LevelRunOptions o;
    o.folder = folder;
    o.fill = o.numbers.whole = o.device = true;
    const LevelRun ran = run_levels(tree, h, plan.node, assumed_machine(), Processes::all(), o);
    EXPECT_EQ(ran.counts, plan.counts);
    EXPECT_EQ(ran.no_device, none);
    EXPECT_EQ(ran.device.empty(), !none.empty());
    for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(check_chain(tree, folder, random()), 0);
    fs::remove_all(folder);
  }
  if (!none.empty()) std::cout << none << "\n";
}

// As sizes of its own do: to the bit.
TEST(Devices, Multiply_alike_with_other_sizes) {
  constexpr std::int64_t rows = 600, all = rows * rows;
  const OperationTree tree = fusion::operation_tree(parse_program(
      "program product\ndims i=600 j=600 k=600\nf64 input A[i, k]\nf64 input B[k, j]\nf64 output "
      "C[i, j]\nC[i, j] += A[i, k] * B[k, j]\n",
      "test"));
  const fusion::Leaf product =
      fusion::leaf_at(tree, 0, fusion::all_of(tree), std::vector<fusion::Ranges>(3)).leaf;
  std::unique_ptr<Device<double>> device;
  try {
    device = open_device<double>(tree, 3 * all, {all, all, all}, {});
  } catch (const UnsupportedError& e) {
    GTEST_SKIP() << e.what();
  }
  std::mt19937_64 random(test::new_seed());
  std::vector<double> operands(static_cast<std::size_t>(2 * all));
  for (double& x : operands) x = static_cast<double>(random() % 9) - 4;
  const auto result_of = [&](Device<double>& on) {
    std::vector<double> result(static_cast<std::size_t>(all));
    on.write(0, operands.data(), 2 * all);
    on.clear(2 * all, all);
    on.run(product, {0, all, 2 * all});
    on.read(2 * all, result.data(), all);
    return result;
  };
  const std::vector<double> expected = result_of(*device);
  const DeviceSizes own = device->sizes();
  const DeviceSizes other{{"GEMMK", 0}, {"KREG", 1},  {"KWG", 16}, {"KWI", 2},
                          {"MDIMA", 8}, {"MDIMC", 8}, {"MWG", 16}, {"NDIMB", 8},
                          {"NDIMC", 8}, {"NWG", 16},  {"SA", 0},   {"SB", 0},
                          {"STRM", 0},  {"STRN", 0},  {"VWM", 1},  {"VWN", 1}};
  EXPECT_NE(own, other);
  ASSERT_TRUE(device->use(other));
  EXPECT_EQ(device->sizes(), other);
  EXPECT_EQ(result_of(*device), expected);
  DeviceSizes none = other;
  none.erase("VWN");
  EXPECT_FALSE(device->use(none));
  // Sizes that are kept are used from the beginning.
  ASSERT_TRUE(device->use(own));
  device = open_device<double>(tree, 3 * all, {all, all, all},
                               {{device->name(), Bytes(8), other}, {"another", Bytes(8), own}});
  EXPECT_EQ(device->sizes(), other);
  EXPECT_EQ(result_of(*device), expected);
}

TEST(Devices, That_are_too_small_are_told) {
  const std::string why = why_not(fusion::pair_of(4), std::int64_t{1} << 50);
  EXPECT_NE(why.find("--device: "), std::string::npos) << why;
  const bool there = why_not(fusion::pair_of(4), 16).empty();
  EXPECT_EQ(why.find("tiles and matrices take 9.007 PB") != std::string::npos, there) << why;
}

}  // namespace
}  // namespace tcsim::chains
