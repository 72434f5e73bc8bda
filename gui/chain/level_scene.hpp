// A chain on explicit levels (docs/levels.md) in the window for chains: what is asked of the
// library for it. Values that are made on worker threads, as all of a ChainScene.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/explore/knob.hpp"
#include "core/levels/vary.hpp"
#include "gui/chain/chain_design.hpp"

namespace tcsim::gui {

struct ChainAnswer;
struct ChainSubject;

// What differs by program where levels are explicit: as tcsim fuse calls them.
struct LevelProgram {
  std::string name;  // "optimum", "prescription", "unfused"
  levels::LevelPlan plan;
};

struct LevelFigures {
  std::vector<LevelProgram> programs;  // the last one where it fits
  levels::LevelOptimum optimum;        // the first of them, with its bound
};
// Throws UnsupportedError where nothing fits, Interrupted.
LevelFigures levelFigures(const ChainSubject& subject, const std::function<void(double)>& progress);

// Capacity, bandwidth, transfer, row and processes of the machine's explicit levels, as far as they
// count, from the innermost outward.
std::vector<Knob> levelKnobs(const Machine& machine);

// The time along a knob, as tcsim fuse --vary has it.
struct LevelCurve {
  std::string knob;
  std::string range;  // as --vary takes it
  levels::LevelGrid grid;
};
// From a quarter to four times what the knob is now.
std::string curveRange(const std::string& knob);

using LevelChangesPtr = std::shared_ptr<const std::vector<levels::LevelChange>>;
using LevelCurvePtr = std::shared_ptr<const LevelCurve>;
// What one thing that is different of the machine would bring.
LevelChangesPtr levelChanges(const ChainAnswer& answer, std::stop_token stop);
// Throws UsageError where the knob has no such range, Interrupted.
LevelCurvePtr levelCurve(const ChainAnswer& answer, const std::string& knob, std::stop_token stop);

}  // namespace tcsim::gui
