// Real measurements. No test here asserts how fast anything is: only that what comes out is a
// machine, that it adds up, and that it can be stopped.
#include "microbench/probe.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "tests/microbench/made_up.hpp"

namespace tcsim {
namespace {

// Caches so small that measuring them is quick.
MergedTopology small_topology() {
  MergedTopology t = made_up_topology();
  t.topology.caches = {{1, Bytes(8192), 8, Bytes(64), 1, {}, ""},
                       {2, Bytes(65536), 8, Bytes(64), 2, {}, ""}};
  return t;
}

ProbeOptions quick() {
  ProbeOptions options;
  options.quick = true;
  return options;
}

TEST(Probe, The_plain_loops_give_a_machine_too) {
  const Probed p = assemble(small_topology(), "made up",
                            measure(small_topology(), {0}, {&plain_loops}, quick()));
  const Machine& m = p.machine;
  check(m, "probe");
  ASSERT_EQ(m.levels.size(), 3u);
  EXPECT_EQ(m.core.vector_bits.value, 128);
  EXPECT_EQ(m.levels[1].name, "L2");
  EXPECT_EQ(m.levels[1].shared_by, 2);
  EXPECT_EQ(m.levels[2].name, "memory");
  EXPECT_EQ(m.levels[0].bandwidth.origin, Origin::measured);
  EXPECT_EQ(m.levels[0].capacity.origin, Origin::vendor);
  EXPECT_EQ(m.description, "made up");
}

TEST(Probe, Every_mix_and_type_is_measured_in_every_level_on_one_core_and_on_all) {
  const Measured m = measure(small_topology(), {0, 0}, {&plain_loops}, quick());
  ASSERT_EQ(m.streams.size(), 3u);
  for (const auto& level : m.streams) {
    for (AccessMix mix :
         {AccessMix::load_fma_store, AccessMix::load, AccessMix::copy, AccessMix::triad}) {
      for (std::int64_t element : {4, 8}) {
        for (int cores : {1, 2}) {
          EXPECT_TRUE(std::any_of(level.begin(), level.end(),
                                  [&](const BandwidthSeries& s) {
                                    return s.mix == mix && s.element == Bytes(element) &&
                                           s.cores == cores && s.repetitions.size() >= 3 &&
                                           s.frequency > Hertz(0);
                                  }))
              << to_text(mix) << element << " on " << cores;
        }
      }
    }
  }
  EXPECT_EQ(m.peaks.size(), 4u);
  EXPECT_EQ(m.fma_latencies.size(), 2u);
  EXPECT_EQ(m.latencies.size(), 3u);
  // A quarter of 8 KiB to four times 64 KiB or more: how far depends on what is measured, and a
  // quick probe leaves out every other one.
  EXPECT_EQ(m.chases.front().working_set, Bytes(2048));
  EXPECT_GE(m.chases.back().working_set, Bytes(4 * 65536));
}

TEST(Probe, This_machine_passes_check_and_its_file_reads_back) {
  std::vector<double> shares;
  ProbeOptions options = quick();
  options.progress = [&](const std::string& what, double share) {
    EXPECT_FALSE(what.empty());
    shares.push_back(share);
  };
  Machine m;
  try {
    m = probe_host(options).machine;
  } catch (const UnsupportedError& e) {
    GTEST_SKIP() << e.what();
  }
  check(m, "host");
  EXPECT_EQ(m.name, "host");
  EXPECT_EQ(parse_machine(to_toml(m), "host"), m);
  EXPECT_GT(m.peak(Bytes(8)).value(), 0);
  for (const Level& l : m.levels) {
    EXPECT_GT(l.bandwidth.value.value, 0) << l.name;
    EXPECT_EQ(l.bandwidth.origin, Origin::measured) << l.name;
    EXPECT_NE(l.bandwidth.source.find("loaded plus bytes stored"), std::string::npos) << l.name;
    ASSERT_TRUE(l.latency) << l.name;
    EXPECT_EQ(l.latency->origin, Origin::measured) << l.name;
  }
  ASSERT_GT(shares.size(), 100u);
  EXPECT_EQ(shares.front(), 0);
  for (double s : shares) EXPECT_TRUE(s >= 0 && s <= 1) << s;
}

TEST(Probe, A_stop_is_heard_in_the_middle) {
  std::stop_source stop;
  ProbeOptions options = quick();
  options.stop = stop.get_token();
  int steps = 0;
  options.progress = [&](const std::string&, double) {
    if (++steps == 2) stop.request_stop();
  };
  EXPECT_THROW(measure(small_topology(), {0, 0}, {&plain_loops}, options), Interrupted);
  EXPECT_EQ(steps, 2);
}

}  // namespace
}  // namespace tcsim
