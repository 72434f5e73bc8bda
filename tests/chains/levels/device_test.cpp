// The innermost level in a device: the same results, and the same bytes moved, as on the host; and
// what is said where there is none. With PoCL the device is the processor.
#include "chains/levels/device.hpp"

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <bit>
#include <map>
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

// A statement on tiles that begin somewhere, beside the same in plain loops at some places. Numbers
// are whole, so that results are equal.
class LargeProduct {
 public:
  // Axes of the left operand, the right one and the result, of so many elements each.
  LargeProduct(const std::string& left, const std::string& right, const std::string& out,
               std::int64_t rows, std::int64_t batch = 1)
      : rows_(rows),
        batch_(batch),
        all_(batch * rows * rows),
        tree_(fusion::operation_tree(parse_program(
            fmt::format("program product\ndims i={0} j={0} k={0}{4}\nf64 input A[{1}]\nf64 input "
                        "B[{2}]\nf64 output C[{3}]\nC[{3}] += A[{1}] * B[{2}]\n",
                        rows, left, right, out, batch > 1 ? fmt::format(" g={}", batch) : ""),
            "test"))),
        axes_{left, right, out},
        leaf_(
            fusion::leaf_at(tree_, 0, fusion::all_of(tree_), std::vector<fusion::Ranges>(3)).leaf) {
    std::mt19937_64 random(test::new_seed());
    operands_.resize(static_cast<std::size_t>(2 * all_));
    for (double& x : operands_) x = static_cast<double>(random() % 9) - 4;
  }
  std::unique_ptr<Device<double>> open(const std::vector<TunedDevice>& tuned) const {
    return open_device<double>(tree_, 3 * all_ + behind, {all_, all_, all_}, tuned);
  }
  // `shift`: where the first tile begins.
  std::vector<double> on(Device<double>& device, std::int64_t shift) const {
    std::vector<double> result(static_cast<std::size_t>(all_));
    device.write(shift, operands_.data(), 2 * all_);
    device.clear(shift + 2 * all_, all_);
    device.run(leaf_, {shift, shift + all_, shift + 2 * all_});
    device.read(shift + 2 * all_, result.data(), all_);
    return result;
  }
  void expect_right(const std::vector<double>& result) const {
    for (std::int64_t at = 0; at < 300; ++at) {
      std::map<char, std::int64_t> index{
          {'g', at % batch_}, {'i', at * 7919 % rows_}, {'j', at * 104729 % rows_}};
      double sum = 0;
      for (index['k'] = 0; index['k'] < rows_; ++index['k']) {
        sum += operands_[place(0, index)] *
               operands_[static_cast<std::size_t>(all_) + place(1, index)];
      }
      ASSERT_EQ(result[place(2, index)], sum) << axes_[0] << " " << axes_[1] << " " << axes_[2];
    }
  }
  static constexpr std::int64_t behind = 1024;

 private:
  std::size_t place(std::size_t tensor, const std::map<char, std::int64_t>& index) const {
    std::int64_t at = 0;
    for (char c : axes_[tensor]) {
      if (c != ',' && c != ' ') at = at * (c == 'g' ? batch_ : rows_) + index.at(c);
    }
    return static_cast<std::size_t>(at);
  }

  std::int64_t rows_, batch_, all_;
  OperationTree tree_;
  std::vector<std::string> axes_;
  fusion::Leaf leaf_;
  std::vector<double> operands_;
};

std::int64_t large_rows() {
  const auto large = open_device<double>(fusion::pair_of(4), 16, {}, {})->large();
  return std::int64_t{1} << std::bit_width(
             static_cast<std::uint64_t>(std::max<std::int64_t>(large, 256) - 1));
}

// Sizes that divide the blocks of CLBlast's kernel: it copies nothing then, and has to read where a
// tile begins.
TEST(Devices, Multiply_large_tiles_where_they_lie) {
  if (!why_not(fusion::pair_of(4), 16).empty()) GTEST_SKIP();
  const std::int64_t rows = large_rows();
  struct Lies {
    const char *left, *right, *out;
    std::int64_t batch;
  };
  for (const Lies& l : {Lies{"i, k", "k, j", "i, j", 1}, Lies{"k, i", "j, k", "i, j", 1},
                        Lies{"i, k", "k, j", "j, i", 1}, Lies{"g, i, k", "g, k, j", "g, i, j", 2},
                        Lies{"i, g, k", "k, j, g", "i, j, g", 2}}) {
    const LargeProduct product(l.left, l.right, l.out, rows, l.batch);
    const std::unique_ptr<Device<double>> device = product.open({});
    for (const std::int64_t shift : {0, 128, 7}) product.expect_right(product.on(*device, shift));
  }
}

// As sizes of its own do: to the bit.
TEST(Devices, Multiply_alike_with_other_sizes) {
  if (!why_not(fusion::pair_of(4), 16).empty()) GTEST_SKIP();
  const LargeProduct product("i, k", "k, j", "i, j", large_rows());
  std::unique_ptr<Device<double>> device = product.open({});
  const std::int64_t shift = LargeProduct::behind;
  const std::vector<double> expected = product.on(*device, shift);
  product.expect_right(expected);
  EXPECT_GE(device->on_host(), Bytes(2 * 8 * Device<double>::piece));
  const DeviceSizes own = device->sizes();
  const DeviceSizes other{{"GEMMK", 0}, {"KREG", 1},  {"KWG", 16}, {"KWI", 2},
                          {"MDIMA", 8}, {"MDIMC", 8}, {"MWG", 16}, {"NDIMB", 8},
                          {"NDIMC", 8}, {"NWG", 16},  {"SA", 0},   {"SB", 0},
                          {"STRM", 0},  {"STRN", 0},  {"VWM", 1},  {"VWN", 1}};
  EXPECT_NE(own, other);
  ASSERT_TRUE(device->use(other));
  EXPECT_EQ(device->sizes(), other);
  EXPECT_EQ(product.on(*device, shift), expected);
  DeviceSizes none = other;
  none.erase("VWN");
  EXPECT_FALSE(device->use(none));
  // Sizes that are kept are used from the beginning; those that the device does not do are not.
  ASSERT_TRUE(device->use(own));
  const std::string name = device->name();
  device = product.open({{name, Bytes(8), other}, {"another", Bytes(8), own}});
  EXPECT_EQ(device->sizes(), other);
  EXPECT_EQ(product.on(*device, shift), expected);
  ASSERT_TRUE(device->use(own));
  device = product.open({{name, Bytes(8), none}});
  EXPECT_EQ(device->sizes(), own);
}

TEST(Devices, That_are_too_small_are_told) {
  const std::string why = why_not(fusion::pair_of(4), std::int64_t{1} << 50);
  EXPECT_NE(why.find("--device: "), std::string::npos) << why;
  const bool there = why_not(fusion::pair_of(4), 16).empty();
  EXPECT_EQ(why.find("tiles and matrices take 9.007 PB") != std::string::npos, there) << why;
}

}  // namespace
}  // namespace tcsim::chains
