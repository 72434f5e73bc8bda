// Chains that run in several ways, and which of them was the right one.
#include "bench/level_runs.hpp"

#include <gtest/gtest.h>

#include <set>

#include "chains/tensor_files.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/scratch.hpp"

namespace tcsim::bench {
namespace {

namespace fs = std::filesystem;

levels::Hierarchy small_levels(std::int64_t local, std::int64_t global) {
  levels::Hierarchy h;
  h.levels = {{"local", Bytes(local), 1, BytesPerSecond(1e9), Seconds(1e-6)},
              {"global", Bytes(global), 1, BytesPerSecond(1e8), Seconds(1e-4)},
              {"disk", Bytes(0), 1, BytesPerSecond(0), Seconds(0)}};
  h.rate = FlopsPerSecond(1e9);
  return h;
}

std::set<std::string> names_of(const std::vector<LevelProgram>& programs) {
  std::set<std::string> names;
  for (const LevelProgram& p : programs) names.insert(p.name);
  return names;
}

TEST(LevelRunsInTurns, AreAllWaysToFuseAPair) {
  const auto tree = fusion::pair_of(32);
  const auto h = small_levels(4096, 16384);
  const std::vector<LevelProgram> programs = ways_to_run(tree, h);
  EXPECT_EQ(names_of(programs), (std::set<std::string>{"unfused", "T in global", "T in local"}));
  EXPECT_EQ(programs.back().plan.time(), levels::optimum(tree, h).plan.time());
  for (const LevelProgram& p : programs) {
    EXPECT_EQ(p.simulated, p.plan.counts);
    EXPECT_GE(p.plan.time(), programs.back().plan.time());
  }
  // Of three intermediates those with all in one level, and the optimum.
  const std::vector<LevelProgram> longer =
      ways_to_run(fusion::four_index(6, 6), small_levels(100000, 200000));
  EXPECT_GE(longer.size(), 3u);
  EXPECT_LE(longer.size(), 4u);
}

TEST(LevelRunsInTurns, MoveWhatIsPredictedAndLeaveNothing) {
  if (!chains::has_tensor_files()) return;
  const auto tree = fusion::pair_of(32);
  const auto h = small_levels(4096, 16384);
  std::vector<LevelProgram> programs = ways_to_run(tree, h);
  const fs::path folder = test::scratch("turns");
  fs::create_directory(folder);
  run_in_turns(tree, h, programs, Processes::all(), folder, 2);
  for (const LevelProgram& p : programs) {
    EXPECT_EQ(p.runs.size(), 2u);
    EXPECT_TRUE(p.as_predicted()) << p.name;
    EXPECT_GT(p.total(), Seconds(0));
  }
  EXPECT_TRUE(fs::is_empty(folder));
  fs::remove(folder);
  programs.front().runs.back().counts.high_water.front() += Bytes(8);
  EXPECT_FALSE(programs.front().as_predicted());
}

// Times by hand.
TEST(LevelRunsInTurns, SayWhatTheChoiceLost) {
  const auto program = [](const std::vector<double>& seconds) {
    LevelProgram p;
    for (double s : seconds) {
      p.runs.emplace_back();
      p.runs.back().total = Seconds(s);
      p.runs.back().links = {Seconds(s / 4), Seconds(s / 2)};
      p.runs.back().arithmetic = Seconds(s / 8);
    }
    return p;
  };
  const LevelProgram quick = program({9, 4}), slow = program({12, 10}), middle = program({6, 5});
  EXPECT_EQ(quick.total(), Seconds(4));
  EXPECT_EQ(quick.link(0), Seconds(1));
  EXPECT_EQ(quick.link(1), Seconds(2));
  EXPECT_EQ(quick.arithmetic(), Seconds(0.5));
  // Turn by turn 12/9 and 10/4, 6/9 and 5/4: the medians of two are their means.
  EXPECT_DOUBLE_EQ(longer_by(slow, quick), (12.0 / 9 + 10.0 / 4) / 2 - 1);
  EXPECT_DOUBLE_EQ(longer_by(middle, quick), (6.0 / 9 + 5.0 / 4) / 2 - 1);
  const std::vector<LevelProgram> all{quick, slow, middle};
  EXPECT_EQ(&quickest(all, all[0]), &all[2]);
  EXPECT_EQ(&quickest(all, all[1]), &all[2]);
  EXPECT_EQ(&quickest(all, all[2]), &all[2]);
  EXPECT_DOUBLE_EQ(at_stake(all), 1);
  // A turn in which the disk is slow for all of them decides nothing.
  EXPECT_DOUBLE_EQ(longer_by(program({20, 2, 4}), program({10, 2, 4})), 0);
}

}  // namespace
}  // namespace tcsim::bench
