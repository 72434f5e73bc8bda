#include "gui/chain/level_scene.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/explore/knob_range.hpp"
#include "core/stop.hpp"
#include "gui/chain/chain_scene.hpp"

namespace tcsim::gui {

namespace {

// As tcsim fuse --vary has them of one knob.
constexpr int curvePoints = 7;

bool sameFigures(const levels::Hierarchy& a, const levels::Hierarchy& b) {
  return a.rate == b.rate && a.tile_byte == b.tile_byte &&
         std::ranges::equal(a.levels, b.levels, [](const auto& x, const auto& y) {
           return x.capacity == y.capacity && x.instances == y.instances &&
                  x.bandwidth == y.bandwidth && x.transfer == y.transfer && x.row == y.row;
         });
}

}  // namespace

LevelFigures levelFigures(const ChainSubject& subject,
                          const std::function<void(double)>& progress) {
  levels::OptimumOptions search;
  search.progress = progress;
  levels::LevelWays ways = levels::compare(subject.tree, *subject.hierarchy, search);
  LevelFigures f;
  f.programs.push_back({"optimum", ways.optimum.plan});
  f.programs.push_back({"prescription", std::move(ways.prescription)});
  if (ways.unfused) f.programs.push_back({"unfused", *std::move(ways.unfused)});
  f.optimum = std::move(ways.optimum);
  return f;
}

std::vector<Knob> levelKnobs(const Machine& machine) {
  const Bytes element(8);
  const levels::Hierarchy base = levels::hierarchy(machine, element);
  std::vector<Knob> all;
  for (Knob& knob : all_knobs(machine)) {
    if (knob.name.starts_with("core.") || !(knob.base > 0)) continue;
    try {
      const Machine other = with_knob(machine, knob, 2 * knob.base);
      if (!sameFigures(levels::hierarchy(other, element), base)) all.push_back(std::move(knob));
    } catch (const Error&) {
      // No machine has twice as much of it.
    }
  }
  return all;
}

std::string curveRange(const std::string& knob) { return knob + "=0.25x..4x"; }

LevelChangesPtr levelChanges(const ChainAnswer& answer, std::stop_token stop) {
  const StopScope scope(std::move(stop));
  const ChainSubject& s = *answer.subject;
  return std::make_shared<const std::vector<levels::LevelChange>>(
      levels::changes(s.tree, *s.hierarchy, answer.levels->optimum));
}

LevelCurvePtr levelCurve(const ChainAnswer& answer, const std::string& knob, std::stop_token stop) {
  const StopScope scope(stop);
  const ChainSubject& s = *answer.subject;
  auto curve = std::make_shared<LevelCurve>();
  curve->knob = knob;
  curve->range = curveRange(knob);
  const KnobRange range = parse_knob_range(s.machine, curve->range, curvePoints);
  levels::VaryOptions how;
  how.overlap = s.hierarchy->overlap;
  how.search.incumbents.push_back(answer.levels->optimum.plan);
  curve->grid = levels::vary(s.tree, s.machine, {range}, how);
  if (!curve->grid.complete || stop.stop_requested()) throw Interrupted();
  return curve;
}

}  // namespace tcsim::gui
