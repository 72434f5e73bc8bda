// Chains on explicit levels, run: right results, and what moves and is held as predicted. The same
// program runs as one process and, started by mpirun, as several: then random plans are of as many
// processes.
#include <gtest/gtest.h>

#include <csignal>
#include <random>
#include <string>
#include <vector>

#include "chains/levels/global_memory.hpp"
#include "chains/levels/windows.hpp"
#include "chains/rows.hpp"
#include "chains/run_chain.hpp"
#include "core/error.hpp"
#include "kernels/contract.hpp"
#include "tests/chains/levels/level_runs.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/core/levels/random_levels.hpp"
#include "tests/seed.hpp"

namespace tcsim::chains {
namespace {

using fusion::OperationTree;
using levels::Hierarchy;
using levels::LevelPlan;

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

// Parts of a tile that are drawn: what one process puts, another one gets, and what all add is
// there once from each; through MPI and without.
TEST_F(LevelRuns, Share_memory_through_MPI_and_directly) {
  const std::uint64_t seed = team_.rank() == 0 ? test::new_seed() : 0;
  std::mt19937_64 random(static_cast<std::uint64_t>(shared(static_cast<std::int64_t>(seed))));
  const auto pick = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  for (int trial = 0; trial < 12; ++trial) {
    std::vector<fusion::Range> whole, part;
    for (std::int64_t axis = 0, axes = pick(1, 4); axis < axes; ++axis) {
      whole.push_back({pick(0, 3), pick(1, 6)});
      const std::int64_t size = pick(1, whole.back().size);
      part.push_back({whole.back().begin + pick(0, whole.back().size - size), size});
    }
    const std::int64_t all = elements_of(whole), some = elements_of(part);
    const auto writer = static_cast<int>(pick(0, team_.size() - 1));
    const std::int64_t room = 3 + GlobalMemory<double>::piece(all, team_.size());
    SCOPED_TRACE(trial);
    for (bool direct : {false, true}) {
      if (direct && team_.on_this_node() < team_.size()) continue;
      const auto memory = team_.size() > 1 ? windows<double>(team_, room, direct)
                                           : global_memory<double>(team_, room);
      const auto below = memory->open({{0, team_.size()}});  // so that tiles begin anywhere
      const auto tile = memory->open(whole);
      memory->clear(tile);
      memory->fence();
      std::vector<double> put(static_cast<std::size_t>(some)), added(put.size(), 2),
          got(put.size());
      for (std::size_t i = 0; i < put.size(); ++i) put[i] = static_cast<double>(i + 1);
      if (team_.rank() == writer) memory->put(tile, part, put.data());
      memory->fence();
      memory->add(tile, part, added.data());
      memory->fence();
      memory->get(tile, part, got.data());
      for (double& x : put) x += 2 * team_.size();
      EXPECT_EQ(got, put);
      std::vector<double> everything(static_cast<std::size_t>(all));
      memory->get(tile, whole, everything.data());
      double sum = 0, right = 0;
      for (double x : everything) sum += x;
      for (double x : put) right += x;
      EXPECT_EQ(sum, right);  // nothing beside the part
      memory->fence();
      memory->close(tile);
      memory->close(below);
    }
    if (shared(HasFailure() ? 1 : 0) != 0) return;
  }
}

TEST_F(LevelRuns, Have_the_same_result_fused_and_unfused) {
  const InTwoParts chain(team_);
  EXPECT_EQ(run(chain.tree, chain.h, chain.plan, options()).parts, 2);
  const std::vector<double> right = result();
  EXPECT_FALSE(fs::exists(folder_ / "T.h5"));
  EXPECT_FALSE(fs::exists(folder_ / "tcsim-run.json"));
  LevelRunOptions o = options();
  o.force = true;
  const LevelPlan fused = levels::prescribe(chain.tree, chain.h);
  EXPECT_EQ(run(chain.tree, chain.h, fused, o).counts, fused.counts);
  EXPECT_EQ(result(), right);
  team_.barrier();
}

TEST_F(LevelRuns, Are_refused_before_anything_is_written) {
  const InTwoParts chain(team_);
  LevelRunOptions o = options();
  o.fill = false;
  const auto refused = [&](const Hierarchy& h, const LevelPlan& plan) {
    return refusal_of<Error>([&] { run(chain.tree, h, plan, o); });
  };
  EXPECT_NE(refused(chain.h, chain.plan).find(".h5"), std::string::npos);
  Hierarchy other = chain.h;
  other.levels[0].instances = 7;
  EXPECT_EQ(refused(other, chain.plan),
            "--run: the machine has 7 processes and " + std::to_string(team_.size()) +
                " were started; start mpirun -n 7 tcsim ..., or leave out what sets processes");
  other = chain.h;
  other.overlap = true;
  EXPECT_NE(refused(other, chain.plan).find("--overlap"), std::string::npos);
  o.folder = folder_ / "nowhere";
  EXPECT_NE(refused(chain.h, chain.plan).find("is no folder"), std::string::npos);
  o = options();
  o.resume = true;
  EXPECT_NE(refused(chain.h, chain.plan).find("no run ended here"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_));
  team_.barrier();
  run(chain.tree, chain.h, chain.plan, options());
  o = options();
  EXPECT_NE(refused(chain.h, chain.plan).find("is there already; move it, or say --force"),
            std::string::npos);
}

TEST_F(LevelRuns, Refuse_more_than_a_level_has) {
  InTwoParts chain(team_);
  if (team_.size() > 1) return;  // it ends all processes
  chain.h.levels[0].capacity = Bytes(64);
  EXPECT_NE(refusal_of<UnsupportedError>([&] {
              run(chain.tree, chain.h, chain.plan, options());
            }).find("local would hold"),
            std::string::npos);
}

TEST_F(DeadRuns, DISABLED_By_a_signal) {
  end([] { raise(SIGKILL); });
}
TEST_F(DeadRuns, DISABLED_By_an_error) {
  end([] { throw InputError("the input", "is bad", "make it good"); });
}
TEST_F(DeadRuns, DISABLED_Go_on) {
  const InTwoParts chain(team_);
  LevelRunOptions o = in_given_folder();
  EXPECT_NE(refusal_of<InputError>([&] {
              run(chain.tree, chain.h, chain.plan, o);
            }).find("say --resume to go on behind its last part, or --force to begin again"),
            std::string::npos);
  o.resume = true;
  const LevelRun ran = run(chain.tree, chain.h, chain.plan, o);
  EXPECT_EQ(ran.done_before, 1);
  if (team_.rank() == 0) {
    EXPECT_EQ(check_chain(chain.tree, o.folder, 1), 0);
  }
  team_.barrier();
}

}  // namespace
}  // namespace tcsim::chains
