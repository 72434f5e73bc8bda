// What a suite takes together.
#include "core/explore/suite_total.hpp"

#include <gtest/gtest.h>

#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/request.hpp"

namespace tcsim {
namespace {

// By hand: 3 s of 6e9 flops and 1 s of 6e9.
SuiteTotal two() {
  SuiteTotal t;
  t.rows = {{"s:1", 6e9, Seconds(3), "L3-memory", 0.1}, {"s:2", 6e9, Seconds(1), "compute", 0.4}};
  return t;
}

TEST(Suite_total, Sums_time_and_counts_bottlenecks) {
  SuiteTotal t = two();
  EXPECT_EQ(t.time(), Seconds(4));
  EXPECT_DOUBLE_EQ(t.rate().value(), 3e9);
  EXPECT_DOUBLE_EQ(t.of_peak(), 0.2);
  EXPECT_EQ(total_words(t),
            "all 2: 4 s, 3 GFLOPS, geometric mean 20.0 % of the FMA peak; limited by L3-memory in "
            "1, compute in 1");
  t.rows.push_back({"s:3", 1e9, Seconds(1), "compute", 0.4});
  EXPECT_EQ(t.bottlenecks(),
            (std::vector<std::pair<std::string, int>>{{"compute", 2}, {"L3-memory", 1}}));
}

TEST(Suite_total, A_row_is_what_is_predicted) {
  const Machine m = find_machine("i7-6700k");
  const Contraction c = find_workload({"abc-adc-bd", "a=24,b=24,c=24,d=24", {}, ElementType::f32});
  const Prediction p = optimize(c, m).prediction;
  SuiteTotal t;
  t.add(c, m, p);
  ASSERT_EQ(t.rows.size(), 1u);
  EXPECT_EQ(t.rows[0].time, p.timing.total);
  EXPECT_EQ(t.rows[0].flops, c.flops());
  EXPECT_EQ(t.rows[0].bottleneck, bottleneck_name(p.timing, m));
  EXPECT_DOUBLE_EQ(t.of_peak(), c.flops() / p.timing.total.value() / m.peak(Bytes(4)).value());
}

TEST(Suite_total, The_suite_of_a_workload_is_known_by_its_name) {
  const auto of = [](const char* name) {
    const auto suite = whole_suite({name, "", {}, ElementType::f32});
    return suite ? suite->name : "none";
  };
  EXPECT_EQ(of("tccg:29"), "tccg");
  EXPECT_EQ(of("tccg"), "tccg");
  EXPECT_EQ(of("dir/mine.toml:3"), "dir/mine.toml");
  EXPECT_EQ(of("mobilenet-v2:8"), "mobilenet-v2");
  EXPECT_EQ(of("abc-adc-bd"), "none");
  EXPECT_EQ(of("conv2d"), "none");
  EXPECT_EQ(of("O[k] += I[c] * W[k,c]"), "none");
  EXPECT_EQ(of("file.program"), "none");
  EXPECT_EQ(whole_suite({"resnet18:3", "", {}, ElementType::f64, "nhwc"})->image_layout, "nhwc");
}

}  // namespace
}  // namespace tcsim
