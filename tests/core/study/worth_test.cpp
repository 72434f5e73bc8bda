#include "core/study/worth.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/explore/uncertainty.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/workload/request.hpp"

namespace tcsim {
namespace {

Contraction paper_workload() { return find_workload({"tccg:29", "", {}, {}}); }

Machine paper_machine() {
  Machine m = find_machine("e5-2680v4");
  m.accounting = Accounting::paper();
  return m;
}

// Round figures, to be added up by hand.
CostModel round_model() {
  return parse_cost_model(
      "schema = 1\nname = \"round\"\nsource = \"made up\"\nprice = \"2 * area\"\n[core]\narea = 4\n"
      "power = 3\nfma = 20\n[[level]]\nname = \"caches\"\narea = \"2 * capacity / 1MiB\"\n"
      "energy = 1\n[[level]]\nname = \"memory\"\nenergy = 100\npower = 0.5\n",
      "round.toml");
}

TEST(DesignCost, Adds_up_what_each_part_takes) {
  const Contraction c = paper_workload();
  const Machine m = paper_machine();
  const Optimized best = optimize(c, m);
  const DesignCost d = design_cost(round_model(), c, m, best.prediction);
  ASSERT_EQ(d.parts.size(), 5u);
  EXPECT_EQ(d.parts[0].name, "core");
  EXPECT_EQ(d.parts[4].name, "memory");
  EXPECT_DOUBLE_EQ(*d.area, 4 + 2 * (0.03125 + 0.25 + 35));
  EXPECT_DOUBLE_EQ(*d.price, 2 * *d.area);
  EXPECT_FALSE(d.parts[4].area);
  const double seconds = best.prediction.timing.total.value();
  EXPECT_DOUBLE_EQ(d.parts[0].standing.value(), 3 * seconds);
  EXPECT_DOUBLE_EQ(d.parts[0].moving->value(), c.flops() / 2 * 20e-12);
  double sum = 3.5 * seconds + c.flops() / 2 * 20e-12;
  for (std::size_t l = 0; l < 4; ++l) {
    const double bytes =
        static_cast<double>(best.prediction.traffic.links[l].counted(m.accounting).value());
    const double joules = bytes * (l == 3 ? 100e-12 : 1e-12);
    EXPECT_NEAR(d.parts[l + 1].moving->value(), joules, 1e-12 * joules);
    sum += joules;
  }
  EXPECT_NEAR(d.energy->value(), sum, 1e-12 * sum);
  EXPECT_NEAR(d.watts, sum / seconds, 1e-9 * sum / seconds);
}

TEST(DesignCost, Leaves_out_what_nobody_has_a_figure_for) {
  const Contraction c = paper_workload();
  const Machine m = paper_machine();
  const CostModel bare = parse_cost_model(
      "schema = 1\nname = \"bare\"\n[[level]]\nname = \"L1\"\nenergy = 1\n", "bare.toml");
  const DesignCost d = design_cost(bare, c, m, optimize(c, m).prediction);
  EXPECT_FALSE(d.area);
  EXPECT_FALSE(d.price);
  EXPECT_FALSE(d.energy);  // L2's bytes are not known
  EXPECT_TRUE(d.parts[1].moving);
  EXPECT_FALSE(d.parts[2].moving);
  EXPECT_EQ(d.watts, 0);
}

// Memory's bandwidth alone brings something, and the model has no area for it; so it stands first.
TEST(Worth, What_gains_stands_before_what_does_not) {
  const Contraction c = paper_workload();
  const Machine m = paper_machine();
  const CostModel model = round_model();
  const std::vector<Worth> all = worth_of_knobs(c, m, &model, {});
  ASSERT_GT(all.size(), 10u);
  bool gains = true;
  for (const Worth& w : all) {
    if (!(w.gain > 0)) gains = false;
    EXPECT_EQ(w.gain > 0, gains) << w.knob.name;
    EXPECT_FALSE(w.knob.name.ends_with(".latency"));
    if (w.factor == 1) continue;  // no machine has more of it
    ASSERT_TRUE(w.area);
    // The best schedule for the machine that it says: the optimizer's from nothing is no better.
    const Seconds searched = optimize(c, with_knob(m, w.knob, w.value)).prediction.timing.total;
    EXPECT_LE(w.time / searched, 1.01) << w.knob.name;
  }
  const auto of = [&](const std::string& name) {
    for (const Worth& w : all) {
      if (w.knob.name == name) return w;
    }
    ADD_FAILURE() << name;
    return Worth{};
  };
  EXPECT_GT(of("memory.bandwidth").gain, 0.19);
  EXPECT_FALSE(of("memory.bandwidth").per_area());
  EXPECT_TRUE(of("memory.bandwidth").per_watt());
  const Worth l3 = of("L3.capacity");
  EXPECT_EQ(l3.gain, 0);
  EXPECT_NEAR(*l3.area, 2 * 35, 1e-9);
  EXPECT_FALSE(l3.per_area());
  EXPECT_EQ(worth_words(l3), "nothing");
  // Without a model nothing costs anything, and the largest gain is first.
  const std::vector<Worth> plain = worth_of_knobs(c, m, nullptr, {});
  ASSERT_EQ(plain.size(), all.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_FALSE(plain[i].area || plain[i].watts);
    EXPECT_GE(plain[i > 0 ? i - 1 : 0].gain, plain[i].gain);
  }
}

TEST(Worth, Is_gain_over_what_it_costs) {
  Worth w;
  w.gain = 0.12;
  w.area = 4.0;
  w.watts = 0.5;
  EXPECT_DOUBLE_EQ(*w.per_area(), 3);
  EXPECT_DOUBLE_EQ(*w.per_watt(), 24);
  EXPECT_EQ(worth_words(w), "+12.0 % GFLOPS for 4 mm2 (3 % for each) and 0.5 W (24 % for each)");
  w.area = 0.0;
  w.watts = -1.0;
  EXPECT_FALSE(w.per_area());
  EXPECT_FALSE(w.per_watt());
}

// Against all pairs.
TEST(PlaneCosts, The_front_is_what_no_other_beats) {
  const Contraction c = paper_workload();
  const Machine m = paper_machine();
  const Plane p = plane(c, m, parse_knob_range(m, "memory.bandwidth=0.5x..2x:3", 3, Ends::as_given),
                        parse_knob_range(m, "L2.capacity=0.25x..2x:4", 4, Ends::as_given));
  const CostModel model = round_model();
  const PlaneCosts costs = plane_costs(p, m, model);
  ASSERT_EQ(costs.costs.size(), p.points.size());
  EXPECT_TRUE(costs.is_price);
  std::size_t on_front = 0;
  for (std::size_t i = 0; i < p.points.size(); ++i) {
    if (!p.points[i].choice) {
      EXPECT_TRUE(std::isnan(costs.costs[i]));
      EXPECT_FALSE(costs.front[i]);
      continue;
    }
    bool beaten = false;
    for (std::size_t j = 0; j < p.points.size(); ++j) {
      if (j == i || !p.points[j].choice) continue;
      const Seconds a = p.points[j].choice->time(), b = p.points[i].choice->time();
      const bool as_good = a <= b && costs.costs[j] <= costs.costs[i];
      const bool equal = a == b && costs.costs[j] == costs.costs[i];
      beaten |= as_good && (!equal || j < i);
    }
    EXPECT_EQ(costs.front[i], !beaten) << i;
    on_front += costs.front[i];
  }
  EXPECT_GE(on_front, 1u);
  const CostModel bare = parse_cost_model(
      "schema = 1\nname = \"bare\"\n[[level]]\nname = \"L1\"\nenergy = 1\n", "bare.toml");
  EXPECT_THROW(plane_costs(p, m, bare), UsageError);
}

TEST(CostModels, Are_found_by_name_and_listed) {
  const auto names = shipped_cost_models();
  EXPECT_NE(std::find(names.begin(), names.end(), "45nm"), names.end());
  EXPECT_EQ(find_cost_model("45nm").name, "45nm");
  EXPECT_THROW(find_cost_model("44nm"), UsageError);
}

}  // namespace
}  // namespace tcsim
