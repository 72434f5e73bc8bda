#include "core/model/counted_cache.hpp"

#include <gtest/gtest.h>

#include <list>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "tests/seed.hpp"

namespace tcsim {
namespace {

// A list for each set.
class SlowCache {
 public:
  SlowCache(std::int64_t sets, std::int64_t ways) : sets_(sets), ways_(ways) {}
  bool touch(std::int64_t line, bool writes, std::vector<std::pair<std::int64_t, bool>>& left) {
    auto& all = lines_[line % sets_];
    const auto at = std::ranges::find(all, line, &std::pair<std::int64_t, bool>::first);
    const bool there = at != all.end();
    const bool dirty = writes || (there && at->second);
    if (there) all.erase(at);
    all.push_front({line, dirty});
    if (std::ssize(all) > ways_) {
      left.push_back(all.back());
      all.pop_back();
    }
    return there;
  }

 private:
  std::int64_t sets_, ways_;
  std::map<std::int64_t, std::list<std::pair<std::int64_t, bool>>> lines_;
};

TEST(CountedCache, Does_what_lists_do) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (const auto& [sets, ways] :
       {std::pair{1, 4}, std::pair{8, 2}, std::pair{12, 3}, std::pair{1, 100}, std::pair{2, 66}}) {
    CountedCache fast({static_cast<double>(sets), ways});
    SlowCache slow(sets, ways);
    std::vector<std::pair<std::int64_t, bool>> left, slow_left;
    for (int i = 0; i < 3000; ++i) {
      const auto line = static_cast<std::int64_t>(random() % 150);
      const bool writes = random() % 3 == 0;
      const bool there = fast.touch(line, writes, [&](std::int64_t old, bool dirty) {
        left.push_back({old, dirty});
      });
      ASSERT_EQ(there, slow.touch(line, writes, slow_left)) << sets << " x " << ways << ", " << i;
    }
    EXPECT_EQ(left, slow_left) << sets << " x " << ways;
    EXPECT_FALSE(left.empty());
  }
}

// A line of a set that is looked at is there or not as in the whole cache.
TEST(SomeSets, Behave_as_they_do_among_all) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(testing::Message() << "seed " << seed);
  std::mt19937_64 random(seed);
  for (const auto& [sets, ways] :
       {std::pair<std::int64_t, std::int64_t>{64, 2}, {192, 2}, {4096, 2}, {64, 70}}) {
    const SomeSets some(64, 4);
    EXPECT_EQ(some.stands_for(), 4);
    EXPECT_EQ(some.sets(sets), sets / 4);
    const SetAssociative shape{static_cast<double>(sets), ways};
    CountedCache all(shape), looked_at(shape, some);
    std::set<std::int64_t> seen;
    for (int i = 0; i < 20000; ++i) {
      const auto line =
          static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(2 * ways * sets));
      const bool there = all.touch(line);
      if (some.next(line) != line) continue;
      seen.insert(line % sets);
      ASSERT_EQ(looked_at.touch(line), there) << sets << " sets, " << i;
    }
    EXPECT_LE(std::ssize(seen), sets / 4);
    EXPECT_GE(std::ssize(seen), sets / 5);
    std::vector<std::int64_t> dirty;
    looked_at.add_dirty(dirty);
    EXPECT_TRUE(dirty.empty());
  }
}

TEST(CountedCache, Gives_lines_away) {
  CountedCache cache({2, 2});
  for (std::int64_t line : {0, 1, 2}) cache.touch(line, line == 2, [](std::int64_t, bool) {});
  std::vector<std::int64_t> dirty;
  cache.add_dirty(dirty);
  EXPECT_EQ(dirty, std::vector<std::int64_t>{2});
  EXPECT_EQ(cache.take(2), true);
  EXPECT_EQ(cache.take(2), std::nullopt);
  EXPECT_EQ(cache.take(1), false);
  EXPECT_TRUE(cache.touch(0));
  // There is room for two again.
  std::vector<std::int64_t> left;
  for (std::int64_t line : {4, 6}) {
    cache.touch(line, false, [&](std::int64_t old, bool) { left.push_back(old); });
  }
  EXPECT_EQ(left, std::vector<std::int64_t>{0});
}

TEST(SomeSets, Are_all_where_there_are_few) {
  for (const SomeSets& some : {SomeSets(), SomeSets(16, 8), SomeSets(1, 100), SomeSets(64, 1)}) {
    EXPECT_EQ(some.stands_for(), 1);
    for (std::int64_t line = 0; line < 200; ++line) EXPECT_EQ(some.next(line), line);
  }
  EXPECT_EQ(SomeSets(64, 1000).stands_for(), 4);  // 16 at least
}

}  // namespace
}  // namespace tcsim
