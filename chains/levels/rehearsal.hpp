// Which of several plans of a chain is the quickest here. Plans say that arithmetic takes a rate
// and a time for each byte, but single shapes of tiles take several times as long, and where plans
// move nearly the same that decides. So their statements are tried, on tiles of the shapes that
// each plan has: as a run does them, by the same schedules in the same kind of memory, but a few
// times each and without files.
#pragma once

#include <functional>
#include <stop_token>
#include <vector>

#include "core/levels/plan.hpp"
#include "core/machine/machine.hpp"
#include "processes/processes.hpp"

namespace tcsim::chains {

struct Rehearsed {
  levels::LevelPlan plan;
  Seconds arithmetic{0};  // of the process that takes longest

  // With that in place of what the plan says of it.
  Seconds time() const { return plan.time() - plan.times.arithmetic + arithmetic; }
};

struct RehearseOptions {
  // Plans that are predicted to take so much more than the best one are not tried: 0.25 a quarter.
  double within = 0.25;
  int threads = 1;  // of each process's arithmetic
  // How long tiles run at most before no further plan is tried.
  Seconds most{2};
  std::function<void(double share)> progress = [](double) {};
  std::stop_token stop = {};
};

// The plan, and those of its rivals() that can be quicker, in the order of what is predicted. One
// alone is not tried. Collective over the team: all get the same. `machine` is the one that runs
// them, for the executor's schedules. Throws UnsupportedError where the plan would not run; rivals
// that would not are left out.
std::vector<Rehearsed> rehearse(const fusion::OperationTree& tree,
                                const levels::Hierarchy& hierarchy, const levels::LevelPlan& plan,
                                const Machine& machine, const Processes& team,
                                const RehearseOptions& options);

// How often the first process does a statement on tiles of a shape.
struct LeafRuns {
  fusion::Leaf leaf;
  bool begins = false;  // its result is not set yet, rather than added to
  double times = 0;
};
std::vector<LeafRuns> leaf_runs(const fusion::OperationTree& tree, const levels::Node& node);

}  // namespace tcsim::chains
