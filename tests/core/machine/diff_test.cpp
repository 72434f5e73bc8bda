// What differs between machines.
#include "core/machine/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "core/machine/override.hpp"
#include "tests/core/machine_files.hpp"
#include "tests/core/random_machine.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

using namespace machine_files;

std::vector<Difference> against_valid(const std::function<void(Machine&)>& change) {
  Machine m = valid();
  change(m);
  return differences(valid(), m);
}

TEST(Diff, A_figure_is_named_as_its_knob_with_both_values_and_their_ratio) {
  EXPECT_EQ(against_valid([](Machine& m) { m.levels[0].capacity.value = Bytes(49152); }),
            (std::vector<Difference>{{"L1.capacity", "32KiB", "48KiB", 1.5, true}}));
  EXPECT_EQ(against_valid([](Machine& m) { m.core.frequency.value = Hertz(3e9); }),
            (std::vector<Difference>{{"core.frequency", "2GHz", "3GHz", 1.5, true}}));
  EXPECT_EQ(
      against_valid([](Machine& m) { m = override_knob(m, "L1.replacement=fifo").machine; }),
      (std::vector<Difference>{{"L1.replacement", "lru", "fifo", {}, true},
                               {"L1.replacement origin", "assumed", "hypothetical", {}, false}}));
  // Units cannot be compared by a ratio.
  EXPECT_EQ(against_valid([](Machine& m) {
              m.levels[0].bandwidth.value = {19e9, Bandwidth::Unit::bytes_per_second};
            }),
            (std::vector<Difference>{{"L1.bandwidth", "10B/cycle", "19GB/s", {}, true}}));
}

TEST(Diff, A_level_that_one_of_them_has_is_one_difference) {
  EXPECT_EQ(against_valid([](Machine& m) {
              m.levels.push_back(m.levels[1]);
              m.levels[2].name = "far";
            }),
            (std::vector<Difference>{{"far", "-", "memory unlimited 4GB/s", {}, true}}));
}

TEST(Diff, Series_are_matched_by_what_they_measured_and_compared_by_their_medians) {
  const BandwidthSeries s{AccessMix::load,        Bytes(8), "AVX2", 1, Bytes(16384),
                          {BytesPerSecond(2e10)}, Hertz(0), false};
  Machine a = valid(), b = valid();
  a.levels[0].series = {s, s};
  b.levels[0].series = {s, s};
  b.levels[0].series[1].repetitions = {BytesPerSecond(3e10)};
  b.levels[0].series.push_back(s);
  b.levels[0].series[2].cores = 2;
  EXPECT_EQ(differences(a, b),
            (std::vector<Difference>{
                {"L1.series load 8B AVX2 1 cores 16KiB #2", "20 GB/s", "30 GB/s", 1.5, false},
                {"L1.series load 8B AVX2 2 cores 16KiB", "-", "20 GB/s", {}, false}}));
}

TEST(Diff, It_is_empty_exactly_for_equal_machines_and_knows_what_changes_results) {
  const auto seed = static_cast<std::uint32_t>(test::new_seed());
  SCOPED_TRACE("seed " + std::to_string(seed));
  RandomMachine random(seed);
  const std::vector<std::function<void(Machine&, const Machine&)>> changes{
      [](Machine&, const Machine&) {},
      [](Machine& m, const Machine& o) { m.name = o.name; },
      [](Machine& m, const Machine& o) { m.core = o.core; },
      [](Machine& m, const Machine& o) { m.core.peaks = o.core.peaks; },
      [](Machine& m, const Machine& o) { m.tlbs = o.tlbs; },
      [](Machine& m, const Machine& o) { m.method = o.method; },
      [](Machine& m, const Machine& o) { m.remarks = o.remarks; },
      [](Machine& m, const Machine& o) { m.accounting = o.accounting; },
      [](Machine& m, const Machine& o) { m.levels[0] = o.levels[0]; },
      [](Machine& m, const Machine& o) { m.levels[0].series = o.levels[0].series; },
      [](Machine& m, const Machine& o) { m.levels[1].latency = o.levels[1].latency; },
      [](Machine& m, const Machine& o) {
        m.levels[1].bandwidth.source = o.levels[1].bandwidth.source;
      },
      [](Machine& m, const Machine&) {
        std::reverse(m.levels[0].series.begin(), m.levels[0].series.end());
      },
      [](Machine& m, const Machine&) { std::reverse(m.tlbs.begin(), m.tlbs.end()); }};
  for (int i = 0; i < 100; ++i) {
    const Machine a = random.next(), other = random.next();
    for (std::size_t n = 0; n < changes.size(); ++n) {
      Machine b = a;
      changes[n](b, other);
      const std::vector<Difference> found = differences(a, b);
      ASSERT_EQ(found.empty(), a == b) << "change " << n;
      ASSERT_EQ(std::any_of(found.begin(), found.end(),
                            [](const Difference& d) { return d.changes_results; }),
                content_hash(a) != content_hash(b))
          << "change " << n;
    }
  }
}

}  // namespace
}  // namespace tcsim
