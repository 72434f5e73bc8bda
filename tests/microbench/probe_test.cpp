// Real measurements. No test here asserts how fast anything is: only that what comes out is a
// machine, that it adds up, and that it can be stopped.
#include "microbench/probe.hpp"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/machine/toml.hpp"

namespace tcsim {
namespace {

// Caches so small that measuring them is quick.
std::vector<CacheGeometry> small_caches() {
  return {{1, Bytes(8192), 8, Bytes(64), 1, ""}, {2, Bytes(65536), 8, Bytes(64), 2, ""}};
}

TEST(Probe, The_plain_loops_give_a_machine_too) {
  const Machine m = probe(small_caches(), "made up", plain_loops, {});
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

TEST(Probe, This_machine_passes_check_and_its_file_reads_back) {
  std::vector<double> shares;
  ProbeOptions options;
  options.progress = [&](const std::string& what, double share) {
    EXPECT_FALSE(what.empty());
    shares.push_back(share);
  };
  Machine m;
  try {
    m = probe_host(options);
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
  }
  // Frequency, peak, latency, one for each level, and the end.
  ASSERT_EQ(shares.size(), m.levels.size() + 4);
  EXPECT_EQ(shares.front(), 0);
  EXPECT_EQ(shares.back(), 1);
  for (std::size_t i = 1; i < shares.size(); ++i) EXPECT_GT(shares[i], shares[i - 1]);
}

TEST(Probe, A_stop_is_heard_in_the_middle) {
  std::stop_source stop;
  ProbeOptions options;
  options.stop = stop.get_token();
  int steps = 0;
  options.progress = [&](const std::string&, double) {
    if (++steps == 2) stop.request_stop();
  };
  EXPECT_THROW(probe(small_caches(), "made up", plain_loops, options), Interrupted);
  EXPECT_EQ(steps, 2);
}

}  // namespace
}  // namespace tcsim
