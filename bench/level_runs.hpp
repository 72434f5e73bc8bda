// Chains on explicit levels done in several ways, one after the other in turns: what was predicted,
// simulated and measured of each, and whether the way that was chosen is the quickest. For programs
// that print tables (bench/programs/level_runs.cpp).
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "chains/levels/run_levels.hpp"
#include "core/levels/plan.hpp"
#include "processes/processes.hpp"

namespace tcsim::bench {

// One way to do a chain: where intermediates stay, and the best schedule of those.
struct LevelProgram {
  std::string name;
  levels::LevelPlan plan;
  levels::Counts simulated;
  std::vector<chains::LevelRun> runs;

  // Whether what was predicted, simulated and, in every run, measured is the same: bytes,
  // transfers, high-water marks, of all processes and of the busiest.
  bool as_predicted() const;
  // The least of the runs: what disturbs one only adds to it.
  Seconds link(int inner) const;
  Seconds arithmetic() const;
  Seconds total() const;
};

// The unfused program; that with all intermediates in the outermost level inside the disk; that
// with all in the innermost one; and the optimum, the last one, unless it is one of these: then
// that is the last one. Of up to two intermediates all ways to give them a level. What does not fit
// is left out. Throws UnsupportedError where nothing fits.
std::vector<LevelProgram> ways_to_run(const levels::OperationTree& tree,
                                      const levels::Hierarchy& hierarchy);

// Collective. Each program so often, in turns, in a folder of its own below `folder` that is gone
// afterwards; once before, to make inputs, which the system is asked to forget before each run.
// Throws as run_levels().
void run_in_turns(const levels::OperationTree& tree, const levels::Hierarchy& hierarchy,
                  std::vector<LevelProgram>& programs, const Processes& team,
                  const std::filesystem::path& folder, int repetitions);

// How much longer one takes than another by what was measured, 0.1 for a tenth: the median over
// turns. A disk's speed changes from turn to turn by more than programs differ, but is about the
// same for neighbours.
double longer_by(const LevelProgram& one, const LevelProgram& other);
// That in relation to which one of them takes longest; that one itself where none is quicker.
const LevelProgram& quickest(const std::vector<LevelProgram>& programs, const LevelProgram& chosen);
// How much longer the slowest takes than the quickest: what a choice is about.
double at_stake(const std::vector<LevelProgram>& programs);

}  // namespace tcsim::bench
