#include "sim/attribution.hpp"

#include <algorithm>
#include <bit>

#include "core/plan/walk.hpp"
#include "sim/general.hpp"

namespace tcsim {

namespace {

using sim::ArrayOrder;

// What an access is part of.
struct Place {
  Phase phase = Phase::compute;
  std::uint64_t now = 0;             // grows with every request
  std::vector<std::uint64_t> began;  // by step: when the loop's current iteration began
};

class Observer : public sim::NoObserver {
 public:
  Observer(const sim::SystemConfig& config, const ArrayOrder& order, const Place& place,
           std::vector<LevelAttribution>& levels)
      : order_(&order), place_(&place), levels_(&levels), streams_(config.levels.size()) {
    for (std::size_t l = 0; l < config.levels.size(); ++l) {
      line_bits_.push_back(
          std::countr_zero(static_cast<std::uint64_t>(config.levels[l].line.value())));
      capacities_.push_back(config.levels[l].lines());
    }
  }

  void request(int l, int, std::uint64_t address, bool, bool hit) {
    const auto level = static_cast<std::size_t>(l);
    LevelAttribution& to = (*levels_)[level];
    const auto use = streams_[level].use(address >> line_bits_[level], place_->now);
    if (use.distance) {
      const auto bucket = std::bit_width(static_cast<std::uint64_t>(*use.distance));
      if (to.reuse_distances.size() <= static_cast<std::size_t>(bucket)) {
        to.reuse_distances.resize(static_cast<std::size_t>(bucket) + 1);
      }
      to.reuse_distances[static_cast<std::size_t>(bucket)] += Lines(1);
    } else {
      to.first_uses += Lines(1);
    }
    if (hit) return;
    to.misses[place_->phase][order_->owner(address)].of(use.distance, capacities_[level]) +=
        Lines(1);
    if (use.distance) to.by_step[carrier(use.last_mark)] += Lines(1);
  }

  void arrival(int l, int, std::uint64_t address) {
    const auto level = static_cast<std::size_t>(l);
    streams_[level].use(address >> line_bits_[level], place_->now);
  }

 private:
  // The outermost loop whose iteration is another one than at the time `last`.
  std::size_t carrier(std::uint64_t last) const {
    std::size_t step = 0;
    while (step + 1 < place_->began.size() && last >= place_->began[step]) ++step;
    return step;
  }

  const ArrayOrder* order_;
  const Place* place_;
  std::vector<LevelAttribution>* levels_;
  std::vector<sim::ReuseDistance> streams_;
  std::vector<int> line_bits_;
  std::vector<std::int64_t> capacities_;
};

using Sink = sim::SystemSink<Observer>;

// A visitor of walk() that keeps the place up to date. Time moves with every kernel and pack, which
// is fine enough: what happens within one has the same carrier.
class Visitor {
 public:
  Visitor(sim::PlanVisitor<Sink>& visitor, Place& place, sim::Watch& watch)
      : visitor_(visitor), place_(place), watch_(watch) {}

  bool skips(const Iteration& iteration) {
    place_.began[iteration.depth] = ++place_.now;
    return false;
  }
  void done(std::size_t) {}
  void pack(const PackPlan& pack, const Tile& tile) {
    begin();
    place_.phase = Phase::packing;
    visitor_.pack(pack, tile);
    place_.phase = Phase::compute;
    ++place_.now;
  }
  void kernel(const KernelCall& call) {
    begin();
    visitor_.kernel(call);
  }

 private:
  void begin() {
    ++place_.now;
    watch_.look(visitor_.tally().multiply_adds);
  }

  sim::PlanVisitor<Sink>& visitor_;
  Place& place_;
  sim::Watch& watch_;
};

}  // namespace

MissCauses LevelAttribution::total() const {
  MissCauses all;
  for (const auto& phase : misses) {
    for (const MissCauses& m : phase) all += m;
  }
  return all;
}

Attribution attribute(const Plan& plan, const sim::SystemConfig& config,
                      const SimulationOptions& options) {
  sim::check(plan, config);
  Attribution result;
  result.levels.resize(config.levels.size());
  for (LevelAttribution& l : result.levels) {
    const ByArray<MissCauses> none(plan.arrays().size());
    l.arrays = plan.arrays();
    l.misses = {none, none};
    l.by_step.resize(plan.steps().size());
  }
  Place place;
  place.began.resize(plan.steps().size());
  const ArrayOrder order(plan);
  sim::System<Observer> system(config, order.ends, Observer(config, order, place, result.levels));
  Sink sink(system, config.levels.front(), plan.element().value());
  sim::PlanVisitor<Sink> visitor(plan, sink);
  sim::Watch watch(options, plan.contraction().flops() / 2, true);
  walk(plan, Visitor(visitor, place, watch));
  if (config.drain) system.drain();
  sink.collect();
  watch.finish();
  result.simulation =
      result_of(config, order, system, sink.bytes(), sink.touches(), visitor.tally().registers);
  return result;
}

}  // namespace tcsim
