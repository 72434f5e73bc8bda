// Caches with policies, slices and inclusion in sim/hierarchy.hpp against the general engine
// (sim/system.hpp), which has a twin of its own in system_test.cpp.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/machine/set_index.hpp"
#include "core/plan/plan.hpp"
#include "sim/general.hpp"
#include "sim/hierarchy.hpp"
#include "sim/simulate.hpp"
#include "sim/system.hpp"
#include "tests/arrays.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"
#include "tests/sim/random_plans.hpp"

namespace tcsim::sim {
namespace {

using plans::Random;

constexpr Replacement policies[] = {Replacement::lru, Replacement::fifo, Replacement::tree_plru,
                                    Replacement::bit_plru};

LevelConfig cache_of(std::int64_t sets, std::int64_t ways, Replacement policy,
                     Inclusion inclusion) {
  LevelConfig l;
  l.sets = sets;
  l.ways = ways;
  l.replacement = policy;
  l.inclusion = inclusion;
  return l;
}

CacheShape shape_of(const LevelConfig& l) {
  CacheShape shape{l.sets, l.ways, l.replacement, l.inclusion, {}};
  for (std::uint64_t mask : l.index.masks) shape.masks.push_back(mask / 64);
  return shape;
}

// Both engines side by side, touch by touch.
class Both {
 public:
  explicit Both(const std::vector<LevelConfig>& levels, Engine engine = Engine::best)
      : system_(SystemConfig{"test", levels}, {~std::uint64_t{0}}),
        hierarchy_(shapes_of(levels), first_lines(), 6, engine) {}

  void touch(std::uint32_t line, bool write) {
    system_.access(0, std::uint64_t{line} * 64, 8, write);
    write ? hierarchy_.write({line, line}, ArrayId::A) : hierarchy_.read({line, line}, ArrayId::A);
  }
  void drain() {
    system_.drain();
    hierarchy_.drain();
  }
  // Does what still waits.
  void settle() { hierarchy_.settle(static_cast<std::size_t>(system_.level_count())); }
  void compare() const {
    for (int l = 0; l < system_.level_count(); ++l) {
      const LevelEvents e = system_.events(l);
      const auto sum = [&](std::int64_t LinkLines::*count) {
        return hierarchy_.sum(l, count).value();
      };
      const std::int64_t in = hierarchy_.fills(l + 1, Phase::compute, ArrayId::A).value();
      const std::int64_t out = hierarchy_.write_backs(l + 1, Phase::compute, ArrayId::A).value();
      const std::int64_t taken = sum(&LinkLines::moved_in);
      const bool exclusive = hierarchy_.is_exclusive(l);
      ASSERT_EQ(in, e.misses) << l;
      ASSERT_EQ(out, e.write_backs + e.clean_victims) << l;
      ASSERT_EQ(sum(&LinkLines::clean_out), e.clean_victims) << l;
      ASSERT_EQ(sum(&LinkLines::invalidated), e.invalidations) << l;
      ASSERT_EQ(taken, exclusive ? e.hits : 0) << l;
      const std::int64_t fills = sum(&LinkLines::written_in) + (exclusive ? 0 : in);
      ASSERT_EQ(fills, e.fills) << l;
      ASSERT_EQ(fills - hierarchy_.resident(l).value() - taken - e.invalidations, e.evictions);
    }
  }

 private:
  static std::vector<CacheShape> shapes_of(const std::vector<LevelConfig>& levels) {
    std::vector<CacheShape> shapes;
    for (const LevelConfig& l : levels) shapes.push_back(shape_of(l));
    return shapes;
  }
  static ByArray<std::uint32_t> first_lines() {
    ByArray<std::uint32_t> first;
    for (const std::uint32_t line : {0u, no_lines, no_lines}) first.push_back(line);
    return first;
  }

  System<> system_;
  Hierarchy hierarchy_;
};

// All sequences of five touches of four lines of one set, and what is written back at the end.
TEST(By_blocks, Equals_the_general_engine_on_every_short_sequence_in_small_caches) {
  for (const Replacement policy : policies) {
    for (const Inclusion inclusion : all_inclusions) {
      for (std::uint32_t sequence = 0; sequence < 1u << 15; sequence += test::one_of) {
        Both both({cache_of(4, 2, policy, Inclusion::neither), cache_of(4, 3, policy, inclusion)});
        for (std::uint32_t rest = sequence, i = 0; i < 5; ++i, rest >>= 3) {
          both.touch(4 * (rest & 3), (rest & 4) != 0);
        }
        both.drain();
        ASSERT_NO_FATAL_FAILURE(both.compare())
            << to_text(policy) << " " << to_text(inclusion) << " " << sequence;
      }
    }
  }
}

// Masks of slices of so many sets, which leave none of them empty.
SetIndex random_slices(Random& random, std::int64_t masks, std::int64_t sets, Bytes line) {
  const auto bytes = static_cast<std::uint64_t>(line.value());
  const std::uint64_t free_bits = ~((static_cast<std::uint64_t>(sets & -sets) * bytes) - 1);
  SetIndex index;
  std::vector<std::uint64_t> free;
  do {
    index.masks.clear();
    free.clear();
    for (std::int64_t i = 0; i < masks; ++i) {
      index.masks.push_back(static_cast<std::uint64_t>(random.between(1, 0xFFF)) * bytes);
      free.push_back(index.masks.back() & free_bits);
    }
  } while (cancel_out(free));
  return index;
}

std::vector<LevelConfig> random_block_levels(Random& random, std::int64_t unit, Bytes line) {
  std::vector<LevelConfig> levels;
  const std::int64_t count = random.between(1, 4);
  for (std::int64_t l = 0; l < count; ++l) {
    LevelConfig c = cache_of(unit * random.one_of<std::int64_t>({1, 1, 2, 3, 4}),
                             random.between(1, l == 0 ? 4 : 6), policies[random.between(0, 3)],
                             Inclusion::neither);
    if (random.chance(10)) c.ways = random.between(7, 32);
    if (l > 0) c.inclusion = all_inclusions[std::size_t(random.between(0, 2))];
    if (random.chance(25)) {
      c.index = random_slices(random, random.between(1, 3), c.sets, line);
      c.sets = c.sets << c.index.masks.size();
    }
    c.line = line;
    levels.push_back(c);
  }
  return levels;
}

TEST(By_blocks, Equals_the_general_engine_on_random_touches_in_every_width) {
  Random random(static_cast<unsigned>(test::new_seed()));
  for (int round = 0; round < test::draws(700); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const std::int64_t unit = random.one_of<std::int64_t>({4, 8, 16, 16, 32});
    const std::vector<LevelConfig> levels = random_block_levels(random, unit, Bytes(64));
    Both both(levels, random.one_of({Engine::sse2, Engine::avx2, Engine::best}));
    const std::int64_t lines = random.between(unit, 40 * unit);
    for (int i = 0; i < 1500; ++i) {
      const std::int64_t line =
          random.chance(50) ? random.between(0, lines / 4) : random.between(0, lines);
      both.touch(static_cast<std::uint32_t>(line), random.chance(30));
    }
    random.chance(80) ? both.drain() : both.settle();
    ASSERT_NO_FATAL_FAILURE(both.compare());
  }
}

SystemConfig random_block_system(Random& random, std::int64_t unit) {
  SystemConfig config;
  config.name = "random";
  config.levels =
      random_block_levels(random, unit, Bytes(random.one_of<std::int64_t>({8, 16, 64})));
  config.drain = random.chance(90);
  return config;
}

// With and without repetition, on threads, with much and little memory.
TEST(By_blocks, Equals_the_general_engine_on_random_plans) {
  Random random(static_cast<unsigned>(test::new_seed()));
  int repeated = 0, both = 0;
  for (int round = 0; round < test::draws(800); ++round) {
    SCOPED_TRACE(testing::Message() << "round " << round);
    const Contraction contraction = random.chance(25) ? plans::random_convolution(random)
                                                      : plans::random_contraction(random, true);
    if (contraction.flops() > 1e6) continue;
    const Plan plan(contraction, plans::random_schedule(contraction, random));
    const SystemConfig config =
        random_block_system(random, random.one_of<std::int64_t>({4, 4, 8, 16}));
    ASSERT_TRUE(runs_by_blocks(config));
    const Simulation slow = simulate_general(plan, config, {});
    SimulationEffort effort;
    SimulationOptions options{.threads = static_cast<int>(random.between(1, 4))};
    options.replay_worth = random.one_of({0.0, 0.3, 1.0, 2.0});
    options.memory = Bytes(random.one_of<std::int64_t>({64 << 10, 1 << 20, 64 << 20}));
    options.effort = &effort;
    ASSERT_EQ(simulate(plan, config, options), slow)
        << to_text(plan.schedule(), plan.contraction());
    ASSERT_EQ(simulate(plan, config, {.replay = false}), slow);
    options.effort = nullptr;
    const std::int64_t of = std::min(most_shares(config), random.one_of<std::int64_t>({2, 4, 16}));
    const Share share{random.between(0, of - 1), of};
    ASSERT_EQ(simulate_share(plan, config, share, options).links,
              simulate_general(plan, config, share, {}).links)
        << share.number << " of " << of;
    repeated += effort.repeated > Lines(0);
    both += effort.repeated > Lines(0) &&
            std::ranges::any_of(slow.levels,
                                [](const LevelCounts& l) { return l.invalidations > Lines(0); });
  }
  EXPECT_GE(repeated, test::found(11));
  EXPECT_GE(both, test::found(2));  // inclusive levels took lines away, and others repeated
}

// C(m,n) += A(m,k) B(k,n) of 128 each, with all operands in place.
Plan matmul() {
  const DimId m{0}, n{1}, k{2};
  const Contraction c("matmul", {{'m', 128}, {'n', 128}, {'k', 128}}, {{{m, k}, {k, n}, {m, n}}},
                      Layout::column_major, ElementType::f64);
  Node node{Kernel{Elements(8), Elements(6)}};
  for (const auto& [group, tile] :
       {std::pair{DimClass::m, 8}, {DimClass::n, 6}, {DimClass::k, 32}}) {
    node = Node{Loop{group, Elements(tile), std::move(node)}};
  }
  return Plan(c, Schedule{Groups{Group{m}, Group{n}, Group{k}, Group{}}, std::move(node)});
}

// The trees of an iteration's sets hardly ever point as those of an earlier one did; turned, they
// do.
TEST(By_blocks, Repeats_under_tree_plru_as_under_lru) {
  const Plan plan = matmul();
  for (const Replacement policy : {Replacement::lru, Replacement::tree_plru}) {
    SystemConfig config;
    config.levels = {cache_of(4, 8, policy, Inclusion::neither),
                     cache_of(16, 8, policy, Inclusion::neither),
                     cache_of(64, 16, Replacement::lru, Inclusion::inclusive)};
    SimulationEffort effort;
    const Simulation fast = simulate(plan, config, {.effort = &effort});
    EXPECT_EQ(fast, simulate_general(plan, config, {}));
    EXPECT_GT(effort.repeated + effort.repeated, fast.touches) << to_text(policy);
  }
}

TEST(By_blocks, Runs_caches_whose_lines_do_not_mix) {
  SystemConfig config;
  config.levels = {cache_of(64, 8, Replacement::lru, Inclusion::neither),
                   cache_of(512, 32, Replacement::tree_plru, Inclusion::exclusive),
                   cache_of(60, 48, Replacement::fifo, Inclusion::inclusive)};
  EXPECT_TRUE(runs_by_blocks(config));
  const auto refuses = [&](auto&& change) {
    SystemConfig other = config;
    change(other.levels[1]);
    EXPECT_FALSE(runs_by_blocks(other));
  };
  refuses([](LevelConfig& l) { l.ways = 33; });
  refuses([](LevelConfig& l) { l.sets = 6; });
  refuses([](LevelConfig& l) { l.replacement = Replacement::srrip; });
  refuses([](LevelConfig& l) { l.index.hashed = true; });
  refuses([](LevelConfig& l) { l.victim_lines = 1; });
  refuses([](LevelConfig& l) { l.line = Bytes(128); });
  refuses([](LevelConfig& l) { l.prefetch = Prefetch::next_line; });
  refuses([](LevelConfig& l) { l.write_allocate = false; });
  refuses([](LevelConfig& l) { l.slice_flip = 1; });
}

}  // namespace
}  // namespace tcsim::sim
