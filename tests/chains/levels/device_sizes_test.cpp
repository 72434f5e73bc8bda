// Sizes of CLBlast's kernel: which are legal, that the search finds better ones, and the file of
// them.
#include "chains/levels/device_sizes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

// What CLBlast 1.5.3 brings for an NVIDIA H200, f64.
DeviceSizes h200() {
  return {{"GEMMK", 0}, {"KREG", 1},  {"KWG", 32},  {"KWI", 2},  {"MDIMA", 32}, {"MDIMC", 32},
          {"MWG", 64},  {"NDIMB", 8}, {"NDIMC", 8}, {"NWG", 32}, {"SA", 1},     {"SB", 1},
          {"STRM", 0},  {"STRN", 0},  {"VWM", 2},   {"VWN", 2}};
}
DeviceSizes with(const char* name, std::int64_t value) {
  DeviceSizes sizes = h200();
  sizes[name] = value;
  return sizes;
}

TEST(DeviceSizes, Are_legal_where_blocks_divide) {
  EXPECT_TRUE(are_legal(h200()));
  // One block of CLBlast's rules each.
  EXPECT_FALSE(are_legal(with("VWM", 4)));     // MWG in MDIMC columns of vectors
  EXPECT_FALSE(are_legal(with("VWN", 8)));     // NWG in NDIMC rows of vectors
  EXPECT_FALSE(are_legal(with("MDIMA", 64)));  // MWG in MDIMA loads of vectors
  EXPECT_FALSE(are_legal(with("NDIMB", 32)));  // NWG in NDIMB loads of vectors
  EXPECT_FALSE(are_legal(with("KWG", 2)));     // a step of k in what a work item loads
  EXPECT_FALSE(are_legal(with("KWI", 64)));    // a step of k in unrolled ones
  EXPECT_FALSE(are_legal(with("NDIMC", 64)));  // 2048 work items
  EXPECT_FALSE(are_legal(with("SA", 2)));
  EXPECT_FALSE(are_legal(with("GEMMK", 1)));
  EXPECT_FALSE(are_legal(with("MWG", 96)));
  EXPECT_FALSE(are_legal(with("MWG", 0)));
  EXPECT_FALSE(are_legal(with("MWG", 512)));
  EXPECT_FALSE(are_legal(with("XYZ", 1)));
  DeviceSizes less = h200();
  less.erase("VWN");
  EXPECT_FALSE(are_legal(less));
  // 256 results of a work item.
  DeviceSizes many = h200();
  many["MWG"] = many["NWG"] = 128;
  many["MDIMC"] = many["NDIMC"] = many["MDIMA"] = many["NDIMB"] = 8;
  EXPECT_FALSE(are_legal(many));
  many["NWG"] = 64;
  EXPECT_TRUE(are_legal(many));
}

// A made-up device on which sizes are the quicker the nearer they are to these.
struct MadeUp {
  DeviceSizes ideal = [] {
    DeviceSizes s = h200();
    s["MWG"] = s["NWG"] = 128;
    s["MDIMC"] = s["NDIMC"] = s["MDIMA"] = s["NDIMB"] = 16;
    s["SA"] = 0;
    return s;
  }();
  std::set<DeviceSizes> asked;

  std::optional<Seconds> time_of(const DeviceSizes& s) {
    EXPECT_TRUE(are_legal(s));
    EXPECT_TRUE(asked.insert(s).second);
    EXPECT_LE(s.at("KWG") * (s.at("SA") * s.at("MWG") + s.at("SB") * s.at("NWG")), 4096);
    if (s.at("STRM") == 1) return {};  // it does none of those
    double away = 0;
    for (const auto& [name, value] : s) {
      away += std::abs(std::log2(1.0 + static_cast<double>(value)) -
                       std::log2(1.0 + static_cast<double>(ideal.at(name))));
    }
    return Seconds(1 + away);
  }
};

SizeSearch search(MadeUp& device, int tries, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const Seconds before = *device.time_of(h200());
  return search_sizes(
      h200(), before, [&](const DeviceSizes& s) { return device.time_of(s); },
      [&] { return static_cast<int>(device.asked.size()) <= tries; }, random);
}

TEST(DeviceSizes, Are_found_near_the_best) {
  const std::uint64_t seed = test::new_seed();
  MadeUp device, again;
  const SizeSearch found = search(device, 300, seed);
  EXPECT_EQ(found.tried, 300);
  EXPECT_EQ(device.asked.size(), 301u);
  EXPECT_EQ(found.best.at("STRM"), 0);
  MadeUp fresh;
  EXPECT_EQ(*fresh.time_of(found.best), found.time);
  for (const DeviceSizes& s : device.asked) {
    MadeUp other;
    const std::optional<Seconds> takes = other.time_of(s);
    EXPECT_GE(takes.value_or(found.time), found.time);
  }
  EXPECT_LT(found.time, Seconds(4));  // 8.3 at the beginning
  EXPECT_EQ(search(again, 300, seed).best, found.best);
}

// They are tried first: the search has to begin somewhere.
TEST(DeviceSizes, That_were_quick_elsewhere_are_tried_first) {
  MadeUp device;
  std::vector<DeviceSizes> order;
  std::mt19937_64 random(1);
  search_sizes(
      h200(), Seconds(1),
      [&](const DeviceSizes& s) {
        order.push_back(s);
        return device.time_of(s);
      },
      [&] { return order.size() < 2; }, random);
  ASSERT_EQ(order.size(), 2u);
  EXPECT_EQ(order[0].at("NWG"), 128);
  EXPECT_EQ(order[0].at("NDIMB"), 32);
  EXPECT_EQ(order[1].at("VWN"), 2);
  EXPECT_EQ(order[1].at("NDIMC"), 8);
}

TEST(DeviceSizes, Stay_where_there_are_none_better) {
  MadeUp device;
  device.ideal = h200();
  EXPECT_EQ(search(device, 50, 1).best, h200());
  MadeUp none;
  const SizeSearch stopped = search(none, 0, 1);
  EXPECT_EQ(stopped.best, h200());
  EXPECT_EQ(stopped.tried, 0);
}

TEST(DeviceSizes, Are_kept_by_device_and_type) {
  std::vector<TunedDevice> all;
  keep_sizes(all, {"a \"GPU\"\n", Bytes(8), h200()});
  keep_sizes(all, {"a \"GPU\"\n", Bytes(4), with("SA", 0)});
  keep_sizes(all, {"another", Bytes(8), with("SB", 0)});
  EXPECT_EQ(parse_devices(to_toml(all), "test"), all);
  keep_sizes(all, {"another", Bytes(8), with("STRM", 1)});
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(*sizes_of(all, "another", Bytes(8)), with("STRM", 1));
  EXPECT_EQ(*sizes_of(all, "a \"GPU\"\n", Bytes(4)), with("SA", 0));
  EXPECT_EQ(sizes_of(all, "another", Bytes(4)), nullptr);
  EXPECT_TRUE(parse_devices(to_toml({}), "test").empty());
}

std::string why_not(const std::string& text) {
  try {
    parse_devices(text, "devices.toml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

TEST(DeviceSizes, That_are_wrong_in_a_file_are_told_with_their_place) {
  const std::string mend =
      "; remove the file; 'tcsim probe --levels FOLDER --device' makes it anew";
  EXPECT_EQ(why_not("schema = 2\n"), "devices.toml:1:10: this schema is not known" + mend);
  EXPECT_EQ(why_not("schema = 1\nx = 1\n").substr(0, 33), "devices.toml:2:1: unknown key 'x'");
  const std::string head = "schema = 1\n[[device]]\nname = 'a'\n";
  EXPECT_EQ(why_not(head + "element_bytes = 2\nsizes = {}\n"),
            "devices.toml:4:17: element_bytes is neither 4 nor 8" + mend);
  EXPECT_EQ(why_not(head + "element_bytes = 8\nsizes = {MWG = 64}\n"),
            "devices.toml:5:9: CLBlast has no kernel of these sizes" + mend);
  const std::string one = to_toml(std::vector<TunedDevice>{{"a", Bytes(8), h200()}});
  EXPECT_EQ(why_not(one), "");
  EXPECT_NE(why_not(one + one.substr(one.find("[[device]]"))).find("has sizes already"),
            std::string::npos);
}

}  // namespace
}  // namespace tcsim::chains
