// Caches of any kind at random, and the touches that reach them, for tests of what observes a
// simulation.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

#include "core/plan/walk.hpp"
#include "sim/general.hpp"
#include "tests/sim/random_plans.hpp"

namespace tcsim::test {

// The core's touches, in order.
struct Touch {
  std::uint64_t address;
  bool write;
};
struct Collector : sim::NoObserver {
  std::vector<Touch>* touches;
  void request(int level, int, std::uint64_t address, bool write, bool) {
    if (level == 0) touches->push_back({address, write});
  }
};
inline std::vector<Touch> touches_of(const Plan& plan, const sim::SystemConfig& config) {
  std::vector<Touch> all;
  const sim::ArrayOrder order(plan);
  sim::System<Collector> system(config, order.ends, Collector{{}, &all});
  sim::SystemSink<Collector> sink(system, config.levels.front(), plan.element().value());
  sim::PlanVisitor<sim::SystemSink<Collector>> visitor(plan, sink);
  struct Visitor {
    sim::PlanVisitor<sim::SystemSink<Collector>>& to;
    void pack(const PackPlan& pack, const Tile& tile) { to.pack(pack, tile); }
    void kernel(const KernelCall& call) { to.kernel(call); }
  };
  walk(plan, Visitor{visitor});
  return all;
}

// How many other lines of the stream were used since its last use of this one; -1: it is the first.
inline std::int64_t use(std::list<std::uint64_t>& stream, std::uint64_t line) {
  const auto found = std::find(stream.begin(), stream.end(), line);
  const auto distance = found == stream.end() ? -1 : std::distance(stream.begin(), found);
  stream.remove(line);
  stream.push_front(line);
  return distance;
}

// The array in which an address lies: the one that begins last before it.
inline std::size_t owner(const Plan& plan, std::int64_t address) {
  std::size_t best = 0;
  std::int64_t nearest = -1;
  for (ArrayId a : plan.arrays().ids()) {
    const std::int64_t base = plan.base(a).value();
    if (base > address || base < nearest) continue;
    nearest = base;
    best = static_cast<std::size_t>(index(a));
  }
  return best;
}

// Caches of any policy, index and inclusion; where write-backs and requests are of whole lines.
inline sim::SystemConfig any_caches(plans::Random& random) {
  sim::SystemConfig config;
  config.name = "random";
  config.seed = static_cast<std::uint64_t>(random.between(1, 1000));
  config.drain = random.chance(80);
  const auto line = Bytes(random.one_of<std::int64_t>({16, 32, 64}));
  const auto levels = random.between(1, 3);
  for (std::int64_t i = 0; i < levels; ++i) {
    sim::LevelConfig l;
    l.name = "L" + std::to_string(i + 1);
    l.line = line;
    l.sets = random.one_of<std::int64_t>({1, 3, 4, 8, 16});
    l.ways = random.between(1, 5);
    l.replacement =
        random.one_of({Replacement::lru, Replacement::lru, Replacement::fifo, Replacement::random,
                       Replacement::tree_plru, Replacement::srrip});
    if (i > 0) {
      l.inclusion = random.one_of({Inclusion::neither, Inclusion::inclusive, Inclusion::exclusive});
    }
    if (random.chance(30)) l.index.hashed = true;
    if (l.sets % 4 == 0 && random.chance(30)) l.index = parse_set_index("0x340,0x4c80");
    if (l.inclusion != Inclusion::exclusive && random.chance(20)) l.victim_lines = 2;
    config.levels.push_back(l);
  }
  if (random.chance(20)) config.levels.front().prefetch = Prefetch::next_line;
  return config;
}

}  // namespace tcsim::test
