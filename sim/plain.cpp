#include "sim/plain.hpp"

#include <atomic>
#include <bit>
#include <cassert>
#include <optional>

#include "core/plan/walk.hpp"
#include "core/threads.hpp"
#include "sim/general.hpp"
#include "sim/hierarchy.hpp"
#include "sim/line_sink.hpp"
#include "sim/plan_visitor.hpp"
#include "sim/replay.hpp"
#include "sim/watch.hpp"

namespace tcsim::sim {

namespace {

int line_bits_of(const SystemConfig& config) {
  return std::countr_zero(static_cast<std::uint64_t>(config.levels.front().line.value()));
}

int bits_of(Share share) { return std::countr_zero(static_cast<std::uint64_t>(share.of)); }

// A share's lines lie as far apart as whole ones of a share's size.
Hierarchy hierarchy_of(const Plan& plan, const SystemConfig& config, LinePart part = {},
                       Share share = {}) {
  const int line_bits = line_bits_of(config) + bits_of(share);
  std::vector<CacheShape> caches;
  for (const LevelConfig& l : config.levels) {
    CacheShape shape{l.sets / share.of, l.ways, l.replacement, l.inclusion, {}};
    for (std::uint64_t mask : l.index.masks) shape.masks.push_back(mask >> line_bits_of(config));
    caches.push_back(std::move(shape));
  }
  ByArray<std::uint32_t> first_lines(plan.arrays().size());
  for (ArrayId a : first_lines.ids()) {
    first_lines[a] = static_cast<std::uint32_t>(plan.base(a).value() >> line_bits);
  }
  return Hierarchy(caches, first_lines, line_bits, Engine::best, part);
}

// One part of the sets: all of the plan is walked, a part of its lines simulated.
class Part {
 public:
  Part(const Plan& plan, const SystemConfig& config, const SimulationOptions& options,
       LinePart lines, bool reports, Share share = {})
      : caches_(hierarchy_of(plan, config, lines, share)),
        sink_(caches_, line_bits_of(config), share),
        visitor_(plan, sink_),
        watch_(options, plan.contraction().flops() / 2, reports) {
    const int line_bits = line_bits_of(config) + bits_of(share);
    if (options.replay && can_replay(plan, caches_, line_bits)) {
      replay_.emplace(plan, caches_, line_bits, visitor_.tally(), options.replay_worth,
                      options.memory);
    }
    walk(plan, *this);
    config.drain ? caches_.drain() : caches_.settle(config.levels.size());
    watch_.finish();
  }

  void pack(const PackPlan& pack, const Tile& tile) {
    watch_.look(visitor_.tally().multiply_adds);
    visitor_.pack(pack, tile);
  }
  void kernel(const KernelCall& call) {
    watch_.look(visitor_.tally().multiply_adds);
    visitor_.kernel(call);
  }
  bool skips(const Iteration& iteration) {
    if (!replay_ || !replay_->skips(iteration)) return false;
    watch_.look(visitor_.tally().multiply_adds);
    return true;
  }
  void done(std::size_t depth) {
    if (replay_) replay_->done(depth);
  }

  const Hierarchy& caches() const { return caches_; }
  Lines repeated() const { return replay_ ? replay_->repeated() : Lines(0); }
  const LinkTraffic& registers() { return visitor_.tally().registers; }

 private:
  Hierarchy caches_;
  LineSink sink_;
  PlanVisitor<LineSink> visitor_;
  Watch watch_;
  std::optional<Replay> replay_;
};

// One for each thread. Lines that go together modulo the least number of sets stay on one thread, a
// vector at least.
std::vector<LinePart> parts_for(const Plan& plan, const SystemConfig& config, int threads) {
  if (threads <= 1) return {LinePart{}};
  const Hierarchy caches = hierarchy_of(plan, config);
  const std::uint32_t width = caches.width(), most = std::max(1u, caches.residues() / width);
  const std::uint32_t count = std::bit_floor(std::min(most, static_cast<std::uint32_t>(threads)));
  std::vector<LinePart> parts;
  for (std::uint32_t i = 0; i < count; ++i) parts.push_back({i * width, width, count * width});
  return parts;
}

// Parts run on threads of their own; the first error is thrown here.
std::vector<std::unique_ptr<Part>> run_parts(const Plan& plan, const SystemConfig& config,
                                             const SimulationOptions& options) {
  const std::vector<LinePart> lines = parts_for(plan, config, options.threads);
  std::vector<std::unique_ptr<Part>> parts(lines.size());
  SimulationOptions of_each = options;
  of_each.memory = Bytes(options.memory.value() / static_cast<std::int64_t>(parts.size()));
  std::atomic<std::size_t> next = 0;
  run_on_threads(static_cast<int>(parts.size()), [&] {
    for (std::size_t i = next++; i < parts.size(); i = next++) {
      parts[i] = std::make_unique<Part>(plan, config, of_each, lines[i], i == 0);
    }
  });
  return parts;
}

using Parts = std::vector<std::unique_ptr<Part>>;

std::vector<LevelCounts> levels_of(const Parts& parts, std::size_t levels) {
  std::vector<LevelCounts> all;
  Lines asked = parts.front()->caches().touches();
  for (int l = 1; l <= static_cast<int>(levels); ++l) {
    LevelCounts counts;
    for (const auto& part : parts) {
      const Hierarchy& caches = part->caches();
      for (Phase p : all_phases) {
        for (ArrayId a : caches.arrays()) {
          counts.misses += caches.fills(l, p, a);
          counts.write_backs += caches.write_backs(l, p, a);
        }
      }
      const Lines clean = caches.sum(l - 1, &LinkLines::clean_out);
      const Lines invalidated = caches.sum(l - 1, &LinkLines::invalidated);
      counts.write_backs -= clean;
      counts.clean_victims += clean;
      counts.invalidations += invalidated;
      counts.fills += caches.sum(l - 1, &LinkLines::written_in);
      counts.evictions -=
          caches.resident(l - 1) + invalidated + caches.sum(l - 1, &LinkLines::moved_in);
    }
    counts.hits = asked - counts.misses;
    counts.fetches = counts.misses;
    if (!parts.front()->caches().is_exclusive(l - 1)) counts.fills += counts.misses;
    counts.evictions += counts.fills;  // what came and is not there any more
    asked = counts.misses;
    all.push_back(counts);
  }
  return all;
}

LinkTraffic link_of(const Plan& plan, const Parts& parts, int level, Bytes line) {
  LinkTraffic link(plan.arrays());
  for (const auto& part : parts) {
    const Hierarchy& caches = part->caches();
    for (Phase p : all_phases) {
      for (ArrayId a : link.arrays.ids()) {
        link.at(p, a) += {caches.fills(level, p, a).value() * line,
                          caches.write_backs(level, p, a).value() * line};
      }
    }
  }
  return link;
}

Traffic traffic_of(const Plan& plan, const SystemConfig& config, const Parts& parts) {
  Traffic traffic;
  traffic.links.push_back(parts.front()->registers());
  for (int l = 1; l <= static_cast<int>(config.levels.size()); ++l) {
    traffic.links.push_back(link_of(plan, parts, l, config.levels.front().line));
  }
  return traffic;
}

}  // namespace

std::vector<LevelCounts> count_plain(const Plan& plan, const SystemConfig& config,
                                     const SimulationOptions& options) {
  return levels_of(run_parts(plan, config, options), config.levels.size());
}

Simulation simulate_plain(const Plan& plan, const SystemConfig& config,
                          const SimulationOptions& options) {
  assert((check(plan, config), true));
  const Parts parts = run_parts(plan, config, options);
  if (options.effort) {
    *options.effort = {parts.front()->repeated(), static_cast<int>(parts.size())};
  }
  Simulation result;
  result.touches = parts.front()->caches().touches();
  result.levels = levels_of(parts, config.levels.size());
  result.traffic = traffic_of(plan, config, parts);
  return result;
}

Traffic simulate_plain(const Plan& plan, const SystemConfig& config, Share share,
                       const SimulationOptions& options) {
  assert((check(plan, config), true));
  Parts parts;
  parts.push_back(std::make_unique<Part>(plan, config, options, LinePart{}, true, share));
  if (options.effort) *options.effort = {parts.front()->repeated(), 1};
  return traffic_of(plan, config, parts);
}

}  // namespace tcsim::sim
