#include "sim/general.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cassert>
#include <cmath>
#include <memory>

#include "core/error.hpp"
#include "core/model/core_link.hpp"
#include "core/model/countable.hpp"
#include "core/plan/walk.hpp"
#include "core/threads.hpp"
#include "core/units/text.hpp"

namespace tcsim::sim {

namespace {

constexpr std::int64_t max_line_bytes = 4096;  // arrays begin at multiples of this
// Lines that an access moves over one link at most: one comes in and one leaves dirty, for a
// prefetch too, and twice that where an inclusive level takes lines away from those inside it.
constexpr double lines_an_access = 8;
// So many times that for each level with a streamer, which makes up to four requests of one.
constexpr double streamed_requests = 4;

// Refuses a plan that could count too far, before anything is walked, so that counting itself need
// not look. What the core loads and stores is known, and so is how much of that could miss at most.
void require_countable(const Plan& plan, const SystemConfig& config) {
  const std::string& innermost = config.levels.front().name;
  const Contraction& c = plan.contraction();
  Bytes longest;
  for (const LevelConfig& l : config.levels) longest = std::max(longest, l.line);
  const LinkTraffic core = core_link(c, Nest(c, plan.schedule(), longest), innermost);
  double bytes = 0;
  for (ArrayId a : core.arrays.ids()) {
    for (Phase p : all_phases) {
      bytes += static_cast<double>((core.at(p, a).in + core.at(p, a).out).value());
    }
  }
  double lines = lines_an_access;
  for (const LevelConfig& level : config.levels) {
    if (streams(level.prefetch)) lines *= streamed_requests;
  }
  if (bytes * lines * static_cast<double>(longest / plan.element()) < most_link_bytes) {
    return;
  }
  throw TooLargeError(
      c.name(),
      fmt::format("too large, because the core loads and stores {}, and if each of its accesses "
                  "moved lines of {} bytes, 2^62 bytes (4.6 EB) or more would pass a link",
                  to_display(Bytes(std::llround(bytes))), longest.value()),
      "use smaller sizes");
}

// A share of the sets: all of the plan is walked, a part of its lines simulated.
class GeneralPart {
 public:
  GeneralPart(const Plan& plan, const SystemConfig& config, const SimulationOptions& options,
              const ArrayOrder& order, Share share, bool reports)
      : system_(config, order.ends),
        sink_(system_, config.levels.front(), plan.element().value()),
        visitor_(plan, sink_) {
    sink_.select(region_bits_of(config), share);
    Watch watch(options, plan.contraction().flops() / 2, reports);
    walk(plan, Watched(visitor_, watch));
    if (config.drain) system_.drain();
    sink_.collect();
    watch.finish();
  }
  Simulation result(const SystemConfig& config, const ArrayOrder& order) {
    return result_of(config, order, system_, sink_.bytes(), sink_.touches(),
                     visitor_.tally().registers);
  }

 private:
  System<> system_;
  SystemSink<NoObserver> sink_;
  PlanVisitor<SystemSink<NoObserver>> visitor_;
};

// What the caches of another part did; the core's touches are the same.
void add(Simulation& to, const Simulation& more) {
  for (std::size_t l = 0; l < to.levels.size(); ++l) {
    to.levels[l] += more.levels[l];
    LinkTraffic& link = to.traffic.links[l + 1];
    for (Phase p : all_phases) {
      for (ArrayId a : link.arrays.ids()) link.at(p, a) += more.traffic.links[l + 1].at(p, a);
    }
  }
}

}  // namespace

void check(const Plan& plan, const SystemConfig& config) {
  check(config);
  for (const LevelConfig& level : config.levels) {
    const std::int64_t line = level.line.value(), element = plan.element().value();
    if (line < element || line > max_line_bytes) {
      throw UnsupportedError(
          fmt::format("{}: {}", config.name, level.name),
          fmt::format("lines of {} bytes are not simulated", line),
          fmt::format("use a power of two from {} to {} bytes", element, max_line_bytes));
    }
  }
  require_countable(plan, config);
}

bool counts_every_element(const LevelConfig& innermost) {
  return innermost.qlru || innermost.replacement == Replacement::srrip ||
         innermost.replacement == Replacement::brrip ||
         innermost.write == WritePolicy::write_through || !innermost.write_allocate ||
         innermost.prefetch != Prefetch::none;
}

ArrayOrder::ArrayOrder(const Plan& plan) {
  for (ArrayId a : plan.arrays().ids()) arrays.push_back(a);
  std::ranges::sort(arrays, {}, [&](ArrayId a) { return plan.base(a); });
  for (std::size_t i = 1; i < arrays.size(); ++i) {
    ends.push_back(static_cast<std::uint64_t>(plan.base(arrays[i]).value()));
  }
  ends.push_back(~std::uint64_t{0});
}

LevelCounts counts_of(const LevelEvents& e) {
  LevelCounts counts;
  counts.hits = Lines(e.hits);
  counts.misses = Lines(e.misses);
  counts.victim_hits = Lines(e.victim_hits);
  counts.write_backs = Lines(e.write_backs);
  counts.fetches = Lines(e.fetches);
  counts.fills = Lines(e.fills);
  counts.evictions = Lines(e.evictions);
  counts.clean_victims = Lines(e.clean_victims);
  counts.writes_through = Lines(e.writes_through);
  counts.invalidations = Lines(e.invalidations);
  counts.prefetches = Lines(e.prefetches);
  counts.useful_prefetches = Lines(e.useful_prefetches);
  return counts;
}

Simulation result_of(const SystemConfig& config, const ArrayOrder& order,
                     const std::vector<LevelEvents>& events, const PhaseBytes& bytes, Lines touches,
                     const LinkTraffic& registers) {
  Simulation result;
  result.touches = touches;
  result.traffic.links.push_back(registers);
  for (std::size_t l = 0; l < config.levels.size(); ++l) {
    LinkTraffic link(registers.arrays);
    for (Phase p : all_phases) {
      const auto& by_owner = bytes[l][p];
      for (std::size_t i = 0; i < by_owner.size(); ++i) {
        link.at(p, order.arrays[i]) += {by_owner[i].in, by_owner[i].out};
      }
    }
    result.traffic.links.push_back(link);
    result.levels.push_back(counts_of(events[l]));
  }
  return result;
}

Simulation simulate_general(const Plan& plan, const SystemConfig& config,
                            const SimulationOptions& options) {
  assert((check(plan, config), true));
  const ArrayOrder order(plan);
  const std::int64_t most = std::min<std::int64_t>(options.threads, independent_classes(config));
  const auto count = std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, most)));
  std::vector<std::unique_ptr<GeneralPart>> parts(count);
  std::atomic<std::size_t> next = 0;
  run_on_threads(static_cast<int>(count), [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      parts[i] = std::make_unique<GeneralPart>(
          plan, config, options, order,
          Share{static_cast<std::int64_t>(i), static_cast<std::int64_t>(count)}, i == 0);
    }
  });
  if (options.effort) *options.effort = {Lines(0), static_cast<int>(count)};
  Simulation result = parts.front()->result(config, order);
  for (std::size_t i = 1; i < count; ++i) add(result, parts[i]->result(config, order));
  return result;
}

Traffic simulate_general(const Plan& plan, const SystemConfig& config, Share share,
                         const SimulationOptions& options) {
  assert((check(plan, config), true));
  const ArrayOrder order(plan);
  GeneralPart part(plan, config, options, order, share, true);
  if (options.effort) *options.effort = {Lines(0), 1};
  return part.result(config, order).traffic;
}

}  // namespace tcsim::sim
