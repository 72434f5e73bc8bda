// Chains on explicit levels, run: right results, and what moves and is held as predicted. The same
// program runs as one process and, started by mpirun, as several: then random plans are of as many
// processes.
#include "chains/levels/run_levels.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "chains/levels/runs.hpp"
#include "chains/run_chain.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/scratch.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

namespace fs = std::filesystem;
using fusion::OperationTree;
using levels::Hierarchy;
using levels::LevelPlan;

// The first process's number, for all.
std::int64_t shared(std::int64_t mine) { return Team::all().gathered({mine}).front().front(); }

class LevelRuns : public ::testing::Test {
 protected:
  LevelRuns() : folder_(fs::temp_directory_path() / ("tcsim.levels." + std::to_string(of_all_))) {
    empty();
  }
  ~LevelRuns() override {
    team_.barrier();
    if (team_.rank() == 0) fs::remove_all(folder_);
  }
  void empty() const {
    team_.barrier();
    if (team_.rank() == 0) {
      fs::remove_all(folder_);
      fs::create_directory(folder_);
    }
    team_.barrier();
  }
  LevelRunOptions options() const {
    LevelRunOptions o;
    o.folder = folder_;
    o.fill = true;
    o.numbers.whole = true;
    return o;
  }
  LevelRun run(const OperationTree& tree, const Hierarchy& h, const LevelPlan& plan,
               const LevelRunOptions& o) const {
    return run_levels(tree, h, plan.node, machine_, team_, o);
  }
  // One process of those that the team has, and one shared level.
  Hierarchy with_team(Hierarchy h) const {
    for (levels::Hierarchy::Level& l : h.levels) l.instances = 1;
    if (h.links() < 2) h.levels.insert(h.levels.begin(), h.levels.front());
    h.levels[static_cast<std::size_t>(h.links() - 2)].instances = team_.size();
    h.overlap = false;
    return h;
  }
  std::string bytes_of(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
    return text.str();
  }

  const Team& team_ = Team::all();
  const std::int64_t of_all_ = shared(getpid());
  const Machine machine_ = assumed_machine();
  const fs::path folder_;
};

TEST_F(LevelRuns, Of_random_plans_are_right_and_as_predicted) {
  const std::uint64_t seed = team_.rank() == 0 ? test::new_seed() : 0;
  std::mt19937_64 random(static_cast<std::uint64_t>(shared(static_cast<std::int64_t>(seed))));
  levels::RandomLevels draw(random);
  int moved = 0;
  for (int trial = 0; trial < 24; ++trial) {
    empty();
    Program program = fusion::random_chain_program(random, 1 + trial % 3, 5);
    if (trial % 4 == 0) program = with_type(program, ElementType::f32);
    const OperationTree tree = fusion::operation_tree(program);
    Hierarchy h = with_team(draw.hierarchy());
    for (auto& l : h.levels) l.capacity = Bytes(0);  // plans are drawn whether they fit or not
    const LevelPlan plan = draw.plan(tree, h);
    const std::uint64_t places = random();
    SCOPED_TRACE(to_text(program) + to_text(tree, h, plan.node));
    const LevelRun ran = run(tree, h, plan, options());
    EXPECT_EQ(differences(tree, h, plan.counts, ran.counts), "");
    EXPECT_EQ(ran.counts, plan.counts);
    if (team_.rank() == 0) {
      for (std::uint64_t i = 0; i < 4; ++i) EXPECT_EQ(check_chain(tree, folder_, places + i), 0);
    }
    moved += ran.counts.links.front().sum().bytes() > 0;
    if (shared(HasFailure() ? 1 : 0) != 0) return;
  }
  EXPECT_GE(moved, 12);
}

}  // namespace
}  // namespace tcsim::chains
