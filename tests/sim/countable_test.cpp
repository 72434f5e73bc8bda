// Plans of large problems lay out what wide arithmetic says, and simulation counts that, or refuses
// before it begins (docs/design.md, "How far tcsim counts").
#include <gtest/gtest.h>

#include <iostream>

#include "sim/sample.hpp"
#include "sim/simulate.hpp"
#include "tests/core/build.hpp"
#include "tests/core/large_problems.hpp"
#include "tests/draws.hpp"

namespace tcsim::test {
namespace {

void expect_plan_right(const Contraction& c, const Schedule& s, const Plan& plan) {
  Wide end = 0;
  std::vector<ArrayId> order;
  for (TensorId t : {TensorId::A, TensorId::B}) {
    if (plan.pack(t)) order.push_back(plan.pack(t)->buffer);
  }
  for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) order.push_back(array_of(t));
  for (ArrayId a : order) {
    const Array& array = plan.arrays()[a];
    EXPECT_EQ(plan.base(a).value(), end) << to_text(array);
    Wide elements = wide_size(c, array.tensor);
    if (array.made_by) elements = plan.pack(array.tensor)->capacity;
    EXPECT_LT(elements * wide_element(c), Wide(1) << 47);
    end = wide_round_up(end + elements * wide_element(c), 4096);
  }
  EXPECT_EQ(plan.arena_size().value(), end);
  for (DimClass g : all_dim_classes) {
    for (TensorId t : all_tensors) {
      if (!plan.follows(t, g)) continue;
      Wide last = 0;
      for (DimId d : s.groups[g]) {
        Wide stride = 1;
        for (DimId inner : c.memory_order(t)) {
          if (inner == d) break;
          stride *= c.dim(inner).extent;
        }
        last += (c.dim(d).extent - 1) * stride;
      }
      EXPECT_EQ(plan.offset(t, g, plan.extent(g) - 1), last) << to_text(t) << to_text(g);
    }
  }
  // Capacities, from the ranges that the steps outside the packs leave.
  ByGroup<Wide> range;
  for (DimClass g : all_dim_classes) range[g] = wide_extent(c, s.groups[g]);
  for (const Step& step : plan.steps()) {
    if (step.kind == Step::Kind::loop) {
      range[step.group] = std::min(range[step.group], Wide(step.tile));
    } else if (step.kind == Step::Kind::move) {
      const bool of_m = step.tensor == plan.left() || plan.lanes();
      const Wide rows =
          wide_round_up(range[of_m ? DimClass::m : DimClass::n], of_m ? plan.mr() : plan.nr());
      const bool follows = plan.follows(step.tensor, DimClass::batch);
      EXPECT_EQ(plan.pack(step.tensor)->capacity,
                rows * range[DimClass::k] * (follows ? range[DimClass::batch] : Wide(1)));
    }
  }
}

TEST(Countable, Plans_and_simulations_of_large_problems_are_right_or_refused) {
  Random random(new_seed());
  const Machine m = machine({{16, 4}, {64, 8}});
  int plans = 0, simulated = 0, refused_plans = 0, refused = 0;
  for (int i = 0; i < draws(4000); ++i) {
    std::string why;
    const double most = std::pow(10.0, static_cast<double>(random.between(0, 7)));
    const auto c = random_large_contraction(random, most, why);
    if (!c) continue;
    const Schedule s = random_schedule(*c, random);
    if (long_tables(*c, s)) continue;
    SCOPED_TRACE(c->label() + " " + c->sizes() + " " + to_line(s, *c));
    try {
      const Plan plan(*c, s);
      expect_plan_right(*c, s, plan);
      ++plans;
      WideLink core = wide_core_link(*c, s);
      // Large ones are only begun.
      const bool small = c->flops() < 2e5;
      std::stop_source stop;
      if (!small) stop.request_stop();
      SimulationOptions how;
      how.stop = stop.get_token();
      try {
        const Simulation result = simulate(plan, m, how);
        ++simulated;
        for (Phase p : all_phases) {
          for (ArrayId a : core.arrays.ids()) {
            EXPECT_EQ(core.at(p, a).in, result.traffic.links[0].at(p, a).in.value());
            EXPECT_EQ(core.at(p, a).out, result.traffic.links[0].at(p, a).out.value());
          }
        }
      } catch (const Interrupted&) {
        EXPECT_FALSE(small);
        EXPECT_LT(core.total(), Wide(1) << 62);
      } catch (const TooLargeError& e) {
        EXPECT_TRUE(says_too_large(e.what())) << e.what();
        // 8 lines of 64 bytes an access at most.
        EXPECT_GE(core.total() / wide_element(*c) * 512, (Wide(1) << 62) * 99 / 100);
        ++refused;
      }
    } catch (const UnsupportedError& e) {
      EXPECT_TRUE(says_too_large(e.what())) << e.what();
      ++refused_plans;
    }
    if (HasFailure()) return;
  }
  EXPECT_GE(plans, found(201));
  EXPECT_GE(simulated, found(51));
  EXPECT_GE(refused_plans, found(51));
  std::cout << plans << " plans, " << simulated << " simulated, " << refused << " refused\n";
}

// 2^20 x 2^20 x 2^20 by a kernel of one result loads 2^64 bytes; by one of 8 x 8 no more than 2^61,
// but each of those might move a line.
TEST(Countable, Simulations_that_could_overflow_are_refused_before_they_begin) {
  const std::int64_t n = std::int64_t{1} << 20;
  const Contraction c = matmul(n, n, n);
  const Machine m = machine({{16, 4}});
  const auto refusal = [&](const std::string& text) {
    const Plan plan(c, schedule(text));
    return message_of<TooLargeError>([&] { simulate(plan, m); });
  };
  EXPECT_EQ(refusal("groups m=j n=i k=k for n by 1 { for m by 1 { kernel 1x1 } }"),
            "ij-ik-kj: too large, because 2^62 bytes (4.6 EB) or more would pass link L1-register; "
            "use smaller sizes");
  EXPECT_EQ(refusal("groups m=j n=i k=k for n by 8 { for m by 8 { kernel 8x8 } }"),
            "ij-ik-kj: too large, because the core loads and stores 2.306 EB, and if each of its "
            "accesses moved lines of 64 bytes, 2^62 bytes (4.6 EB) or more would pass a link; use "
            "smaller sizes");
  const Plan plan(c, schedule("groups m=j n=i k=k for n by 1 { for m by 1 { kernel 1x1 } }"));
  EXPECT_THROW(sample(plan, sim::system_of(m), 2, {}), TooLargeError);
}

}  // namespace
}  // namespace tcsim::test
