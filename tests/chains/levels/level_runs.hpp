// Runs of chains on explicit levels by all processes of the test, in a folder of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "chains/levels/run_levels.hpp"
#include "chains/tensor_files.hpp"
#include "core/error.hpp"
#include "core/levels/plan.hpp"
#include "kernels/contract.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/scratch.hpp"

namespace tcsim::chains {

namespace fs = std::filesystem;
using fusion::OperationTree;
using levels::Hierarchy;
using levels::LevelPlan;

// The first process's number, for all.
inline std::int64_t shared(std::int64_t mine) {
  return Processes::all().gathered({mine}).front().front();
}

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
    TensorFile::open(folder_ / "B.h5", {32, 32}, ElementType::f64)
        .read({{0, 32}, {0, 32}}, values.data());
    team_.barrier();
    return values;
  }

  const Processes& team_ = Processes::all();
  const std::int64_t of_all_ = shared(getpid());
  const Machine machine_ = assumed_machine();
  const fs::path folder_;
};

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

}  // namespace tcsim::chains
