#include "gui/charts/charts.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/error.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

using Draws = ViewKind::Draws;

constexpr ViewKind kinds[] = {
    {Draws::plot, "time", "Time",
     "How long each link takes; the longest decides. The hatched bar is the compute roof.",
     timePlot, timeTable},
    {Draws::plot, "bottleneck", "Bottleneck",
     "GFLOPS as one knob varies. Bands say what decides, dashed lines where that changes.",
     bottleneckPlot, bottleneckTable},
    {Draws::plot, "map", "Map",
     "Time over two knobs. Outlines part the bottlenecks (dashed: those of pinned designs); empty "
     "cells cannot be machines.",
     mapPlot, mapTable},
    {Draws::plot, "roofline", "Roofline",
     "A roof and a point for each link. The point that touches its roof decides.", rooflinePlot,
     rooflineTable},
    {Draws::tiles, "tiles", "Tiles",
     "What of each tensor the largest tile that fits a cache holds, and how full that makes it.",
     nullptr, tilesTable},
    {Draws::plot, "traffic", "Traffic",
     "Bytes over each link, by tensor. Simulate counts them line by line.", trafficPlot,
     trafficTable},
    {Draws::text, "schedule", "Schedule",
     "Loops and packs that all numbers are about. Edit them: each change is judged at once.",
     nullptr, scheduleTable},
    {Draws::plot, "kernels", "Kernels",
     "The microkernels on this computer, each by itself: rows across, columns upward. Outlined "
     "are those that are worth composing.",
     kernelsPlot, kernelsTable},
    {Draws::plot, "bounds", "Bounds",
     "Bytes over the link to a memory, over its capacity: what no order of the multiply-adds moves "
     "less than, and what schedules do. Marks are this machine's links.",
     boundsPlot, boundsTable},
    {Draws::plot, "cost", "Cost",
     "What the work takes at each level by a cost model, working and standing by, and how large "
     "each level is.",
     costPlot, costTable},
    {Draws::plot, "sets", "Sets",
     "Which sets of a cache the lines of each tensor fall into. Where a window of the run wants "
     "more "
     "lines of a set than it has ways, some are missed though there is room elsewhere.",
     setsPlot, setsTable},
    {Draws::plot, "timeline", "Timeline",
     "What every cache holds and misses while the schedule runs, and below it the loops. Ctrl and "
     "the wheel zoom in; what is shown is then simulated again, in more frames.",
     timelinePlot, timelineTable},
    {Draws::plot, "suite", "Suite",
     "Every workload of the suite, each by the best schedule on this machine and on those of "
     "pinned "
     "designs, and their sums.",
     suitePlot, suiteTable},
};

}  // namespace

std::string shown(const Knob& knob, double value) {
  std::string text = display(knob, value);
  if (knob.unit == KnobUnit::bytes) return text;
  const auto unit =
      std::find_if(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  if (unit == text.end() || unit == text.begin()) return text;
  return std::string(text.begin(), unit) + " " + std::string(unit, text.end());
}

std::string subtitleOf(const Evaluation& e) {
  const Subject& s = e.subject;
  std::string text = fmt::format(
      "{}  {}  on {}, {} accounting\n", s.contraction.name(),
      s.contraction.name() == s.contraction.label() ? s.contraction.sizes() : s.contraction.label(),
      s.machine.name, s.machine.accounting.name);
  if (s.design.overrides.empty()) return text + "all figures as in the machine's file";
  for (const Override& o : s.design.overrides) {
    if (&o != &s.design.overrides.front()) text += ", ";
    text += o.knob + " ";
    try {
      const Knob knob = find_knob(s.base, o.knob);
      text += shown(knob, value_of(s.machine, knob));
    } catch (const UsageError&) {  // a field that no slider has, such as a policy
      text += o.value;
    }
  }
  return text;
}

std::string tickText(const Knob& knob, double value) {
  switch (knob.unit) {
    case KnobUnit::bytes_per_cycle:
      return fmt::format("{:.4g}", value);
    case KnobUnit::bytes_per_second:
    case KnobUnit::hertz:
      return fmt::format("{:.4g}", value / 1e9);
    default:
      return shown(knob, value);
  }
}

std::string axisLabel(const Knob& knob) {
  switch (knob.unit) {
    case KnobUnit::bytes_per_cycle:
      return knob.name + " [B/cycle]";
    case KnobUnit::bytes_per_second:
      return knob.name + " [GB/s]";
    case KnobUnit::hertz:
      return knob.name + " [GHz]";
    default:
      return knob.name;
  }
}

std::optional<std::size_t> pinnedLink(const Machine& machine, std::size_t link,
                                      const Machine& pinned) {
  if (link + 1 == machine.levels.size()) return pinned.levels.size() - 1;
  const std::string name = machine.link(LevelId{static_cast<int>(link)});
  for (std::size_t l = 0; l + 1 < pinned.levels.size(); ++l) {
    if (pinned.link(LevelId{static_cast<int>(l)}) == name) return l;
  }
  return {};
}

std::string otherLink(const Machine& machine, std::size_t link, const Machine& pinned) {
  const auto at = pinnedLink(machine, link, pinned);
  if (!at) return {};
  const std::string name = pinned.link(LevelId{static_cast<int>(*at)});
  return name == machine.link(LevelId{static_cast<int>(link)}) ? "" : name + " ";
}

Ink limitInk(const Machine& machine, const std::string& bottleneck) {
  for (std::size_t l = 0; l < machine.levels.size(); ++l) {
    const int link = static_cast<int>(l);
    if (machine.link(LevelId{link}) == bottleneck) return linkInk(link);
  }
  return Ink::compute;
}

void addPinMarks(Plot& plot, const Scene& scene,
                 const std::function<void(const Pinned&, const PinMark&)>& of) {
  constexpr double spread = 0.44;  // of a row
  const auto pins = static_cast<double>(scene.pins.size());
  for (std::size_t i = 0; i < scene.pins.size(); ++i) {
    Line line;
    line.name = "pinned: " + scene.pins[i].pin.name;
    line.ink = pinInk(i);
    line.joined = false;
    line.marked = true;
    line.width = 2;
    const double off = spread * (0.5 - (static_cast<double>(i) + 0.5) / pins);
    of(scene.pins[i], [&](double row, double value, const std::string& words) {
      line.x.push_back(value);
      line.y.push_back(row + off);
      line.readings.push_back(scene.pins[i].pin.name + ": " + words);
    });
    if (line.x.empty()) continue;
    plot.lines.push_back(std::move(line));
    plot.legendAt = Corner::below;  // in the picture it would lie on marks
  }
}

void addPins(Plot& plot, const Scene& scene,
             const std::function<void(const Evaluation&, const PinMark&)>& of) {
  addPinMarks(plot, scene, [&](const Pinned& pin, const PinMark& mark) {
    if (pin.evaluation) of(*pin.evaluation, mark);
  });
}

std::vector<std::pair<double, std::string>> logTicks(double low, double high) {
  std::vector<std::pair<double, std::string>> ticks;
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  for (int e = first; e <= last; ++e) {
    for (int digit : {1, 2, 5}) {
      const double v = digit * std::pow(10.0, e);
      if (v < low || v > high || (digit != 1 && last - first > 4)) continue;
      ticks.emplace_back(v, fmt::format("{:g}", v));
    }
  }
  return ticks;
}

std::span<const ViewKind> viewKinds() { return kinds; }

const ViewKind& viewKind(const std::string& id) {
  std::string known;
  for (const ViewKind& k : kinds) {
    if (id == k.id) return k;
    known += (known.empty() ? "" : ", ") + std::string(k.id);
  }
  throw UsageError("--view", fmt::format("there is no view '{}'", id), "use one of " + known);
}

}  // namespace tcsim::gui
