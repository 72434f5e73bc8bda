#include "core/explore/difference.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/request.hpp"

namespace tcsim {
namespace {

TEST(Difference, Names_time_bottleneck_and_links) {
  const Contraction c = find_workload({"tccg:29", "", {}, {}});
  Machine m = find_machine("e5-2680v4");
  m.accounting = Accounting::paper();
  const Optimized a = optimize(c, m);
  Machine faster = m;
  faster.levels.back().bandwidth.value.value *= 1.5;
  const Prediction b = predict(c, a.schedule, faster);
  const auto words = difference_words({c, m, a.schedule, a.prediction}, {c, faster, a.schedule, b});
  ASSERT_EQ(words.size(), 3u);
  EXPECT_EQ(words[0], "17.42 ms instead of 20.86 ms (-16.5 %).");
  EXPECT_EQ(words[1], "The bottleneck moved from L3-memory to L1-register.");
  EXPECT_EQ(words[2], "The schedule stays as it was.");

  Machine small = m;
  small.levels[1].capacity.value = Bytes(64 << 10);
  const Optimized s = optimize(c, small);
  const auto more =
      difference_words({c, m, a.schedule, a.prediction}, {c, small, s.schedule, s.prediction});
  bool tile = false;
  for (const std::string& w : more) tile |= w.starts_with("The tile in L2 in ");
  EXPECT_TRUE(tile);
}

TEST(Difference, Answers_what_is_asked_by_turning_a_knob) {
  const Contraction c = find_workload({"tccg:29", "", {}, {}});
  Machine m = find_machine("e5-2680v4");
  m.accounting = Accounting::paper();
  const Optimized a = optimize(c, m);
  const auto answer = [&](const char* knob, double value) {
    const Machine other = with_knob(m, find_knob(m, knob), value);
    const Optimized b = optimize(c, other);
    return answer_words({c, m, a.schedule, a.prediction}, {c, other, b.schedule, b.prediction},
                        find_knob(m, knob));
  };
  EXPECT_EQ(answer("L3.capacity", 70 << 20),
            "L3 capacity 2 times (70 MiB): nothing changes, L3-memory limits as before.");
  EXPECT_EQ(
      answer("memory.bandwidth", 6.08 * 1.5),
      "memory bandwidth +50.0 % (9.12B/cycle): +19.7 % GFLOPS, and L1-register limits instead "
      "of L3-memory.");
  EXPECT_EQ(answer("L3.capacity", 35 << 20), "");  // it was not turned
}

}  // namespace
}  // namespace tcsim
