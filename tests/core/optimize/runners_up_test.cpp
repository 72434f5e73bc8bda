#include "core/optimize/runners_up.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/search.hpp"
#include "core/workload/random_contraction.hpp"
#include "tests/draws.hpp"
#include "tests/seed.hpp"

namespace tcsim {
namespace {

TEST(RunnersUp, Are_legal_different_and_in_order) {
  const Machine m = find_machine("zen5");
  const OptimizeOptions how = for_running();
  constexpr int draws = test::draws(40);
  int rewritten = 0, alone = 0;
  for (const Contraction& c : random_contractions(test::new_seed(), draws)) {
    SCOPED_TRACE(c.label() + " " + c.sizes());
    const Optimized chosen = optimize(c, m, how);
    rewritten += chosen.rewritten;
    const std::vector<Schedule> all = runners_up(c, m, chosen, 1000, how);
    alone += all.empty();
    std::set<std::string> lines{to_line(chosen.schedule, c)};
    SharedCounts counts;
    Score before;
    for (const Schedule& s : all) {
      ASSERT_TRUE(is_legal(s, c)) << to_line(s, c);
      EXPECT_TRUE(lines.insert(to_line(s, c)).second) << to_line(s, c);
      const Score now = score(c, s, predict(c, s, m, counts, 1, Detail::full), m, how);
      EXPECT_LE(before, now) << to_line(s, c);
      before = now;
    }
    // The tiling that an answer was rewritten from runs, too.
    if (chosen.rewritten) {
      const std::string from = to_line(build(c, m, chosen.tiling), c);
      EXPECT_TRUE(lines.contains(from)) << from;
    }
    const std::vector<Schedule> few = runners_up(c, m, chosen, 3, how);
    ASSERT_EQ(few.size(), std::min<std::size_t>(3, all.size()));
    EXPECT_TRUE(std::equal(few.begin(), few.end(), all.begin()));
  }
  EXPECT_GE(rewritten, test::found(1));
  // Some answers have none beside them: one row by vectors along k, in parts of two sizes.
  EXPECT_LE(alone, std::max(1, draws / 10));
}

TEST(RunnersUp, Divide_the_same_group_among_threads) {
  const Machine m = find_machine("zen5");
  const Contraction c = random_contraction(7);
  Optimized chosen = optimize(c, m, for_running());
  chosen.schedule.parallel = DimClass::n;
  for (const Schedule& s : runners_up(c, m, chosen, 5, for_running())) {
    EXPECT_EQ(s.parallel, DimClass::n);
  }
}

TEST(RunnersUp, End_when_asked_to_stop) {
  const Machine m = find_machine("zen5");
  const Contraction c = random_contraction(7);
  std::stop_source source;
  source.request_stop();
  EXPECT_THROW(
      runners_up(c, m, optimize(c, m, for_running()), 5, for_running(), source.get_token()),
      Interrupted);
}

}  // namespace
}  // namespace tcsim
