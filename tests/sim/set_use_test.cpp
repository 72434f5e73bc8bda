#include "sim/set_use.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <list>
#include <map>
#include <set>
#include <thread>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "sim/set_words.hpp"
#include "tests/core/build.hpp"
#include "tests/seed.hpp"
#include "tests/sim/any_caches.hpp"
#include "tests/sim/caches.hpp"
#include "tests/sim/random_plans.hpp"
#include "tests/sim/system_twin.hpp"

namespace tcsim {
namespace {

using plans::Random;
using test::any_caches;
using test::caches;
using test::Touch;
using test::touches_of;

// What set_use() says, by the definitions as they read: lists and sets of lines, all windows kept,
// and after every touch of the core a look at what the level holds.
class SlowUse {
 public:
  SlowUse(const Plan& plan, const sim::SystemConfig& config, std::size_t level)
      : plan_(plan), level_(config.levels[level]), l_(static_cast<int>(level)) {
    const auto arrays = static_cast<std::size_t>(plan.arrays().size());
    counts.assign(arrays, std::vector<SetTally>(static_cast<std::size_t>(level_.sets)));
    twin::System system(config);
    std::vector<std::uint64_t> before;
    system.on_request = [&](int l, std::uint64_t line, bool found) {
      if (l == 0) ++touches_;
      if (l == l_) ask(line, found);
    };
    system.on_arrival = [&](int l, std::uint64_t line) {
      if (l != l_) return;
      use(line);
      end_if_full();
    };
    for (const Touch& t : touches_of(plan, config)) {
      const std::uint64_t line = std::uint64_t(config.levels.front().line.value());
      system.access(0, t.address / line * line, line, t.write);
      for (std::uint64_t held : system.lines_of(l_)) at(held).resident += Lines(1);
    }
    if (config.drain) system.drain();
    if (!window_.empty()) end_window();
  }

  std::vector<std::vector<SetTally>> counts;
  struct Window {
    std::int64_t touch = 0;
    std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> wanted, conflicts;
  };
  std::vector<Window> windows;
  std::int64_t touches() const { return touches_; }

 private:
  std::size_t owner(std::uint64_t line) const {
    const std::int64_t address = static_cast<std::int64_t>(line) * level_.line.value();
    return test::owner(plan_, address);
  }
  std::uint64_t set(std::uint64_t line) const { return twin::set_number(level_, line); }
  SetTally& at(std::uint64_t line) { return counts[owner(line)][set(line)]; }

  // How many others were used since its last use; -1: it is the first one.
  std::int64_t use(std::uint64_t line) {
    const std::int64_t distance = test::use(stream_, line);
    if (window_.empty()) now_ = {touches_ - 1, {}, {}};
    window_.insert(line);
    return distance;
  }
  void ask(std::uint64_t line, bool found) {
    const std::int64_t distance = use(line);
    SetTally& c = at(line);
    c.requests += Lines(1);
    if (!found && distance < 0) c.misses.compulsory += Lines(1);
    if (!found && distance >= level_.lines()) c.misses.capacity += Lines(1);
    if (!found && distance >= 0 && distance < level_.lines()) {
      c.misses.conflict += Lines(1);
      ++now_.conflicts[{owner(line), set(line)}];
    }
    end_if_full();
  }
  void end_if_full() {
    if (static_cast<std::int64_t>(window_.size()) == level_.sets * level_.ways) end_window();
  }
  void end_window() {
    for (std::uint64_t line : window_) {
      ++now_.wanted[{owner(line), set(line)}];
      at(line).wanted += Lines(1);
    }
    windows.push_back(now_);
    window_.clear();
  }

  const Plan& plan_;
  sim::LevelConfig level_;
  int l_;
  std::list<std::uint64_t> stream_;
  std::set<std::uint64_t> window_;
  Window now_;
  std::int64_t touches_ = 0;
};

void expect_same(const SetUse& fast, const SlowUse& slow) {
  EXPECT_EQ(fast.touches.value(), slow.touches());
  ASSERT_EQ(fast.windows, static_cast<std::int64_t>(slow.windows.size()));
  const auto sets = static_cast<std::size_t>(fast.sets());
  for (ArrayId a : fast.arrays.ids()) {
    const auto row = static_cast<std::size_t>(index(a));
    for (std::size_t s = 0; s < sets; ++s) {
      SetTally of = fast.of(a)[s];
      of.fills = Lines(0);  // the slow one does not see lines come
      ASSERT_EQ(of, slow.counts[row][s]) << "array " << row << " set " << s;
    }
    ArraySpread spread;
    for (const auto& w : slow.windows) {
      std::int64_t lines = 0;
      for (const auto& [place, n] : w.wanted) {
        if (place.first != row) continue;
        lines += n;
        ++spread.sets;
        spread.beyond += Lines(std::max<std::int64_t>(0, n - fast.level.ways));
      }
      spread.lines += Lines(lines);
      spread.room += std::min(lines, fast.sets());
    }
    EXPECT_EQ(fast.spread_of(a), spread);
  }
  for (std::size_t s = 0; s < sets; ++s) {
    SetDemand demand;
    for (const auto& w : slow.windows) {
      std::int64_t all = 0;
      for (const auto& [place, n] : w.wanted) all += place.second == s ? n : 0;
      demand.most = std::max(demand.most, Lines(all));
      demand.beyond += Lines(std::max<std::int64_t>(0, all - fast.level.ways));
    }
    EXPECT_EQ(fast.demand[s], demand);
  }
  std::int64_t step = 1;
  while ((fast.windows + step - 1) / step > most_set_windows) step *= 2;
  ASSERT_EQ(fast.step, step);
  ASSERT_EQ(static_cast<std::int64_t>(fast.film.size()), (fast.windows + step - 1) / step);
  for (std::size_t i = 0; i < fast.film.size(); ++i) {
    const SetWindow& w = fast.film[i];
    ASSERT_EQ(w.number, static_cast<std::int64_t>(i) * step);
    const auto& other = slow.windows[static_cast<std::size_t>(w.number)];
    EXPECT_EQ(w.touch.value(), other.touch);
    for (std::size_t c = 0; c < w.wanted.size(); ++c) {
      const std::pair<std::size_t, std::uint64_t> place{c / sets, c % sets};
      ASSERT_EQ(w.wanted[c], other.wanted.contains(place) ? other.wanted.at(place) : 0);
      ASSERT_EQ(w.conflicts[c], other.conflicts.contains(place) ? other.conflicts.at(place) : 0);
    }
  }
}

TEST(Set_use, Equals_lists_of_lines_on_caches_of_any_kind) {
  const std::uint64_t seed = test::new_seed();
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE(testing::Message() << "case " << i);
    Random random(static_cast<unsigned>(seed) + static_cast<unsigned>(i));
    const Contraction c = plans::random_contraction(random, random.chance(40));
    if (c.flops() > 8000) continue;
    const Plan plan(c, plans::random_schedule(c, random));
    const sim::SystemConfig config = any_caches(random);
    const auto level = static_cast<std::size_t>(
        random.between(0, static_cast<std::int64_t>(config.levels.size()) - 1));
    expect_same(set_use(plan, config, level), SlowUse(plan, config, level));
    if (HasFatalFailure()) return;
  }
}

// Sums over sets are what simulate() and attribute() say of the level.
TEST(Set_use, Adds_up_to_the_simulation_and_its_reasons) {
  const Contraction c = test::matmul(48, 40, 56);
  const Plan plan(c, test::schedule("groups m=j n=i k=k for n by 24 { for k by 28 { pack A in L1 { "
                                    "pack B in L1 { for n by 6 { for m by 8 { kernel 8x6 } } } } "
                                    "} }"));
  auto config = caches({{8, 4}, {16, 8}, {64, 8}});
  config.levels[2].inclusion = Inclusion::inclusive;
  const Attribution a = attribute(plan, config);
  const Simulation s = simulate(plan, config);
  for (std::size_t l = 0; l < 3; ++l) {
    const SetUse use = set_use(plan, config, l);
    const SetTally total = use.total();
    EXPECT_EQ(total.requests, s.levels[l].hits + s.levels[l].misses);
    EXPECT_EQ(total.fills, s.levels[l].fills);
    EXPECT_EQ(use.touches, s.touches);
    for (ArrayId id : use.arrays.ids()) {
      MissCauses all = a.levels[l].misses[Phase::compute][id];
      all += a.levels[l].misses[Phase::packing][id];
      EXPECT_EQ(use.total(id).misses, all);
    }
    SetTally by_set;
    for (std::int64_t set = 0; set < use.sets(); ++set) by_set += use.total(set);
    EXPECT_EQ(by_set, total);
    EXPECT_LE(use.a_touch(total.resident), static_cast<double>(use.level.lines()));
  }
}

// C and B have rows of 64 elements, 512 bytes: of 8 sets of 64-byte lines neighbours along i and k
// fall on one. A kernel takes 16 lines of B, for which that set has 8 ways, and the next one takes
// them again.
const char* const columns_of_kernels =
    "groups m=j n=i k=k for m by 8 { for n by 8 { kernel 8x8 } }";

TEST(Set_use, Names_the_dimension_along_which_a_tensor_crowds) {
  const Contraction c = test::matmul(16, 64, 16);
  const Plan plan(c, test::schedule(columns_of_kernels));
  const SetUse use = set_use(plan, caches({{8, 8}}), 0);
  const auto crowded = crowded_arrays(use, c);
  ASSERT_FALSE(crowded.empty());
  EXPECT_EQ(to_text(use.arrays[crowded[0].array]), "B");
  ASSERT_TRUE(crowded[0].cause);
  EXPECT_EQ(crowded[0].cause->dimension, 'k');
  EXPECT_EQ(crowded[0].cause->apart, Bytes(512));
  EXPECT_EQ(crowded[0].cause->falls_on, 1);
  EXPECT_TRUE(crowded[0].cause->a_line_more);
  EXPECT_GT(crowded[0].conflicts, 0);
  const std::vector<std::string> words = set_words(use, c);
  ASSERT_GE(words.size(), 2u);
  EXPECT_NE(
      words[1].find("neighbours along k are 512 bytes apart (64 elements of 8), a multiple of "
                    "the 512 bytes that 8 sets span, so all of them fall on one set. Packing "
                    "it spreads them, or rows that are 64 bytes longer."),
      std::string::npos)
      << words[1];
  // C is not packed, and what is packed is met by its copy alone.
  EXPECT_NE(words.back().find("C crowds"), std::string::npos);
  EXPECT_NE(words.back().find("one set. In rows that are 64 bytes longer they spread."),
            std::string::npos)
      << words.back();
  const Plan packed(c, test::schedule("groups m=j n=i k=k for m by 8 { pack B in L1 { for n by 8 { "
                                      "kernel 8x8 } } }"));
  std::string all;
  for (const std::string& w : set_words(set_use(packed, caches({{8, 2}}), 0), c)) all += w + "\n";
  EXPECT_NE(all.find("one set. Only its copying meets it."), std::string::npos) << all;
}

// 16 sets span 1024 bytes, so neighbours fall on two of them; in two slices of 8 sets on one of
// each.
TEST(Set_use, Says_on_how_many_sets_neighbours_fall) {
  const Contraction c = test::matmul(16, 64, 16);
  const Plan plan(c, test::schedule(columns_of_kernels));
  auto config = caches({{16, 4}});
  const auto words = [&] {
    std::string all;
    for (const std::string& w : set_words(set_use(plan, config, 0), c)) all += w + "\n";
    return all;
  };
  EXPECT_NE(words().find("along k are 512 bytes apart (64 elements of 8), so they fall on 2 of 16 "
                         "sets. Packing"),
            std::string::npos)
      << words();
  config.levels[0].index = parse_set_index("0x40000");  // beyond these arrays: they lie in slice 0
  EXPECT_NE(words().find("so all of them fall on one set of each slice."), std::string::npos)
      << words();
}

// The same with rows of 72 elements, a line more: they go through all sets.
TEST(Set_use, A_leading_dimension_of_a_line_more_spreads) {
  const Contraction c = test::matmul(16, 72, 16);
  const Plan plan(c, test::schedule(columns_of_kernels));
  const SetUse use = set_use(plan, caches({{8, 8}}), 0);
  EXPECT_TRUE(crowded_arrays(use, c).empty());
  EXPECT_NE(set_words(use, c).back().find("No array crowds in L1"), std::string::npos);
}

// Where the sets are hashed there is no dimension to blame.
TEST(Set_use, A_hashed_level_has_no_dimension_to_blame) {
  const Contraction c = test::matmul(16, 64, 16);
  const Plan plan(c, test::schedule(columns_of_kernels));
  SetUse use = set_use(plan, caches({{8, 8}}), 0);
  ASSERT_TRUE(crowded_arrays(use, c).at(0).cause);
  use.level.index.hashed = true;
  EXPECT_FALSE(crowded_arrays(use, c).at(0).cause);
}

TEST(Set_use, Stops_where_it_is_asked_to_and_says_how_far_it_is) {
  const Contraction c = test::matmul(64, 64, 64);
  const Plan plan(c, test::schedule("groups m=j n=i k=k for m by 8 { for n by 8 { kernel 8x8 } }"));
  std::stop_source stop;
  stop.request_stop();
  SimulationOptions options;
  options.stop = stop.get_token();
  EXPECT_THROW(set_use(plan, caches({{8, 4}}), 0, options), Interrupted);
  double last = 0;
  options = {};
  options.progress = [&](double share) { last = share; };
  set_use(plan, caches({{8, 4}}), 0, options);
  EXPECT_EQ(last, 1);
}

// Within one kernel of two million steps too, where a walk looks around before it only.
TEST(Set_use, Stops_within_a_long_kernel) {
  const Contraction c = test::matmul(8, 8, 1 << 21);
  const Plan plan(c, test::schedule("groups m=j n=i k=k kernel 8x8"));
  std::stop_source stop;
  SimulationOptions options;
  options.stop = stop.get_token();
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    stop.request_stop();
  });
  EXPECT_THROW(set_use(plan, caches({{8, 4}}), 0, options), Interrupted);
}

TEST(Set_use, A_level_that_is_not_there_is_named_with_those_that_are) {
  try {
    cache_named(caches({{8, 4}, {16, 4}}), "L3", "--sets L3");
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(), "--sets L3: there is no cache 'L3'; use one of L1, L2");
  }
  EXPECT_EQ(cache_named(caches({{8, 4}, {16, 4}}), "L2", ""), 1u);
}

}  // namespace
}  // namespace tcsim
