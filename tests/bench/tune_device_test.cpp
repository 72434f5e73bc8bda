// Looking for CLBlast's sizes by running products: on a device made up of loops, some of whose
// sizes are slow, fail, or multiply wrongly. And the file of what was found.
#include "bench/tune_device.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "bench/small_tiles.hpp"
#include "core/error.hpp"
#include "core/stop.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim::bench {
namespace {

namespace fs = std::filesystem;
using chains::DeviceSizes;

constexpr std::int64_t rows_of_product = 3;

class MadeUpDevice : public chains::Device<double> {
 public:
  std::string name() const override { return "made up"; }
  std::int64_t large() const override { return 0; }
  DeviceSizes sizes() const override { return sizes_; }
  bool use(const DeviceSizes& sizes) override {
    sizes_ = sizes;
    seen.insert(sizes);
    return sizes.at("STRN") == 0;
  }
  Bytes matrices() const override { return Bytes(0); }
  Bytes on_host() const override { return Bytes(0); }
  Bytes memory() const override { return Bytes(1 << 20); }
  Bytes most_at_once() const override { return memory(); }
  void write(std::int64_t place, const double* from, std::int64_t elements) override {
    std::copy_n(from, elements, memory_.begin() + place);
  }
  void read(std::int64_t place, double* to, std::int64_t elements) override {
    std::copy_n(memory_.begin() + place, elements, to);
  }
  double* next_piece() override { return nullptr; }
  void send(std::int64_t, std::int64_t) override {}
  void finish() override {}
  void ask(std::int64_t, std::int64_t) override {}
  const double* arrived() override { return nullptr; }
  void clear(std::int64_t place, std::int64_t elements) override {
    std::fill_n(memory_.begin() + place, elements, 0);
  }
  void run(const fusion::Leaf&, const ByTensor<std::int64_t>& begin) override {
    if (sizes_.at("SA") == 1) throw chains::DeviceFailure("no local memory");
    std::this_thread::sleep_for(std::chrono::milliseconds(sizes_.at("KWG") == 16 ? 1 : 8));
    const std::int64_t n = rows_of_product;
    for (std::int64_t i = 0; i < n * n * n; ++i) {
      const std::int64_t m = i / n / n, k = i / n % n, column = i % n;
      const auto at = [&](TensorId t, std::int64_t place) -> double& {
        return memory_[static_cast<std::size_t>(begin[t] + place)];
      };
      at(TensorId::C, m * n + column) +=
          at(TensorId::A, m * n + k) * at(TensorId::B, k * n + column);
    }
    // A kernel whose compiler went wrong, and which is in no hurry to be right.
    if (sizes_.at("SB") == 1) memory_[static_cast<std::size_t>(begin[TensorId::C])] += 1;
  }

  std::set<DeviceSizes> seen;

 private:
  DeviceSizes sizes_{{"GEMMK", 0},  {"KREG", 1},   {"KWG", 32}, {"KWI", 2},
                     {"MDIMA", 16}, {"MDIMC", 16}, {"MWG", 64}, {"NDIMB", 8},
                     {"NDIMC", 8},  {"NWG", 64},   {"SA", 0},   {"SB", 0},
                     {"STRM", 0},   {"STRN", 0},   {"VWM", 4},  {"VWN", 4}};
  std::vector<double> memory_ = std::vector<double>(3 * rows_of_product * rows_of_product);
};

fusion::Leaf product(const fusion::OperationTree& tree) {
  return fusion::leaf_at(tree, 0, fusion::all_of(tree),
                         std::vector<fusion::Ranges>(tree.arrays.size()))
      .leaf;
}

TEST(TuneDevice, Finds_what_is_quick_and_right) {
  const fusion::OperationTree tree = product_chain(rows_of_product);
  MadeUpDevice device;
  std::mt19937_64 random(test::new_seed());
  int reports = 0;
  FlopsPerSecond last(0);
  DeviceSizes best = device.sizes();
  const DeviceTuning t = tune_device(
      device, product(tree), rows_of_product, Seconds(2),
      [&](int, double share) {
        EXPECT_GE(share, 0);
        EXPECT_LE(share, 1);
        ++reports;
      },
      [&](const DeviceTuning& better) {
        EXPECT_GT(better.after, last);
        last = better.after;
        best = better.sizes;
      },
      random);
  EXPECT_EQ(t.element, Bytes(8));
  EXPECT_EQ(t.rows, rows_of_product);
  EXPECT_GT(t.tried, 5);
  EXPECT_GE(reports, t.tried);
  EXPECT_EQ(t.sizes, device.sizes());
  EXPECT_EQ(t.sizes.at("STRN"), 0);
  EXPECT_EQ(t.sizes.at("SA"), 0);
  EXPECT_EQ(t.sizes.at("SB"), 0);
  EXPECT_EQ(t.sizes.at("KWG"), 16);
  EXPECT_GT(t.after, t.before);
  EXPECT_EQ(t.sizes, best);
  EXPECT_EQ(t.after, last);
  EXPECT_GT(device.seen.size(), 5u);
  // 54 flops in at least 8 ms.
  EXPECT_LE(t.before.value(), 54 / 8e-3);
}

TEST(TuneDevice, Ends_when_it_is_told) {
  const fusion::OperationTree tree = product_chain(rows_of_product);
  MadeUpDevice device;
  std::mt19937_64 random(1);
  std::stop_source stop;
  const StopScope scope(stop.get_token());
  EXPECT_THROW(tune_device(
                   device, product(tree), rows_of_product, Seconds(3600),
                   [&](int tried, double) {
                     if (tried == 3) stop.request_stop();
                   },
                   [](const DeviceTuning&) {}, random),
               Interrupted);
  EXPECT_LE(device.seen.size(), 4u);
}

TEST(TuneDevice, What_is_found_is_kept) {
  const fs::path folder = test::scratch("devices");
  fs::remove_all(folder);
  const fs::path file = folder / "cache" / "devices.toml";
  EXPECT_TRUE(load_devices(file).empty());
  EXPECT_TRUE(load_devices("").empty());
  const DeviceSizes sizes = MadeUpDevice().sizes();
  EXPECT_FALSE(keep_device("", {"one", Bytes(8), sizes}));
  EXPECT_TRUE(keep_device(file, {"one", Bytes(8), sizes}));
  EXPECT_TRUE(keep_device(file, {"two", Bytes(4), sizes}));
  const std::vector<chains::TunedDevice> expected{{"one", Bytes(8), sizes},
                                                  {"two", Bytes(4), sizes}};
  EXPECT_EQ(load_devices(file), expected);
  // What CLBlast brings for a device may be of its other kernel; such sizes are not kept.
  DeviceSizes other = sizes;
  other["GEMMK"] = 1;
  EXPECT_FALSE(keep_device(file, {"three", Bytes(4), other}));
  EXPECT_EQ(load_devices(file), expected);
  std::ofstream(file) << "schema = 1\n[[device]]\n";
  EXPECT_THROW(load_devices(file), InputError);
  EXPECT_THROW(keep_device(file, {"one", Bytes(8), sizes}), InputError);
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tcsim::bench
