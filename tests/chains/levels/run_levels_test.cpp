// Chains on explicit levels, run: right results, and what moves and is held as predicted. The same
// program runs as one process and, started by mpirun, as several: then random plans are of as many
// processes.
#include "chains/levels/run_levels.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "chains/levels/runs.hpp"
#include "chains/run_chain.hpp"
#include "chains/tensor_files.hpp"
#include "core/error.hpp"
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
std::int64_t shared(std::int64_t mine) { return Processes::all().gathered({mine}).front().front(); }

class LevelRuns : public ::testing::Test {
 protected:
  LevelRuns() : folder_(test::scratch("levels", of_all_)) { empty(); }
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
  // Of a pair of products.
  std::vector<double> result() const {
    std::vector<double> values(32 * 32);
    TensorFile::open(folder_ / "B.h5", {32, 32}, ElementType::f64, TensorFile::Access::read)
        .read({{0, 32}, {0, 32}}, values.data());
    team_.barrier();
    return values;
  }

  const Processes& team_ = Processes::all();
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

// A chain that goes through the disk between its statements.
struct InTwoParts {
  explicit InTwoParts(const Processes& team) {
    h.levels = {{"local", Bytes(4096), team.size(), BytesPerSecond(1e9), Seconds(1e-6)},
                {"global", Bytes(16384), 1, BytesPerSecond(1e8), Seconds(1e-4)},
                {"disk", Bytes(0), 1, BytesPerSecond(0), Seconds(0)}};
    h.rate = FlopsPerSecond(1e9);
    plan = levels::prescribe(tree, h, levels::unfused(tree, h));
  }
  OperationTree tree = fusion::pair_of(32);
  Hierarchy h;
  LevelPlan plan;
};

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

template <class E, class F>
std::string refusal_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
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

// For the script `dies`: in a folder that it names, the second process ends in the second part, by
// a signal or by an error; then the run goes on.
class DeadRuns : public LevelRuns {
 protected:
  LevelRunOptions in_given_folder() const {
    LevelRunOptions o = options();
    o.folder = std::getenv("TCSIM_FOLDER");
    return o;
  }
  void end(const std::function<void()>& how) const {
    const InTwoParts chain(team_);
    LevelRunOptions o = in_given_folder();
    o.progress = [&](double share) {
      if (team_.rank() == 1 && share > 0.6) how();
    };
    run(chain.tree, chain.h, chain.plan, o);
  }
};

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
