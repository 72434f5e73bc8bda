// Knobs as numbers, and the ranges that they vary in.
#include <gtest/gtest.h>

#include "core/explore/knob_range.hpp"
#include "core/machine/toml.hpp"
#include "tests/core/machine_files.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

class Knobs : public MachineFiles {
 protected:
  Machine e5() const { return find_machine("e5-2680v4"); }
  static std::string range_error(const Machine& m, const char* text) {
    return error_of<UsageError>([&] { parse_knob_range(m, text); });
  }
};

TEST_F(Knobs, Have_the_values_of_the_machine_file) {
  const Machine m = e5();
  EXPECT_EQ(find_knob(m, "L3.capacity").base, 36700160);
  EXPECT_EQ(find_knob(m, "L3.ways").base, 20);
  EXPECT_EQ(find_knob(m, "caches.line").base, 64);
  EXPECT_EQ(find_knob(m, "memory.bandwidth").base, 6.08);
  EXPECT_EQ(find_knob(m, "memory.bandwidth").unit, KnobUnit::bytes_per_cycle);
  // 6.08 B/cycle at 2.4 GHz
  EXPECT_DOUBLE_EQ(find_knob(m, "memory.bandwidth", KnobUnit::bytes_per_second).base, 14.592e9);
  EXPECT_EQ(find_knob(m, "core.frequency").base, 2.4e9);
  EXPECT_EQ(find_knob(m, "core.fma_per_cycle").base, 2);
  EXPECT_EQ(find_knob(m, "core.vector_bits").base, 256);
  EXPECT_EQ(find_knob(m, "core.cores").base, 1);
}

TEST_F(Knobs, Set_the_nearest_value_that_a_machine_can_have_and_read_it_back) {
  const Machine m = e5();
  const auto turned = [&](const char* name, double value) {
    const Knob k = find_knob(m, name);
    return value_of(with_knob(m, k, value), k);
  };
  EXPECT_EQ(turned("L3.capacity", 36700160 + 700), 36700160 + 1280);  // a set is 20 x 64 bytes
  EXPECT_EQ(turned("caches.line", 100), 128);                         // log2 100 = 6.64
  EXPECT_EQ(turned("core.vector_bits", 300), 256);
  EXPECT_EQ(turned("memory.bandwidth", 7.123456789), 7.123456789);
  EXPECT_EQ(turned("core.cores", 13.6), 14);
  const Machine wide = with_knob(m, find_knob(m, "caches.line"), 128);
  for (int l = 0; l < 3; ++l) EXPECT_EQ(wide.level(LevelId{l}).line.value, Bytes(128));
}

TEST_F(Knobs, That_are_none_are_refused_with_those_that_are) {
  const Machine m = e5();
  const auto said = [&](const char* name) {
    return error_of<UsageError>([&] { find_knob(m, name); });
  };
  EXPECT_TRUE(said("L9.capacity")
                  .starts_with("L9.capacity: no such knob; what can be varied is "
                               "L1.capacity, L1.ways, L1.bandwidth, "));
  EXPECT_TRUE(said("L3.latency").starts_with("L3.latency: L3 has no latency to vary"));
  EXPECT_TRUE(said("memory.ways").starts_with("memory.ways: memory has no ways to vary"));
  EXPECT_TRUE(said("memory.capacity").starts_with("memory.capacity: memory has no capacity"));
  EXPECT_TRUE(said("L1.line").starts_with("L1.line: the caches must have lines of one size"));
  EXPECT_TRUE(said("caches.ways").starts_with("caches.ways: no such knob"));
}

// A scratchpad, the cluster's memory and a disk: nothing has lines or ways.
TEST_F(Knobs, Of_a_machine_without_caches_are_those_that_it_has) {
  const Machine m = find_machine("gpu-cluster-node");
  std::vector<std::string> names;
  for (const Knob& k : all_knobs(m)) names.push_back(k.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "local.capacity", "local.bandwidth", "global.capacity", "global.bandwidth",
                       "global.processes", "global.transfer", "disk.bandwidth", "disk.transfer",
                       "core.frequency", "core.fma_per_cycle", "core.vector_bits", "core.cores"}));
  const auto said = [&](const char* name) {
    return error_of<UsageError>([&] { find_knob(m, name); });
  };
  EXPECT_TRUE(said("caches.line")
                  .starts_with("caches.line: no such knob; what can be varied is "
                               "local.capacity, local.bandwidth, global.capacity, "));
  EXPECT_TRUE(said("local.ways").starts_with("local.ways: local has no ways to vary"));
  EXPECT_TRUE(said("disk.capacity").starts_with("disk.capacity: disk has no capacity to vary"));
}

// 20 ways of 64 bytes: 8 MiB is 6553.6 sets, so the nearest is 6554, 512 bytes more.
TEST_F(Knobs, Capacities_go_by_powers_of_two_and_their_quarters) {
  const Machine m = e5();
  const KnobRange r = parse_knob_range(m, "L3.capacity=8MiB..256MiB");
  std::vector<std::string> shown;
  for (double v : r.values) shown.push_back(display(r.knob, v, r.values.front()));
  EXPECT_EQ(shown,
            (std::vector<std::string>{
                "8 MiB",   "10 MiB",  "12 MiB",  "14 MiB",  "16 MiB",  "20 MiB", "24 MiB", "28 MiB",
                "32 MiB",  "35 MiB",  "40 MiB",  "48 MiB",  "56 MiB",  "64 MiB", "80 MiB", "96 MiB",
                "112 MiB", "128 MiB", "160 MiB", "192 MiB", "224 MiB", "256 MiB"}));
  EXPECT_EQ(r.values[0], 8389120);
  EXPECT_EQ(r.values[9], 36700160);  // the machine's own, to the byte
  // The ends are those that are given, also where they are no round numbers.
  const KnobRange relative = parse_knob_range(m, "L3.capacity=1x..2x");
  EXPECT_EQ(relative.values.front(), 36700160);
  EXPECT_EQ(relative.values.back(), 73400320);
  EXPECT_EQ(relative.values.size(), 6u);  // 35, 40, 48, 56, 64 and 70 MiB
  // Fewer parts where there would be many more points than are asked for.
  const auto points = [&](const char* text, int wanted) {
    return parse_knob_range(m, text, wanted, Ends::as_given).values.size();
  };
  EXPECT_EQ(points("L3.capacity=8MiB..128MiB", 9), 10u);  // halves, and 35 MiB
  EXPECT_EQ(points("L3.capacity=8MiB..128MiB", 5), 6u);   // whole powers, and 35 MiB
  EXPECT_EQ(points("L3.capacity=1MiB..16TiB", 9), 14u);   // every second one, and 35 MiB
  // A number of points or a scale is another wish.
  EXPECT_EQ(points("L3.capacity=8MiB..128MiB:4", 17), 4u);
  EXPECT_EQ(points("L3.capacity=8MiB..128MiB:log", 17), 17u);
}

TEST_F(Knobs, A_column_of_sizes_has_one_unit) {
  const Knob k = find_knob(e5(), "L2.capacity");
  EXPECT_EQ(display(k, 262144), "256 KiB");
  EXPECT_EQ(display(k, 2097152, 262144), "2048 KiB");
  EXPECT_EQ(display(k, 262144, 2097152), "0.25 MiB");
  EXPECT_EQ(display(k, 1280, 512), "1280 B");
  EXPECT_EQ(display(find_knob(e5(), "L2.bandwidth"), 19.68, 1), "19.68B/cycle");
}

TEST_F(Knobs, Ranges_are_logarithmic_unless_they_say_otherwise) {
  const Machine m = e5();
  const KnobRange log = parse_knob_range(m, "memory.bandwidth=0.25x..1x:3");
  ASSERT_EQ(log.values.size(), 3u);
  EXPECT_DOUBLE_EQ(log.values[1], 3.04);  // the geometric mean
  const KnobRange linear = parse_knob_range(m, " memory.bandwidth = 0.25x .. 1x : 3 : linear ");
  EXPECT_DOUBLE_EQ(linear.values[1], 3.8);
  EXPECT_EQ(parse_knob_range(m, "L3.bandwidth=8B/cycle..9B/cycle").values.size(), 17u);
  EXPECT_EQ(parse_knob_range(m, "L3.bandwidth=8B/cycle..9B/cycle", 5).values.size(), 5u);
  EXPECT_EQ(parse_knob_range(m, "L3.capacity=8MiB..128MiB:4:log").values.size(), 4u);
  const KnobRange backwards = parse_knob_range(m, "L3.capacity=70MiB..35MiB:2");
  EXPECT_EQ(backwards.values, (std::vector<double>{36700160, 73400320}));
  const KnobRange list = parse_knob_range(m, "L3.ways=20, 16,10,16");
  EXPECT_EQ(list.values, (std::vector<double>{10, 16, 20}));
  // Whole numbers that coincide are one point.
  EXPECT_EQ(parse_knob_range(m, "core.cores=1..4:50").values, (std::vector<double>{1, 2, 3, 4}));
}

TEST_F(Knobs, A_bandwidth_is_turned_in_the_unit_that_is_given) {
  const KnobRange r = parse_knob_range(e5(), "memory.bandwidth=1x..20GB/s:2");
  EXPECT_EQ(r.knob.unit, KnobUnit::bytes_per_second);
  EXPECT_DOUBLE_EQ(r.values[0], 14.592e9);
  EXPECT_EQ(r.values[1], 20e9);
  EXPECT_EQ(range_error(e5(), "memory.bandwidth=1GB/s..2B/cycle").substr(0, 65),
            "memory.bandwidth: some values are per second, others per cycle; w");
}

// L3 passes 11.44 B/cycle: more from memory would only be a mistake in a machine file.
TEST_F(Knobs, A_range_ends_where_no_machine_can_be_and_says_why) {
  const Machine m = e5();
  const KnobRange fast = parse_knob_range(m, "memory.bandwidth=1x..4x:5");
  EXPECT_NEAR(fast.values.back(), 11.44, 1e-9);
  EXPECT_LE(fast.values.back(), 11.44);
  EXPECT_EQ(fast.values.size(), 3u);  // 1 and 1.41 times, not 2, 2.83 and 4, and the end
  EXPECT_EQ(fast.remark,
            "memory.bandwidth ends at 11.44B/cycle: memory (24.32B/cycle) is faster than L3 inside "
            "it (11.44B/cycle)");
  const KnobRange slow = parse_knob_range(m, "L3.bandwidth=1B/cycle..11B/cycle:4");
  EXPECT_NEAR(slow.values.front(), 6.08, 1e-9);
  const KnobRange small = parse_knob_range(m, "L3.capacity=64KiB..1MiB:5");
  EXPECT_GE(small.values.front(), 262144);  // L2's
  EXPECT_LT(small.values.front(), 262144 + 1280);
  EXPECT_EQ(range_error(m, "L3.capacity=1KiB..2KiB"),
            "L3.capacity: L3 (2560B) is smaller than L2 inside it (256KiB); vary it where a "
            "machine can be, or --set others too");
}

TEST_F(Knobs, Ranges_that_are_none_are_refused) {
  const Machine m = e5();
  for (const char* text :
       {"L3.capacity", "L3.capacity=", "L3.capacity=1MiB..", "L3.capacity=..2MiB",
        "L3.capacity=1MiB..2MiB:1", "L3.capacity=1MiB..2MiB:x", "L3.capacity=1MiB..2MiB:3:4",
        "L3.capacity=1MiB,,2MiB", "L3.capacity=-1x..2x", "L3.capacity=1MiB..2MiB:10001",
        "L3.ways=1.5", "memory.bandwidth=3", "core.fma_per_cycle=1..inf", "L3.capacity=1MiB...2MiB",
        "core.frequency=1e308x..2x"}) {
    EXPECT_TRUE(
        range_error(m, text).starts_with(std::string(text).substr(0, std::string(text).find('='))))
        << text << ": " << range_error(m, text);
  }
}

}  // namespace
}  // namespace tcsim
