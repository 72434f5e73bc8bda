// The simulator against its slow twin, bit for bit, on random accesses and on random plans.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/plan.hpp"
#include "sim/compact_requests.hpp"
#include "sim/general.hpp"
#include "sim/hierarchy.hpp"
#include "sim/iteration_keys.hpp"
#include "sim/replay.hpp"
#include "sim/simulate.hpp"
#include "tests/arrays.hpp"
#include "tests/draws.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/twin.hpp"

namespace tcsim {
namespace {

using plans::Random, plans::random_contraction, plans::random_convolution, plans::random_machine,
    plans::random_schedule;

std::vector<sim::CacheShape> random_caches(Random& random) {
  // Sets in multiples of 16, 8 or 4 take the vector paths, any others the path in order.
  const std::int64_t unit = random.one_of<std::int64_t>({1, 4, 8, 16, 16, 32});
  std::vector<sim::CacheShape> caches(static_cast<std::size_t>(random.between(1, 4)));
  for (auto& c : caches) {
    c.sets = unit * random.one_of<std::int64_t>({1, 1, 2, 3, 4, 8});
    c.ways = random.one_of<std::int64_t>({1, 2, 3, 4, 5, 8, 8, 11, 12, 16, 20, 37});
  }
  return caches;
}

// The same random accesses for the lists and for a hierarchy of every engine. Lines 0 .. third-1
// are packed B's, up to half C's, the others A's.
class Accesses {
 public:
  explicit Accesses(unsigned seed)
      : random_(seed),
        shapes_(random_caches(random_)),
        line_bits_(static_cast<int>(random_.between(3, 7))),
        lines_(random_.between(20, 600)),
        expected_(shapes_,
                  {{0, test::packed_B}, {lines_ / 3, ArrayId::C}, {lines_ / 2, ArrayId::A}}) {
    ByArray<std::uint32_t> first_lines(test::both_packed().size(), sim::no_lines);
    first_lines[test::packed_B] = 0;
    first_lines[ArrayId::C] = line(lines_ / 3);
    first_lines[ArrayId::A] = line(lines_ / 2);
    for (auto e : {sim::Engine::narrow, sim::Engine::sse2, sim::Engine::avx2, sim::Engine::best}) {
      engines_.push_back(std::make_unique<sim::Hierarchy>(shapes_, first_lines, line_bits_, e));
    }
  }

  void run() {
    for (int i = 0; i < 300; ++i) {
      if (random_.chance(5)) change_phase();
      random_.chance(20) ? touch_streams() : touch_run();
    }
    expected_.drain();
    for (auto& e : engines_) e->drain();
  }

  void compare() {
    for (const auto& e : engines_) {
      ASSERT_EQ(e->touches(), Lines(touches_));
      for (std::size_t l = 1; l <= shapes_.size(); ++l) {
        for (Phase p : all_phases) {
          for (ArrayId a : e->arrays()) {
            const int link = static_cast<int>(l);
            ASSERT_EQ(e->fills(link, p, a), Lines(expected_.in[{l, p, a}])) << l;
            ASSERT_EQ(e->write_backs(link, p, a), Lines(expected_.out[{l, p, a}])) << l;
          }
        }
      }
    }
  }

 private:
  static std::uint32_t line(std::int64_t n) { return static_cast<std::uint32_t>(n); }

  void change_phase() {
    expected_.phase = random_.chance(50) ? Phase::packing : Phase::compute;
    for (auto& e : engines_) e->enter(expected_.phase);
  }

  void touch_run() {
    const auto array_at = [&](std::int64_t n) {
      return n < lines_ / 3 ? test::packed_B : n < lines_ / 2 ? ArrayId::C : ArrayId::A;
    };
    const auto first = random_.between(0, lines_ - 1);
    auto last = std::min(lines_ - 1, first + random_.between(0, random_.chance(30) ? 40 : 3));
    while (array_at(last) != array_at(first)) --last;
    const sim::LineRun run{line(first), line(last)};
    const bool write = random_.chance(30);
    for (auto& e : engines_) {
      write ? e->write(run, array_at(first)) : e->read(run, array_at(first));
    }
    touches_ += last - first + 1;
    for (auto n = first; n <= last; ++n) expected_.touch(n, write);
  }

  // Streams in A that begin anywhere, meet anywhere, and share lines from step to step.
  void touch_streams() {
    sim::TwoStreams s;
    s.left_array = s.right_array = ArrayId::A;
    s.left_bytes = line(random_.between(1, 400));
    s.right_bytes = line(random_.between(1, 400));
    s.steps = random_.between(1, 40);
    const auto place = [&] {
      return static_cast<std::uint64_t>(((lines_ / 2) << line_bits_) +
                                        random_.between(0, lines_ << line_bits_));
    };
    s.left = place();
    s.right = place();
    for (auto& e : engines_) e->read(s);
    for (std::uint64_t step = 0; step < static_cast<std::uint64_t>(s.steps); ++step) {
      touch_bytes(s.left + step * s.left_bytes, s.left_bytes);
      touch_bytes(s.right + step * s.right_bytes, s.right_bytes);
    }
  }

  void touch_bytes(std::uint64_t from, std::uint32_t bytes) {
    for (auto n = from >> line_bits_; n <= (from + bytes - 1) >> line_bits_; ++n, ++touches_) {
      expected_.touch(static_cast<std::int64_t>(n), false);
    }
  }

  Random random_;
  std::vector<sim::CacheShape> shapes_;
  int line_bits_;
  std::int64_t lines_;
  twin::Caches expected_;
  std::vector<std::unique_ptr<sim::Hierarchy>> engines_;
  std::int64_t touches_ = 0;
};

TEST(Hierarchy, Equals_lists_of_lines_on_random_accesses_in_every_engine) {
  for (unsigned seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Accesses accesses(seed);
    accesses.run();
    ASSERT_NO_FATAL_FAILURE(accesses.compare());
  }
}

TEST(Simulate, Equals_an_element_by_element_walk_on_random_plans) {
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Contraction contraction =
        seed % 3 == 0 ? random_convolution(random) : random_contraction(random);
    if (contraction.flops() > 40000) continue;  // the twin is slow
    const Schedule schedule = random_schedule(contraction, random);
    ASSERT_NO_THROW(check(schedule, contraction, {"L1"}, "random"))
        << to_text(schedule, contraction);
    const Plan plan(contraction, schedule);
    const Machine machine = random_machine(random, random_caches(random));
    const Simulation slow = twin::simulate(plan, machine);
    const Simulation fast = simulate(plan, machine, {.threads = 1 + static_cast<int>(seed % 4)});
    ASSERT_EQ(simulate(plan, machine, {.replay_worth = 0}), slow);
    ASSERT_EQ(sim::simulate_general(plan, sim::system_of(machine), {}), slow);
    ASSERT_EQ(simulate(plan, machine, {.replay = false}), slow);
    ASSERT_EQ(fast.touches, slow.touches);
    ASSERT_EQ(fast.traffic.links.size(), slow.traffic.links.size());
    for (std::size_t l = 0; l < fast.traffic.links.size(); ++l) {
      for (Phase p : all_phases) {
        for (ArrayId a : plan.arrays().ids()) {
          ASSERT_EQ(fast.traffic.links[l].at(p, a).in, slow.traffic.links[l].at(p, a).in)
              << "link " << l << " " << to_text(plan.arrays()[a]);
          ASSERT_EQ(fast.traffic.links[l].at(p, a).out, slow.traffic.links[l].at(p, a).out)
              << "link " << l << " " << to_text(plan.arrays()[a]);
        }
      }
    }
    ASSERT_EQ(fast, slow);
  }
}

// Caches with any rules, on one thread and by classes of sets on several.
TEST(Simulate, Gives_the_same_on_any_number_of_threads_in_any_caches) {
  for (unsigned seed = 1; seed <= test::draws(60); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Contraction contraction = random_contraction(random);
    if (contraction.flops() > 1e6) continue;
    const Plan plan(contraction, random_schedule(contraction, random));
    sim::SystemConfig config = sim::system_of(random_machine(random, {{8, 2}, {16, 4}, {64, 4}}));
    for (sim::LevelConfig& l : config.levels) {
      l.replacement = all_replacements[std::size_t(random.between(0, 6))];
      l.write_allocate = random.chance(80);
    }
    config.levels[1].inclusion = all_inclusions[std::size_t(random.between(0, 2))];
    config.levels[2].inclusion = all_inclusions[std::size_t(random.between(0, 2))];
    if (random.chance(30)) config.levels[2].index = parse_set_index("0x40240,0x80c80");
    if (random.chance(20)) config.levels[0].victim_lines = 4;
    if (random.chance(10)) config.levels[1].index = parse_set_index("hashed");
    if (random.chance(10)) config.levels[1].prefetch = Prefetch::streamer;
    if (config.levels[1].inclusion == Inclusion::exclusive) {
      config.levels[1].prefetch = Prefetch::none;
    }
    const Simulation alone = simulate(plan, config);
    for (const int threads : {2, 3, 16}) {
      ASSERT_EQ(simulate(plan, config, {.threads = threads}), alone) << threads;
    }
  }
}

// Adds up what all shares count behind the caches.
Traffic of_all_shares(const Plan& plan, const sim::SystemConfig& config, std::int64_t of,
                      const SimulationOptions& options) {
  Traffic sum = simulate_share(plan, config, {0, of}, options);
  for (std::int64_t number = 1; number < of; ++number) {
    const Traffic more = simulate_share(plan, config, {number, of}, options);
    for (std::size_t l = 1; l < sum.links.size(); ++l) {
      for (Phase p : all_phases) {
        for (ArrayId a : plan.arrays().ids()) sum.links[l].at(p, a) += more.links[l].at(p, a);
      }
    }
  }
  return sum;
}

// With and without repetition; caches of any shape, and under policies that keep to their set.
TEST(Share, All_shares_together_are_the_whole) {
  for (unsigned seed = 1; seed <= test::draws(120); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Contraction contraction = random_contraction(random, seed % 2 == 0);
    if (contraction.flops() > 1e6) continue;
    const Plan plan(contraction, random_schedule(contraction, random));
    sim::SystemConfig config = sim::system_of(random_machine(random, random_caches(random)));
    if (random.chance(30)) {
      for (sim::LevelConfig& l : config.levels) {
        l.replacement = all_replacements[std::size_t(random.between(0, 3))];
        if (l.replacement == Replacement::random) l.replacement = Replacement::srrip;
      }
    }
    const Traffic whole = simulate(plan, config).traffic;
    for (std::int64_t of = 1; of <= most_shares(config); of *= 4) {
      SimulationOptions options;
      options.replay_worth = random.one_of({0.0, 0.3, 2.0});
      ASSERT_EQ(of_all_shares(plan, config, of, options).links, whole.links) << of;
    }
  }
}

// Lines of 64 and 128 bytes, 16 and 24 sets: of a share of 4 is each fourth region of 128 bytes.
TEST(Share, Bytes_of_an_array_are_those_of_its_lines) {
  sim::SystemConfig config;
  config.levels.resize(2);
  config.levels[0].sets = 16;
  config.levels[1].sets = 24;
  config.levels[1].line = Bytes(128);
  ASSERT_EQ(most_shares(config), 8);
  for (const auto& [from, size] : {std::pair{0, 1024}, {300, 500}, {1000, 5000}, {7, 1}}) {
    for (std::int64_t number = 0; number < 4; ++number) {
      std::int64_t bytes = 0;
      for (int at = from; at < from + size; ++at) bytes += at / 128 % 4 == number;
      EXPECT_EQ(bytes_in(config, {number, 4}, Bytes(from), Bytes(size)), Bytes(bytes))
          << from << " " << size << " " << number;
    }
  }
}

// Regular contractions on small caches, iterations of the innermost loop compared with all before,
// or of loops further out for more caches, with room for all of them or for few. What does not
// repeat is compared with the twin above.
TEST(Replay, Changes_nothing_on_random_regular_plans) {
  int repeated = 0;
  for (unsigned seed = 1; seed <= test::draws(800); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Contraction contraction =
        seed % 4 == 0 ? random_convolution(random) : random_contraction(random, true);
    if (contraction.flops() > 4e6) continue;
    const Plan plan(contraction, random_schedule(contraction, random));
    std::vector<sim::CacheShape> caches(static_cast<std::size_t>(random.between(1, 3)));
    for (auto& c : caches) {
      c = {random.one_of<std::int64_t>({1, 2, 4, 8, 12, 16, 48}), random.between(1, 9)};
    }
    const Machine machine = random_machine(random, caches);
    SimulationEffort effort;
    SimulationOptions options{.threads = 1 + static_cast<int>(seed % 2)};
    options.replay_worth = random.one_of({0.0, 0.3, 1.0, 2.0});
    options.memory = Bytes(random.one_of<std::int64_t>({4 << 10, 64 << 10, 1 << 20, 64 << 20}));
    options.effort = &effort;
    ASSERT_EQ(simulate(plan, machine, options), simulate(plan, machine, {.replay = false}))
        << to_text(plan.schedule(), plan.contraction());
    repeated += effort.repeated > Lines(0);
  }
  EXPECT_GT(repeated,
            test::draws(100));  // plans in which something was repeated, else this says little
}

std::vector<sim::Request> random_requests(Random& random, std::uint32_t last_block) {
  std::vector<sim::Request> all;
  for (int i = 0; i < 300; ++i) {
    sim::Request r;
    r.block = static_cast<std::uint32_t>(random.between(0, last_block));
    r.lanes = static_cast<std::uint16_t>(1 << random.between(0, 15));
    if (random.between(0, 3) == 0) r.lanes |= static_cast<std::uint16_t>(0xFF00);
    r.array = static_cast<std::uint8_t>(random.between(0, 1));
    r.write_back = random.between(0, 4) == 0;
    r.clean = r.write_back && random.between(0, 2) == 0;
    r.packing = random.between(0, 9) == 0;
    all.push_back(r);
  }
  return all;
}

// What a set of a place is asked for, one line after the other; a line again and again counts once.
TEST(Replay, Joins_requests_without_changing_what_a_set_is_asked_for) {
  using Asked = std::vector<std::pair<std::uint32_t, std::vector<bool>>>;  // a line, and how
  const auto asked_of_sets = [](const std::vector<sim::Request>& requests, std::uint32_t places) {
    std::map<std::pair<std::uint32_t, int>, Asked> sets;
    for (const sim::Request& r : requests) {
      for (int lane = 0; lane < 16; ++lane) {
        if ((r.lanes >> lane & 1) == 0) continue;
        Asked& all = sets[{r.block % places, lane}];
        Asked::value_type one{r.block, {r.write_back, r.clean, r.packing, r.array == 1}};
        if (all.empty() || all.back() != one) all.push_back(std::move(one));
      }
    }
    return sets;
  };
  for (unsigned seed = 1; seed <= test::draws(200); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const std::uint32_t places = random.one_of({1u, 2u, 8u, 64u});
    const std::vector<sim::Request> requests = random_requests(random, 2 * places + 3);
    const std::vector<sim::Request> joined = sim::joined(requests, places);
    EXPECT_LT(joined.size(), requests.size());
    EXPECT_EQ(asked_of_sets(joined, places), asked_of_sets(requests, places));
  }
}

// Against a walk that leaves nothing out and keeps whole keys.
TEST(IterationKeys, Are_counted_of_each_loop) {
  struct All {
    sim::IterationKeys& keys;
    std::vector<std::uint32_t> sets;
    std::map<std::size_t, std::set<sim::IterationKeys::Key>> seen;
    std::map<std::size_t, double> iterations;
    bool skips(const Iteration& i) {
      seen[i.depth].insert(keys.key(keys.piece(i), sets));
      ++iterations[i.depth];
      return false;
    }
    void done(std::size_t) {}
    void pack(const PackPlan&, const Tile&) {}
    void kernel(const KernelCall&) {}
  };
  bool some_come_back = false;
  for (unsigned seed = 1; seed <= test::draws(100); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    const Contraction contraction = random_contraction(random, true);
    if (contraction.flops() > 1e6) continue;
    const Plan plan(contraction, random_schedule(contraction, random));
    sim::IterationKeys keys(plan, 6);
    const std::vector<std::uint32_t> sets{random.one_of({1u, 4u, 64u}), 12};
    std::vector<sim::IterationKeys::Wanted> wanted;
    for (const sim::IterationKeys::Loop& l : keys.loops()) wanted.push_back({l, {{1}, sets}});
    const std::vector<std::vector<double>> counts = keys.count(wanted);
    All all{keys, sets, {}, {}};
    walk(plan, all);
    ASSERT_EQ(counts.size(), wanted.size());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const std::size_t depth = wanted[i].loop.depth;
      EXPECT_EQ(counts[i][1], static_cast<double>(all.seen[depth].size()));
      EXPECT_LE(counts[i][0], counts[i][1]);
      EXPECT_GE(wanted[i].loop.iterations, all.iterations[depth]);
      some_come_back |= counts[i][1] < all.iterations[depth];
    }
  }
  EXPECT_TRUE(some_come_back);
}

TEST(CompactRequests, Are_the_same_again) {
  std::size_t bytes = 0, requests = 0;
  for (unsigned seed = 1; seed <= test::draws(200); ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Random random(seed);
    std::vector<sim::Request> all =
        random_requests(random, random.one_of({3, 1000, (1 << 27) - 1}));
    // Columns that are far apart, two kinds in turns; long runs of one kind.
    for (std::uint32_t i = 0; i < 700; ++i) {
      const std::uint32_t line = 5000 + 648 * i;
      const bool alone = seed % 2 == 0;
      all.push_back(sim::Request::of(line >> 4, static_cast<std::uint16_t>(1 << (line & 15)), 1));
      if (!alone) all.push_back(sim::Request::of((1 << 27) - 1 - i, 0xFFFF, 0x0403));
    }
    const sim::CompactRequests compact(all, 4);
    std::vector<std::uint64_t> before, after;
    for (const sim::Request& r : all) before.push_back(std::bit_cast<std::uint64_t>(r));
    compact.for_each(
        [&](const sim::Request& r) { after.push_back(std::bit_cast<std::uint64_t>(r)); });
    ASSERT_EQ(before, after);
    bytes += compact.bytes();
    requests += all.size();
  }
  EXPECT_LT(bytes, 4 * requests);
  EXPECT_EQ(sim::CompactRequests({}, 4).bytes(), 0u);
}

// Parts of any number of arrays, against one tag at a time. An empty way stays as it is.
TEST(Replay, Moves_each_tag_as_its_array_moves) {
  std::mt19937 random(1);
  for (std::size_t arrays = 1; arrays <= max_arrays; ++arrays) {
    sim::ReplayParts parts;
    parts.arrays = arrays;
    parts.from.fill(std::numeric_limits<std::int32_t>::max());
    std::vector<std::uint32_t> gains;
    for (std::size_t i = 0; i < arrays; ++i) {
      parts.from[i] = static_cast<std::int32_t>(100 * i);
      gains.push_back(2 * static_cast<std::uint32_t>(random() % 1000));
      parts.add[i] = gains[i] - (i == 0 ? 0 : gains[i - 1]);
    }
    parts.add[arrays] = 0 - gains.back();
    std::vector<sim::Tag> tags, expected;
    for (int n = 0; n < 1000; ++n) {
      const auto line = static_cast<std::uint32_t>(random() % (100 * arrays));
      tags.push_back(2 * line + random() % 2);
      expected.push_back(tags.back() + gains[line / 100]);
    }
    tags.push_back(sim::no_tag);
    expected.push_back(sim::no_tag);
    std::vector<sim::Tag> moved(tags.size());
    sim::move_tags(tags.data(), tags.size(), parts, moved.data());
    EXPECT_EQ(moved, expected) << arrays;
  }
}

}  // namespace
}  // namespace tcsim
