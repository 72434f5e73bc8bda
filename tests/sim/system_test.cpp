// The general engine: rules worked out by hand, and every option against its slow twin.
#include "sim/system.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <sstream>

#include "core/error.hpp"
#include "tests/draws.hpp"
#include "tests/sim/system_twin.hpp"

namespace tcsim::sim {
namespace {

LevelConfig level(std::int64_t sets, std::int64_t ways, Replacement r = Replacement::lru) {
  LevelConfig l;
  l.name = "L";
  l.sets = sets;
  l.ways = ways;
  l.replacement = r;
  return l;
}

// Lines of 64 bytes, by number.
class LineHits {
 public:
  explicit LineHits(std::vector<LevelConfig> levels, int cores = 1)
      : system_({"test", std::move(levels), cores}, {1u << 30}) {}
  bool read(std::uint64_t line, int core = 0) { return access(line, core, false); }
  bool write(std::uint64_t line, int core = 0) { return access(line, core, true); }
  std::string hits(std::initializer_list<std::uint64_t> lines) {
    std::string s;
    for (auto line : lines) s += read(line) ? 'h' : '.';
    return s;
  }
  LevelEvents at(int l) const { return system_.events(l); }
  void drain() { system_.drain(); }

 private:
  bool access(std::uint64_t line, int core, bool write) {
    const std::int64_t before = at(0).hits;
    system_.access(core, line * 64, 8, write);
    return at(0).hits > before;
  }
  System<> system_;
};

// One set of 4 ways. 0 1 2 3 fill it, 0 is used again, 4 comes.
TEST(Lru, Evicts_the_least_recently_used_line) {
  EXPECT_EQ(LineHits({level(1, 4)}).hits({0, 1, 2, 3, 0, 4, 0, 2, 3, 1}), "....h.hhh.");
}

TEST(Fifo, Evicts_the_line_that_came_first_though_it_was_used) {
  EXPECT_EQ(LineHits({level(1, 4, Replacement::fifo)}).hits({0, 1, 2, 3, 0, 4, 1, 2, 3, 0}),
            "....h.hhh.");
}

// Uses of ways 0, 1, 2, 3 leave the root pointing left, and the left node to way 0: 4 replaces 0,
// which turns the root right (to way 2, since 3 was used after it). 5 replaces 2.
TEST(Tree_plru, Follows_the_bits_that_point_away_from_uses) {
  LineHits lines({level(1, 4, Replacement::tree_plru)});
  EXPECT_EQ(lines.hits({0, 1, 2, 3, 4, 5}), "......");
  EXPECT_EQ(lines.hits({1, 3, 4, 5}), "hhhh");
}

// Of 3 ways the left half is way 0. After 0 1 2 the root points to it, so 3 replaces 0; then it
// points right, where 2 was used last: 4 replaces 1.
TEST(Tree_plru, Takes_any_number_of_ways) {
  LineHits lines({level(1, 3, Replacement::tree_plru)});
  EXPECT_EQ(lines.hits({0, 1, 2, 3, 4, 2, 3, 4}), ".....hhh");
}

// Used again and again, 0 keeps the tree pointing right: 1 and 2 fill ways 2 and 3, and 3 replaces
// 1 while way 1 is empty.
TEST(Tree_plru, Follows_the_tree_while_ways_are_empty_if_told_to) {
  LevelConfig by_tree = level(1, 4, Replacement::tree_plru);
  by_tree.empty_ways = EmptyWays::tree;
  LineHits lines({by_tree});
  EXPECT_EQ(lines.hits({0, 1, 0, 2, 0, 3, 0}), "..h.h.h");
  EXPECT_EQ(lines.at(0).evictions, 1);
  EXPECT_EQ(lines.hits({2, 3, 0, 1}), "hhh.");
  LineHits first({level(1, 4, Replacement::tree_plru)});
  EXPECT_EQ(first.hits({0, 1, 0, 2, 0, 3, 0, 1}), "..h.h.hh");
}

// Four ways. Once full all ages are 1, and become 3; a hit of 0 makes its 1, so 4 and 5 replace 1
// and 2; a second hit makes it 0. 6 replaces 3, the ages 0 1 1 1 become 2 3 3 3, and 7 replaces 4.
TEST(Qlru, Ages_lines_and_replaces_the_first_old_one) {
  LevelConfig l = level(1, 4, Replacement::lru);
  l.qlru = qlru_named("QLRU_H11_M1_R0_U0");
  ASSERT_TRUE(l.qlru);
  LineHits lines({l});
  EXPECT_EQ(lines.hits({0, 1, 2, 3, 0, 4, 5, 0, 6, 7, 0, 5, 6, 4}), "....h..h..hhh.");
}

// Two ways: the first line stays when a third one comes if it alone of the two came with age 2 and
// not 3, which is 1/16 x 15/16. Of 8000 sets these are 469, with a standard deviation of 21; five
// of them are allowed. Seed 1.
TEST(Qlru, Mr_variants_put_one_line_in_16_in_with_the_younger_age) {
  constexpr std::uint64_t sets = 8000;
  LevelConfig l = level(sets, 2);
  l.qlru = qlru_named("QLRU_H00_MR32_R1_U2_UMO");
  ASSERT_TRUE(l.qlru);
  l.write_allocate = false;  // so that writes ask what is there and put nothing in
  System<> s({"test", {l}}, {1u << 30});
  for (std::uint64_t line = 0; line < 3 * sets; ++line) s.access(0, line * 64, 8, false);
  for (std::uint64_t set = 0; set < sets; ++set) s.access(0, set * 64, 8, true);
  EXPECT_NEAR(static_cast<double>(s.events(0).hits), 469, 5 * 21);
}

TEST(Qlru, Knows_the_names_of_its_variants) {
  EXPECT_EQ(qlru_named("QLRU_H11_MR31_R1_U2"), (Qlru{1, 1, 3, std::uint8_t{1}, 1, 2, false}));
  EXPECT_EQ(qlru_named("QLRU_H21_M2_R1_U3_UMO"), (Qlru{2, 1, 2, {}, 1, 3, true}));
  for (const char* name :
       {"QLRU_H11_M1_R0", "QLRU_H12_M1_R0_U0", "QLRU_H01_M1_R0_U0", "QLRU_H11_M4_R0_U0",
        "QLRU_H11_M1_R3_U0", "QLRU_H11_MR13_R0_U0", "QLRU_H11_MR22_R0_U0", "QLRU_H11_MR41_R0_U0",
        "QLRU_H11_MR161_R1_U2", "QLRU_H11_M31_R0_U0", "QLRU_H11_M1_R0_U2", "QLRU_H11_M1_R0_U0_",
        "qlru", ""}) {
    EXPECT_FALSE(qlru_named(name)) << name;
  }
}

// 0 1 2 3 fill the ways; the fourth use marks all, so only 3's mark stays. 4 replaces 0 (marks 0
// and 3), 5 replaces 1, and 6 finds way 2 free of marks.
TEST(Bit_plru, Evicts_the_first_line_without_a_mark) {
  LineHits lines({level(1, 4, Replacement::bit_plru)});
  EXPECT_EQ(lines.hits({0, 1, 2, 3, 4, 5, 6, 3, 4, 5, 6}), ".......hhhh");
}

// Jaleel et al. 2010, section 4: a scan of new lines does not push out one that was used. 0 is
// used (prediction 0), 1 2 3 stand at 2. 4: all grow by 1, way 1 is the first with 3. 5 and 6
// replace 2 and 3; 0 has 1. 7: predictions of 4 5 6 grow from 2 to 3, and 4 leaves.
TEST(Srrip, A_scan_leaves_a_used_line_in_place) {
  LineHits lines({level(1, 4, Replacement::srrip)});
  EXPECT_EQ(lines.hits({0, 0, 1, 2, 3, 4, 5, 6, 7, 0}), ".h.......h");
  EXPECT_EQ(lines.hits({5, 6, 7, 4}), "hhh.");
}

// Most lines come with a distant prediction and leave first: of 16 lines in turns through 8 ways
// LRU keeps none, BRRIP nearly half of a cache (same paper, section 5).
TEST(Brrip, Keeps_part_of_a_cycle_that_thrashes_lru) {
  LineHits brrip({level(1, 8, Replacement::brrip)}), lru({level(1, 8)});
  for (int round = 0; round < 200; ++round) {
    for (std::uint64_t line = 0; line < 16; ++line) {
      brrip.read(line);
      lru.read(line);
    }
  }
  EXPECT_EQ(lru.at(0).hits, 0);
  EXPECT_GT(brrip.at(0).hits, 200 * 4);
}

// Each of 8 ways is as likely: of 8000 sets that take one line too many, 1000 lose any given way,
// with a standard deviation of sqrt(8000 * 1/8 * 7/8) = 29.6; five of them are allowed. Seed 1.
TEST(Random, Evicts_every_way_as_often) {
  constexpr std::uint64_t sets = 8000;
  auto l1 = level(sets, 8, Replacement::random);
  l1.write_allocate = false;  // so that writes ask what is there and put nothing in
  System<> s({"test", {l1}}, {1u << 30});
  for (std::uint64_t line = 0; line < 9 * sets; ++line) s.access(0, line * 64, 8, false);
  for (std::uint64_t way = 0; way < 8; ++way) {
    const std::int64_t before = s.events(0).misses;
    for (std::uint64_t set = 0; set < sets; ++set) s.access(0, (way * sets + set) * 64, 8, true);
    EXPECT_NEAR(static_cast<double>(s.events(0).misses - before), 1000, 5 * 29.6) << way;
  }
}

// L1 of one line in an L2 of two, inclusive: 0 is used in L1 alone, so it grows old in L2 though
// it is in use, and leaves both when 2 comes.
TEST(Inclusive, A_line_that_leaves_takes_the_inner_copies_with_it) {
  auto l2 = level(1, 2);
  l2.inclusion = Inclusion::inclusive;
  LineHits lines({level(1, 2), l2});
  EXPECT_EQ(lines.hits({0, 1, 0, 0, 2, 0}), "..hh..");
  EXPECT_EQ(lines.at(0).invalidations, 2);  // 0 when 2 came, 1 when 0 came back
}

// The written line leaves L1 by force: that is one write-back over each link, no more.
TEST(Inclusive, A_dirty_inner_copy_is_written_back_with_the_line) {
  auto l2 = level(1, 2);
  l2.inclusion = Inclusion::inclusive;
  LineHits lines({level(1, 2), l2});
  lines.write(0);
  lines.hits({1, 2});
  EXPECT_EQ(lines.at(0).write_backs, 1);
  EXPECT_EQ(lines.at(1).write_backs, 1);
  lines.drain();
  EXPECT_EQ(lines.at(1).write_backs, 1);
}

// One line in L1, two in an exclusive L2 behind it: together they hold three.
TEST(Exclusive, Holds_what_the_inner_level_lost_and_gives_it_back) {
  auto l2 = level(1, 2);
  l2.inclusion = Inclusion::exclusive;
  LineHits lines({level(1, 1), l2});
  lines.hits({0, 1, 2, 0, 1, 2, 0, 1, 2});
  EXPECT_EQ(lines.at(1).misses, 3);
  EXPECT_EQ(lines.at(1).hits, 6);
  EXPECT_EQ(lines.at(0).clean_victims, 8);
  EXPECT_EQ(lines.at(1).bytes_in, Bytes(3 * 64));
  EXPECT_EQ(lines.at(0).bytes_out, Bytes(8 * 64));
}

// What was written stays written on the way out to L2 and back, and reaches memory once.
TEST(Exclusive, A_dirty_line_moves_in_and_out_dirty) {
  auto l2 = level(1, 2);
  l2.inclusion = Inclusion::exclusive;
  LineHits lines({level(1, 1), l2});
  lines.write(0);
  lines.hits({1, 0, 1, 0});
  EXPECT_EQ(lines.at(1).write_backs, 0);
  lines.drain();
  EXPECT_EQ(lines.at(1).write_backs, 1);
}

// 8 bytes are written at a time: that much crosses the link, not a line.
TEST(Write_through, Sends_the_bytes_that_are_written) {
  auto l1 = level(1, 2);
  l1.write = WritePolicy::write_through;
  LineHits lines({l1, level(1, 4)});
  EXPECT_FALSE(lines.write(0));
  EXPECT_TRUE(lines.write(0));
  EXPECT_EQ(lines.at(0).writes_through, 2);
  EXPECT_EQ(lines.at(0).bytes_out, Bytes(16));
  EXPECT_EQ(lines.at(0).write_backs, 0);
  EXPECT_EQ(lines.at(1).hits, 2);  // both writes: the first one's fetch had put it there
  lines.drain();
  EXPECT_EQ(lines.at(1).write_backs, 1);
}

TEST(No_write_allocate, A_write_that_misses_goes_on_and_leaves_the_level_as_it_was) {
  auto l1 = level(1, 2);
  l1.write_allocate = false;
  LineHits lines({l1});
  EXPECT_FALSE(lines.write(0));
  EXPECT_FALSE(lines.read(0));
  EXPECT_TRUE(lines.write(0));
  EXPECT_EQ(lines.at(0).fetches, 1);
  EXPECT_EQ(lines.at(0).bytes_out, Bytes(8));
  lines.drain();
  EXPECT_EQ(lines.at(0).bytes_out, Bytes(8 + 64));
}

// 0 is written, then 1 read, in one set of two ways; whether the write to 0 that follows refreshes
// it decides who leaves for 2.
TEST(Options, A_write_that_hits_refreshes_the_line_or_does_not) {
  for (const bool refreshes : {true, false}) {
    auto l1 = level(1, 2);
    l1.write_hit_refreshes = refreshes;
    LineHits lines({l1});
    lines.read(0);
    lines.read(1);
    lines.write(0);
    lines.read(2);
    EXPECT_EQ(lines.read(0), refreshes);
  }
}

// L1 has one line, L2 two. write 0, read 1: 0 is written back to L2 after 1 came there. 2 throws
// the older one out of L2.
TEST(Options, A_write_back_that_hits_refreshes_the_line_or_does_not) {
  for (const bool refreshes : {true, false}) {
    auto l2 = level(1, 2);
    l2.write_back_refreshes = refreshes;
    LineHits lines({level(1, 1), l2});
    lines.write(0);
    lines.hits({1, 2});
    const std::int64_t before = lines.at(1).hits;
    lines.read(0);
    EXPECT_EQ(lines.at(1).hits - before, refreshes ? 1 : 0);
  }
}

TEST(Options, A_write_back_that_misses_allocates_or_goes_on) {
  for (const auto rule : {WriteBackMiss::allocate, WriteBackMiss::pass}) {
    auto l2 = level(1, 1);
    l2.write_back_miss = rule;
    LineHits lines({level(1, 1), l2});
    lines.write(0);
    lines.read(1);  // throws 0 out of L2, then 0 comes from L1
    EXPECT_EQ(lines.at(1).write_backs, rule == WriteBackMiss::pass ? 1 : 0);
    EXPECT_EQ(lines.at(1).fetches, 2);
    lines.drain();
    EXPECT_EQ(lines.at(1).write_backs, 1);
  }
}

// L1 lines of 32 bytes in L2 lines of 128: four neighbours cost one line of L2.
TEST(Line_sizes, Each_level_has_its_own) {
  auto l1 = level(4, 2), l2 = level(4, 2);
  l1.line = Bytes(32);
  l2.line = Bytes(128);
  System<> s({"test", {l1, l2}}, {1u << 30});
  s.access(0, 0, 128, false);
  EXPECT_EQ(s.events(0).misses, 4);
  EXPECT_EQ(s.events(1).misses, 1);
  EXPECT_EQ(s.events(0).bytes_in, Bytes(128));
  EXPECT_EQ(s.events(1).bytes_in, Bytes(128));
}

// Two cores, private L1 and a shared L2: the second core finds in L2 what the first one brought.
TEST(Cores, Share_the_levels_that_they_share) {
  auto l2 = level(4, 4);
  l2.shared_by = 2;
  LineHits lines({level(1, 2), l2}, 2);
  EXPECT_FALSE(lines.read(5, 0));
  EXPECT_FALSE(lines.read(5, 1));
  EXPECT_TRUE(lines.read(5, 0));
  EXPECT_EQ(lines.at(1).misses, 1);
  EXPECT_EQ(lines.at(1).hits, 1);
}

// 64 lines in a row, a page: each odd one is there before it is asked for; after the last line of
// the page nothing is fetched.
TEST(Next_line, Fetches_the_line_behind_a_miss_within_the_page) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::next_line;
  LineHits lines({l1});
  for (std::uint64_t line = 0; line < 64; ++line) EXPECT_EQ(lines.read(line), line % 2 == 1);
  EXPECT_EQ(lines.at(0).prefetches, 32);
  EXPECT_EQ(lines.at(0).useful_prefetches, 32);
  EXPECT_EQ(lines.at(0).fetches, 64);
}

// Steps of 3 lines from 0: the step is known at 3, repeats at 6, and from 9 on lines are there.
TEST(Stride, Fetches_one_step_ahead_once_a_step_repeats) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::stride;
  EXPECT_EQ(LineHits({l1}).hits({0, 3, 6, 9, 12, 15}), "...hhh");
}

// Jouppi 1990: 0 and 4 fall on one line of a cache of four, and take turns. With a victim cache of
// one line both are there; the second is got back each time, and nothing is fetched again.
TEST(Victim_cache, Holds_what_a_direct_mapped_cache_lost) {
  auto l1 = level(4, 1);
  LineHits without({l1});
  EXPECT_EQ(without.hits({0, 4, 0, 4, 0, 4}), "......");
  l1.victim_lines = 1;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({0, 4, 0, 4, 0, 4}), "..hhhh");
  EXPECT_EQ(lines.at(0).victim_hits, 4);
  EXPECT_EQ(lines.at(0).fetches, 2);
  EXPECT_EQ(lines.at(0).fills, 2);
  EXPECT_EQ(lines.at(0).evictions, 0);
}

// Two sets of one way, two lines beside them for both. 0 2 4 leave 4 in its set and 0 2 beside; 1 3
// put 1 beside, for which 0 leaves, the oldest; 2 comes back, and 4 takes its place as the
// youngest.
TEST(Victim_cache, Loses_the_line_that_came_first) {
  auto l1 = level(2, 1);
  l1.victim_lines = 2;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({0, 2, 4, 1, 3}), ".....");
  EXPECT_EQ(lines.at(0).evictions, 1);
  EXPECT_EQ(lines.hits({2, 1, 4, 3, 0}), "hhhh.");
}

// A written line that waits beside the level is written back when it leaves, and not before; if it
// comes back it is still dirty.
TEST(Victim_cache, Writes_dirty_lines_back_when_they_leave) {
  auto l1 = level(1, 1);
  l1.victim_lines = 1;
  LineHits lines({l1, level(1, 4)});
  lines.write(0);
  lines.read(1);
  EXPECT_EQ(lines.at(0).write_backs, 0);
  EXPECT_TRUE(lines.read(0));
  lines.hits({1, 2});
  EXPECT_EQ(lines.at(0).write_backs, 1);
  lines.write(3);
  lines.read(4);
  lines.drain();
  EXPECT_EQ(lines.at(0).write_backs, 2);
}

// What an inclusive L2 loses leaves L1's victim cache as well.
TEST(Victim_cache, Loses_what_an_inclusive_level_loses) {
  auto l1 = level(1, 1), l2 = level(1, 2);
  l1.victim_lines = 2;
  l2.inclusion = Inclusion::inclusive;
  LineHits lines({l1, l2});
  lines.write(0);
  EXPECT_EQ(lines.hits({1, 2, 0}), "...");  // 2 takes 0 out of L2, and 0 then takes 1
  EXPECT_EQ(lines.at(0).invalidations, 2);
  EXPECT_EQ(lines.at(0).write_backs, 1);
}

// A line beside the level is not fetched again.
TEST(Victim_cache, Is_looked_at_before_a_prefetch) {
  auto l1 = level(1, 1);
  l1.victim_lines = 2;
  l1.prefetch = Prefetch::next_line;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({5, 4, 5}), "..h");  // 5 brings 6; 4 would bring 5, which is beside it
  EXPECT_EQ(lines.at(0).prefetches, 1);
  EXPECT_EQ(lines.at(0).fetches, 3);
}

// The pairs are 0 1, 2 3 and 4 5; the second line of a page is not fetched for the first of the
// next.
TEST(Adjacent_line, Fetches_the_other_line_of_the_pair) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::adjacent_line;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({0, 1, 3, 2, 5, 4, 63, 64, 62, 65}), ".h.h.h..hh");
  EXPECT_EQ(lines.at(0).prefetches, 5);
  EXPECT_EQ(lines.at(0).useful_prefetches, 5);
}

// The third line in a row begins the stream, which fetches the rest of the page before it is asked
// for, and none of the next page. Request x names the lines up to 2x, until that is 20 ahead.
TEST(Streamer, Fetches_the_rest_of_a_page) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::streamer;
  LineHits up({l1}), down({l1});
  for (std::uint64_t line = 0; line < 64; ++line) {
    EXPECT_EQ(up.read(line), line > 2) << line;
    EXPECT_EQ(down.read(63 - line), line > 2) << line;
    const auto named =
        std::min<std::int64_t>({2 * std::int64_t(line), std::int64_t(line) + 20, 63});
    EXPECT_EQ(up.at(0).prefetches, line > 1 ? named - 2 : 0) << line;
  }
  EXPECT_FALSE(up.read(64));
  EXPECT_EQ(up.at(0).useful_prefetches, 61);
  EXPECT_EQ(down.at(0).prefetches, 61);
  EXPECT_EQ(down.at(0).fetches, 64);
}

TEST(Streamer, Runs_no_further_ahead_than_told) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::streamer;
  l1.prefetch_ahead = 1;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({0, 1, 2, 3, 4, 6, 7}), "...hh.h");
}

// Steps of any size are a stream, a line again is none; 10 12 15 name 16 and 17. 14 turns back, 9
// is the second request that way and names 8 and 7.
TEST(Streamer, Begins_with_the_third_request_in_one_direction) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::streamer;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({10, 10, 12, 12, 13}), ".h.h.");
  EXPECT_EQ(lines.at(0).prefetches, 2);
  LineHits turns({l1});
  EXPECT_EQ(turns.hits({10, 12, 15, 16, 14, 9, 8, 7}), "...h..hh");
}

// 31 other pages leave room for the stream, 32 do not.
TEST(Streamer, Follows_32_pages) {
  for (const std::uint64_t others : {31u, 32u}) {
    auto l1 = level(1, 128);
    l1.prefetch = Prefetch::streamer;
    LineHits lines({l1});
    lines.hits({0, 1});
    for (std::uint64_t page = 1; page <= others; ++page) lines.read(64 * page);
    EXPECT_EQ(lines.hits({2, 3}), others == 31 ? ".h" : "..");
  }
}

// 0 brings 1. 2, the third request upward, brings 3 and 4, and 5 then 6 ... before they are asked
// for.
TEST(Streamer, Goes_with_the_adjacent_line) {
  auto l1 = level(1, 128);
  l1.prefetch = Prefetch::streamer_and_adjacent_line;
  LineHits lines({l1});
  EXPECT_EQ(lines.hits({0, 1, 2, 3, 4, 5}), ".h.hhh");
}

// What L1 prefetches is asked of L2, whose own streamer sees it.
TEST(Streamer, Sees_what_the_level_inside_prefetches) {
  auto l1 = level(1, 4), l2 = level(1, 128);
  l1.prefetch = Prefetch::next_line;
  l2.prefetch = Prefetch::streamer;
  LineHits lines({l1, l2});
  lines.hits({0, 2});  // L2 is asked for 0, 1, 2 and 3
  EXPECT_EQ(lines.at(1).misses, 3);
  EXPECT_EQ(lines.at(1).hits, 1);
  EXPECT_EQ(lines.at(1).prefetches, 4);
}

// Lines 0, 4, 8 and 12 fall on one of 4 sets by modulo. Hashed, their upper two bits, 0 to 3, are
// their sets; 5 = 01 01 falls on set 0 and takes 0's place.
TEST(Hashed, Spreads_lines_that_are_a_power_of_two_apart) {
  LevelConfig l1 = level(4, 1);
  EXPECT_EQ(LineHits({l1}).hits({0, 4, 8, 12, 0, 4, 8, 12}), "........");
  l1.index = parse_set_index("hashed");
  EXPECT_EQ(LineHits({l1}).hits({0, 4, 8, 12, 0, 4, 8, 12, 5, 0, 4}), "....hhhh..h");
}

// Of 3 sets the last one's number has 2 bits: 4 ^ 1 = 5 and 8 ^ 2 = 10 are 2 and 1 modulo 3.
// 37 = 10 01 01: 37 ^ 9 ^ 2 = 46, which is 1 modulo 3.
TEST(Hashed, Takes_any_number_of_sets) {
  LevelConfig l = level(3, 1);
  l.index = parse_set_index("hashed");
  const SetHash hash(l);
  EXPECT_EQ(hash.set_of(3), 0u);
  EXPECT_EQ(hash.set_of(4), 2u);
  EXPECT_EQ(hash.set_of(8), 1u);
  EXPECT_EQ(hash.set_of(37), 1u);
  l.sets = 1;
  EXPECT_EQ(SetHash(l).set_of(37), 0u);
}

// Two slices of two sets, told apart by bit 8 of the address, which is bit 2 of the line: 0 and 2
// share a set, and 4 and 6.
TEST(Sliced, Chooses_the_slice_by_the_parity_under_its_masks) {
  LevelConfig l1 = level(4, 1);
  l1.index = parse_set_index("0x100");
  EXPECT_EQ(LineHits({l1}).hits({0, 4, 1, 5, 0, 4, 1, 5, 2, 0, 4, 6, 4}), "....hhhh..h..");
}

// Maurice et al. 2015, Table 2, for 8 slices of 2048 sets: of the bits of an address 6, 7 and 8
// are in the first, second and third sum alone, 9 in none, 12 and 16 in the first and third, 17 in
// the first two, 18 in the first, 19, 23 and 37 in the last two, 22 in all.
TEST(Sliced, Has_the_slices_of_intels_caches) {
  LevelConfig l = level(8 * 2048, 16);
  l.index = parse_set_index("sliced-8");
  const SetHash hash(l);
  const auto slice = [&](int bit) { return hash.set_of((std::uint64_t{1} << bit) / 64) / 2048; };
  const std::pair<int, unsigned> slices[] = {{6, 1},  {7, 2},  {8, 4},  {9, 0},  {12, 5}, {16, 5},
                                             {17, 3}, {18, 1}, {19, 6}, {22, 7}, {23, 6}, {37, 6}};
  for (const auto& [bit, wanted] : slices) EXPECT_EQ(slice(bit), wanted) << bit;
  // Line 0x12345 lies in place 0x345 of its slice. Of the address's bits 6, 8, 12, 14, 15, 19 and
  // 22 the first sum has 6, 12, 14 and 22, the second 15, 19 and 22, the third 8, 12, 19 and 22.
  EXPECT_EQ(hash.set_of(0x12345), 2u * 2048 + 0x345);
}

TEST(Config, Names_the_level_that_cannot_be) {
  const auto message = [](SystemConfig c) -> std::string {
    try {
      check(c);
    } catch (const UnsupportedError& e) {
      return e.what();
    }
    return "";
  };
  SystemConfig config{"m", {level(8, 2), level(8, 8)}};
  config.levels[0].name = "L1";
  config.levels[1].name = "L2";
  EXPECT_EQ(message(config), "");
  auto c = config;
  c.levels[1].line = Bytes(48);
  EXPECT_EQ(message(c), "m: L2: lines of 48 bytes are not simulated; use a power of two");
  c = config;
  c.levels[1].inclusion = Inclusion::exclusive;
  c.levels[1].line = Bytes(128);
  EXPECT_EQ(message(c),
            "m: L2: it is exclusive, and its lines have 128 bytes, those of L1 64; give both the "
            "same line size");
  c = config;
  c.levels[0].inclusion = Inclusion::inclusive;
  EXPECT_EQ(message(c),
            "m: L1: inclusion inclusive, but no level lies inside it; give it the "
            "inclusion neither");
  c = config;
  c.levels[0].shared_by = 2;
  EXPECT_EQ(message(c),
            "m: L2: 1 cores share it, 2 share L1; let it be shared by a multiple of 2 "
            "cores");
  c = config;
  c.levels[1].prefetch = Prefetch::streamer;
  c.levels[1].prefetch_ahead = 0;
  EXPECT_EQ(message(c), "m: L2: it prefetches 0 lines ahead; give at least 1");
  c = config;
  c.levels[1].inclusion = Inclusion::exclusive;
  c.levels[1].victim_lines = 1;
  EXPECT_EQ(message(c),
            "m: L2: it is exclusive and has a victim cache; use victim_lines 0; an exclusive level "
            "holds victims itself");
  c = config;
  c.levels[1].sets = 12;
  c.levels[1].index = parse_set_index("sliced-8");
  EXPECT_EQ(message(c),
            "m: L2: 12 sets in 8 slices; give it a number of sets that is a multiple of its "
            "slices, or the index modulo or hashed");
  c = config;
  c.levels[1].index = parse_set_index("0x100,0x40");  // 2 sets in a slice: bit 6 is their number
  EXPECT_EQ(message(c),
            "m: L2: no line lies in some of its sets, because the bits of its masks from 7 on "
            "cancel out; give masks with other bits of those");
  c.levels[1].sets = 12;  // 6 in a slice: bit 6 says whether the number there is even
  c.levels[1].index = parse_set_index("0x40");
  EXPECT_NE(message(c).find("its masks from 7 on cancel out"), std::string::npos);
  c.levels[1].sets = 6;
  EXPECT_EQ(message(c), "");
  c.levels[1].index = parse_set_index("0x20");  // within the line
  EXPECT_NE(message(c).find("its masks from 6 on cancel out"), std::string::npos);
}

// Against the twin.

std::string describe(const SystemConfig& config) {
  std::ostringstream s;
  s << config.cores << " cores";
  for (const LevelConfig& l : config.levels) {
    s << "\n  " << l.sets << "x" << l.ways << "x" << l.line.value() << " " << to_text(l.replacement)
      << " " << tcsim::to_text(l.inclusion) << " " << tcsim::to_text(l.write) << " allocate "
      << l.write_allocate << " prefetch " << to_text(l.prefetch) << l.prefetch_ahead << " shared "
      << l.shared_by << " rules " << l.write_hit_refreshes << l.write_back_refreshes
      << (l.write_back_miss == WriteBackMiss::allocate) << (l.empty_ways == EmptyWays::tree)
      << " index " << to_text(l.index) << " victims " << l.victim_lines;
    if (l.qlru) {
      s << fmt::format(" QLRU_H{}{}_M{}{}_R{}_U{}{}", l.qlru->from_3, l.qlru->from_2,
                       l.qlru->insertion,
                       l.qlru->rare_insertion ? fmt::format("R{}", *l.qlru->rare_insertion) : "",
                       l.qlru->replace, l.qlru->update, l.qlru->update_on_miss_only ? "_UMO" : "");
    }
  }
  return s.str();
}

void expect_equal(const System<>& fast, const twin::System& slow) {
  for (int l = 0; l < fast.level_count(); ++l) {
    const LevelEvents f = fast.events(l), &s = slow.events[std::size_t(l)];
    ASSERT_EQ(f.hits, s.hits) << "level " << l;
    ASSERT_EQ(f.misses, s.misses) << "level " << l;
    ASSERT_EQ(f.victim_hits, s.victim_hits) << "level " << l;
    ASSERT_EQ(f.fetches, s.fetches) << "level " << l;
    ASSERT_EQ(f.prefetches, s.prefetches) << "level " << l;
    ASSERT_EQ(f.useful_prefetches, s.useful_prefetches) << "level " << l;
    ASSERT_EQ(f.fills, s.fills) << "level " << l;
    ASSERT_EQ(f.evictions, s.evictions) << "level " << l;
    ASSERT_EQ(f.invalidations, s.invalidations) << "level " << l;
    ASSERT_EQ(f.write_backs, s.write_backs) << "level " << l;
    ASSERT_EQ(f.clean_victims, s.clean_victims) << "level " << l;
    ASSERT_EQ(f.writes_through, s.writes_through) << "level " << l;
    ASSERT_EQ(f, s) << "level " << l;
  }
}

// Every policy and inclusion behind an L1 of one set of 2 ways, with every sequence of 4 accesses
// to 4 lines, reads and writes, and a pass over 5 lines behind it.
TEST(System, Equals_its_twin_on_every_short_sequence_in_small_caches) {
  for (const Replacement r : all_replacements) {
    for (const auto inclusion : {Inclusion::neither, Inclusion::inclusive, Inclusion::exclusive}) {
      for (const std::int64_t ways : {1, 2, 3}) {
        auto l1 = level(1, 2, r), l2 = level(ways == 3 ? 1 : 2, ways, r);
        l2.inclusion = inclusion;
        const SystemConfig config{"small", {l1, l2}};
        SCOPED_TRACE(describe(config));
        for (unsigned code = 0; code < (1u << 12); code += test::one_of) {
          System<> fast(config, {1u << 30});
          twin::System slow(config);
          for (int i = 0; i < 4; ++i) {
            const unsigned a = code >> (3 * i) & 7;
            fast.access(0, (a & 3) * 64, 8, (a & 4) != 0);
            slow.access(0, (a & 3) * 64, 8, (a & 4) != 0);
          }
          for (const unsigned line : {4u, 0u, 1u, 2u, 3u}) {
            fast.access(0, line * 64, 8, false);
            slow.access(0, line * 64, 8, false);
          }
          fast.drain();
          slow.drain();
          ASSERT_NO_FATAL_FAILURE(expect_equal(fast, slow)) << "code " << code;
        }
      }
    }
  }
}

class RandomSystem {
 public:
  explicit RandomSystem(unsigned seed) : random_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  SystemConfig config() {
    SystemConfig c;
    c.name = "random";
    c.seed = static_cast<std::uint64_t>(between(1, 1000));
    c.cores = static_cast<int>(chance(50) ? 1 : between(2, 4));
    const std::int64_t count = between(1, 4);
    for (std::int64_t l = 0; l < count; ++l) c.levels.push_back(level_behind(c, l));
    return c;
  }

 private:
  LevelConfig level_behind(const SystemConfig& c, std::int64_t number) {
    const std::int64_t many = chance(50) ? between(60, 70) : between(10, 40);
    LevelConfig l = level(between(1, 12), chance(20) ? many : between(1, 9),
                          all_replacements[std::size_t(between(0, 6))]);
    if (l.replacement == Replacement::tree_plru && l.ways <= 64 && chance(40)) {
      l.empty_ways = EmptyWays::tree;
    } else if (l.ways >= 2 && l.ways <= 64 && chance(30)) {
      const std::string names[] = {fmt::format("QLRU_H{}_M{}_R1_U{}", chance(50) ? "11" : "21",
                                               between(0, 3), between(0, 3)),
                                   fmt::format("QLRU_H{}_M{}_R{}_U{}", chance(50) ? "00" : "20",
                                               between(0, 3), 2 * between(0, 1), between(0, 1))};
      l.qlru = qlru_named(names[between(0, 1)] + (chance(30) ? "_UMO" : ""));
      if (chance(40) && l.qlru->insertion > 0) {
        l.qlru->rare_insertion = static_cast<std::uint8_t>(between(0, l.qlru->insertion - 1));
      }
    }
    l.name = "L" + std::to_string(number + 1);
    l.line = Bytes(std::int64_t{1} << between(4, 7));
    if (number > 0) {
      const LevelConfig& inside = c.levels.back();
      if (chance(50)) l.line = inside.line;
      if (chance(60)) {
        l.inclusion =
            l.line == inside.line && chance(50) ? Inclusion::exclusive : Inclusion::inclusive;
        if (l.line < inside.line) l.inclusion = Inclusion::neither;
      }
      l.shared_by = inside.shared_by * static_cast<int>(between(1, 2));
    }
    if (chance(25) && l.inclusion != Inclusion::exclusive) {
      l.victim_lines = static_cast<int>(between(1, 6));
    }
    if (chance(20)) {
      l.index.hashed = true;
    } else if (chance(20)) {
      slice(l);
    }
    if (chance(20)) l.write = WritePolicy::write_through;
    l.write_allocate = chance(80);
    if (chance(30) && l.inclusion != Inclusion::exclusive) {
      l.prefetch = all_prefetches[std::size_t(between(1, 5))];
      l.prefetch_ahead = static_cast<int>(between(1, 30));
    }
    l.write_hit_refreshes = chance(80);
    l.write_back_refreshes = chance(80);
    l.write_back_miss = chance(80) ? WriteBackMiss::allocate : WriteBackMiss::pass;
    return l;
  }

  // Up to 8 slices, by masks of which each has a bit of its own above those of sets, and below.
  void slice(LevelConfig& l) {
    l.sets *= std::int64_t{1} << between(1, 3);
    for (int i = 0; i < 3 && l.sets % 2 == 0; ++i) {
      if (l.sets % (std::int64_t{2} << i) != 0) break;
      l.index.masks.push_back((std::uint64_t{1} << (20 + i)) | std::uint64_t(between(0, 0xfffff)));
    }
  }

  std::mt19937 random_;
};

TEST(System, Equals_its_twin_on_random_systems_and_accesses) {
  for (unsigned seed = 1; seed <= test::draws(1500); ++seed) {
    RandomSystem random(seed);
    const SystemConfig config = random.config();
    SCOPED_TRACE(testing::Message() << "seed " << seed << ": " << describe(config));
    System<> fast(config, {1u << 30});
    twin::System slow(config);
    const std::int64_t reach = random.between(200, 20000);
    std::int64_t place = 0, step = 0;
    for (int i = 0; i < 600; ++i) {
      if (random.chance(30)) {
        place = random.between(0, reach);
        step = random.between(-300, 300);
      }
      place = std::max<std::int64_t>(0, place + step);
      const auto address = static_cast<std::uint64_t>(place);
      const auto bytes = static_cast<std::uint64_t>(random.between(1, random.chance(10) ? 300 : 8));
      const int core = static_cast<int>(random.between(0, config.cores - 1));
      const bool write = random.chance(30);
      fast.access(core, address, bytes, write);
      slow.access(core, address, bytes, write);
    }
    fast.drain();
    slow.drain();
    ASSERT_NO_FATAL_FAILURE(expect_equal(fast, slow));
  }
}

}  // namespace
}  // namespace tcsim::sim
