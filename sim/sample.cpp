#include "sim/sample.hpp"

#include <bit>

#include "core/plan/walk.hpp"
#include "sim/general.hpp"
#include "sim/sampled_classes.hpp"

namespace tcsim {

namespace {

using sim::SampledClasses;

// A sink of sim/plan_visitor.hpp, with the rules of sim::SystemSink.
class SampleSink {
 public:
  SampleSink(SampledClasses& classes, const sim::LevelConfig& innermost, std::int64_t element)
      : classes_(classes),
        line_bits_(std::countr_zero(static_cast<std::uint64_t>(innermost.line.value()))),
        element_(sim::counts_every_element(innermost) ? element : 0) {}
  void enter(Phase) {}
  void begin_row() { previous_ = ~std::uint64_t{0}; }
  template <bool write>
  void touch(ArrayId, std::uint64_t address, std::int64_t bytes) {
    const std::uint64_t end = address + static_cast<std::uint64_t>(bytes);
    if (element_ > 0) {
      for (; address < end; address += element_) classes_.access(0, address, element_, write);
      return;
    }
    const std::uint64_t first = address >> line_bits_;
    if (first == previous_) address = (first + 1) << line_bits_;
    previous_ = (end - 1) >> line_bits_;
    if (address < end) classes_.access(0, address, end - address, write);
  }
  void read(const sim::TwoStreams& s) {
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(s.steps); ++i) {
      begin_row();
      touch<false>(s.left_array, s.left + i * s.left_bytes, s.left_bytes);
      begin_row();
      touch<false>(s.right_array, s.right + i * s.right_bytes, s.right_bytes);
    }
  }

 private:
  SampledClasses& classes_;
  int line_bits_;
  std::uint64_t element_;
  std::uint64_t previous_ = ~std::uint64_t{0};
};

}  // namespace

SampledSimulation sample(const Plan& plan, const sim::SystemConfig& config, std::int64_t classes,
                         const SimulationOptions& options) {
  sim::check(plan, config);
  SampledClasses sampled(config, classes);
  SampleSink sink(sampled, config.levels.front(), plan.element().value());
  sim::PlanVisitor<SampleSink> visitor(plan, sink);
  sim::Watch watch(options, plan.contraction().flops() / 2, true);
  walk(plan, sim::Watched(visitor, watch));
  if (config.drain) sampled.drain();
  watch.finish();
  SampledSimulation result = sampled.estimates();
  const LinkTraffic& core = visitor.tally().registers;
  for (Phase p : all_phases) {
    for (ArrayId a : core.arrays.ids()) result.core += core.at(p, a).in + core.at(p, a).out;
  }
  return result;
}

}  // namespace tcsim
