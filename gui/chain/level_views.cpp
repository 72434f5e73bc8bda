#include "gui/chain/level_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/safe.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

using fusion::OperationTree;
using levels::Hierarchy;
using levels::LevelPlan;
using levels::LevelPoint;
using levels::Moved;

const Hierarchy& hierarchyOf(const ChainAnswer& answer) { return *answer.subject->hierarchy; }

const LevelPlan& optimumOf(const ChainAnswer& answer) { return answer.levels->optimum.plan; }

std::string levelPercent(double share) { return fmt::format("{:.1f} %", 100 * share); }

Moved movedOver(const LevelPlan& plan, int link) {
  return plan.counts.links[static_cast<std::size_t>(link)].sum();
}

Ink inkOf(const Hierarchy& h, const LevelPlan& plan) {
  const int slowest = plan.times.bottleneck();
  return slowest == h.links() ? Ink::compute : linkInk(slowest);
}

std::string levelTimes(const ChainAnswer& answer) {
  const Hierarchy& h = hierarchyOf(answer);
  const LevelPlan& plan = optimumOf(answer);
  std::string text = to_display(plan.time()) + ": ";
  for (int l = h.links() - 1; l >= 0; --l) {
    text += fmt::format("{} over {}, ", to_display(plan.times.links[static_cast<std::size_t>(l)]),
                        h.link(l));
  }
  return text + fmt::format("{} of arithmetic, {}.", to_display(plan.times.arithmetic),
                            h.overlap ? "at the same time" : "in turn");
}

std::string besideSentence(const ChainAnswer& answer) {
  const LevelFigures& f = *answer.levels;
  const double best = optimumOf(answer).time().value();
  std::string text = fmt::format(
      "At most {} above the least that any schedule of the family takes. The prescription takes "
      "{} longer",
      levelPercent(f.optimum.gap()), levelPercent(f.programs[1].plan.time().value() / best - 1));
  if (f.programs.size() < 3) return text + "; unfused nothing fits.";
  return text + fmt::format(", unfused it is {:.2f} x.", f.programs[2].plan.time().value() / best);
}

std::string changeSentence(const ChainAnswer& answer, const levels::LevelChange& change) {
  return fmt::format("With {}: {} ({:.2f} x), limited by {}.", change.what,
                     to_display(change.answer->plan.time()),
                     optimumOf(answer).time() / change.answer->plan.time(),
                     levels::slowest_name(hierarchyOf(answer), change.answer->plan));
}

// The nodes of a tree, from an output downward.
class LevelTreeMaker {
 public:
  LevelTreeMaker(const ChainAnswer& answer, const LevelPlan& plan, ChainTree& to)
      : tree_(answer.subject->tree), h_(hierarchyOf(answer)), plan_(plan), to_(to) {}

  int add(int array) {
    const int made = static_cast<int>(to_.nodes.size());
    to_.nodes.push_back(node(array));
    const int producer = tree_.array(array).producer;
    if (producer < 0) return made;
    const int left = add(tree_.statement(producer).left);
    const int right = add(tree_.statement(producer).right);
    to_.nodes[static_cast<std::size_t>(made)].below = {left, right};
    return made;
  }

 private:
  ChainTree::Node node(int array) const {
    using Place = ChainTree::Place;
    const OperationTree::Array& a = tree_.array(array);
    const auto at = static_cast<std::size_t>(array);
    const int home = plan_.homes[at];
    ChainTree::Node n;
    n.name = tree_.text(array);
    n.place = a.producer < 0       ? Place::input
              : a.consumer < 0     ? Place::output
              : home == h_.links() ? Place::cutPoint
                                   : Place::memory;
    if (n.place == Place::memory) n.level = home;
    const char* const role = n.place == Place::input    ? "input"
                             : n.place == Place::output ? "output"
                                                        : "";
    const std::string stays =
        a.is_intermediate() ? (home == h_.links() ? "cut-point, on " : "in ") + h_.level(home).name
                            : role;
    const double bytes = tree_.bytes(array);
    n.about = (bytes < 0x1p62 ? to_display(Bytes(static_cast<std::int64_t>(bytes)))
                              : fmt::format("{:.3g} B", bytes)) +
              ", " + stays;
    n.reading = (a.producer < 0 ? n.name : tree_.statement_text(a.producer)) + ": " + n.about;
    for (int l = h_.links() - 1; l >= 0; --l) {
      const Moved& m = plan_.counts.links[static_cast<std::size_t>(l)].all[at];
      n.moved += (n.moved.empty() ? "" : " | ") +
                 (m.bytes() == 0 ? std::string("-") : to_display(Bytes(m.bytes())));
      n.reading += fmt::format("; {} over {} in {} transfers", to_display(Bytes(m.bytes())),
                               h_.link(l), m.transfers());
    }
    return n;
  }

  const OperationTree& tree_;
  const Hierarchy& h_;
  const LevelPlan& plan_;
  ChainTree& to_;
};

double upwardOf(const LevelPlan& plan, const Hierarchy& h, std::size_t upward) {
  if (upward == 0) return plan.time().value();
  return static_cast<double>(movedOver(plan, h.links() - static_cast<int>(upward)).bytes());
}

// A band for each stretch with the same state. Where it changes was looked for by bisection.
std::vector<Region> bandsOf(const ChainAnswer& answer, const levels::LevelGrid& grid, double low,
                            double high) {
  std::vector<Region> bands;
  const std::string* state = nullptr;
  double before = low;
  for (const LevelPoint& p : grid.points) {
    const double here = p.values.front();
    if (state == nullptr || *state != p.state) {
      double from = std::sqrt(before * here);
      for (const levels::LevelCrossover& c : grid.crossovers) {
        if (c.values.front() > before && c.values.front() <= here) from = c.values.front();
      }
      if (bands.empty()) from = low;
      if (!bands.empty()) bands.back().to = from;
      bands.push_back({from, high, p.state,
                       p.answer ? inkOf(hierarchyOf(answer), p.answer->plan) : Ink::faint});
      state = &p.state;
    }
    before = here;
  }
  return bands;
}

}  // namespace

ChainVerdict levelVerdict(const ChainScene& scene) {
  ChainVerdict v;
  const ChainAnswer& answer = *scene.answer;
  const Hierarchy& h = hierarchyOf(answer);
  const LevelPlan& plan = optimumOf(answer);
  const std::string homes = levels::homes_text(answer.subject->tree, h, plan);
  v.headline = "Limited by " + levels::slowest_name(h, plan);
  v.sentences = {
      (homes.empty() ? "There is no intermediate." : homes + ".") + " " + levelTimes(answer),
      besideSentence(answer)};
  if (!scene.changes) {
    if (scene.exploring) v.more.emplace_back("What other machines bring is being computed.");
    return v;
  }
  const levels::LevelChange* best = nullptr;
  for (const levels::LevelChange& c : *scene.changes) {
    if (!c.answer) continue;
    if (best == nullptr || c.answer->plan.time() < best->answer->plan.time()) best = &c;
  }
  constexpr double worthSaying = 1.005;
  if (best != nullptr && plan.time() / best->answer->plan.time() > worthSaying) {
    v.more.push_back("What helps most: " + changeSentence(answer, *best));
  } else {
    v.more.emplace_back("Twice of any one capacity, link or number of processes brings nothing.");
  }
  return v;
}

std::string aboutLevels(const ChainAnswer& answer) {
  const ChainSubject& s = *answer.subject;
  const Hierarchy& h = *s.hierarchy;
  std::string text = fmt::format(
      "{}: {} contraction{}, {:.4g} Gflop. {}: {} process{} of {:.4g} Gflop/s",
      visible(s.tree.name), s.tree.statements.size(), s.tree.statements.size() == 1 ? "" : "s",
      s.tree.flops() / 1e9, visible(s.machine.name), h.instances(0),
      h.instances(0) == 1 ? "" : "es", h.rate.value() / 1e9);
  for (int l = 0; l <= h.links(); ++l) {
    const Hierarchy::Level& level = h.level(l);
    text += fmt::format("; {}{}", visible(level.name),
                        level.capacity == Bytes(0) ? "" : " of " + to_display(level.capacity));
  }
  text += ". Each process has a link of its own.";
  for (const fusion::Chain::Ordered& o : s.ordered) {
    text += fmt::format(" Order of {}: {}.", visible(o.out), visible(o.order));
  }
  return text;
}

Table levelTable(const ChainAnswer& answer) {
  const Hierarchy& h = hierarchyOf(answer);
  Table table{{"program"}, {}};
  for (int l = h.links() - 1; l >= 0; --l) {
    table.columns.push_back("over " + h.link(l));
    table.columns.push_back(h.link(l) + " time");
  }
  table.columns.insert(table.columns.end(), {"arithmetic", h.overlap ? "overlapped" : "in all",
                                             "above bound", "slowest", "intermediates"});
  for (const LevelProgram& p : answer.levels->programs) {
    std::vector<Cell> row{p.name};
    for (int l = h.links() - 1; l >= 0; --l) {
      row.push_back(bytesCell(Bytes(movedOver(p.plan, l).bytes())));
      row.push_back(timeCell(p.plan.times.links[static_cast<std::size_t>(l)]));
    }
    const double above = p.plan.time() / answer.levels->optimum.bound - 1;
    row.insert(row.end(), {timeCell(p.plan.times.arithmetic), timeCell(p.plan.time()),
                           Cell(levelPercent(above), above), levels::slowest_name(h, p.plan),
                           levels::homes_text(answer.subject->tree, h, p.plan)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table levelFileTable(const ChainAnswer& answer) {
  const Hierarchy& h = hierarchyOf(answer);
  Table table = levelTable(answer);
  table.columns = {"program"};
  for (int l = h.links() - 1; l >= 0; --l) {
    table.columns.push_back(h.link(l) + "_bytes");
    table.columns.push_back(h.link(l) + "_seconds");
  }
  table.columns.insert(table.columns.end(), {"arithmetic_seconds", "predicted_seconds", "gap",
                                             "bottleneck", "intermediates"});
  return table;
}

Table linkTable(const ChainAnswer& answer, std::size_t program) {
  const Hierarchy& h = hierarchyOf(answer);
  const auto& all = answer.levels->programs;
  const LevelPlan& plan = all.at(std::min(program, all.size() - 1)).plan;
  Table table{{"link", "in", "out", "transfers", "the busiest", "time", "held"}, {}};
  for (int l = h.links() - 1; l >= 0; --l) {
    const auto at = static_cast<std::size_t>(l);
    const Moved sum = movedOver(plan, l);
    table.rows.push_back(
        {h.link(l), bytesCell(Bytes(sum.in)), bytesCell(Bytes(sum.out)),
         Cell(std::to_string(sum.transfers()), static_cast<double>(sum.transfers())),
         bytesCell(Bytes(plan.counts.links[at].busiest_sum().bytes())),
         timeCell(plan.times.links[at]),
         Cell(fmt::format("{} in {}", to_display(plan.counts.high_water[at]), h.level(l).name),
              static_cast<double>(plan.counts.high_water[at].value()))});
  }
  return table;
}

Table changeTable(const ChainScene& scene) {
  Table table{{"with", "time", "faster", "slowest", "intermediates"}, {}};
  if (!scene.answer || !scene.changes) return table;
  const ChainAnswer& answer = *scene.answer;
  const Hierarchy& h = hierarchyOf(answer);
  for (const levels::LevelChange& c : *scene.changes) {
    if (!c.answer) {
      table.rows.push_back({c.what, "nothing fits", "", "", ""});
      continue;
    }
    const LevelPlan& plan = c.answer->plan;
    table.rows.push_back({c.what, timeCell(plan.time()),
                          numberCell(optimumOf(answer).time() / plan.time(), "{:.2f} x"),
                          levels::slowest_name(h, plan),
                          levels::homes_text(answer.subject->tree, h, plan)});
  }
  return table;
}

std::vector<std::string> levelCurves(const ChainAnswer& answer) {
  const Hierarchy& h = hierarchyOf(answer);
  std::vector<std::string> all{"time"};
  for (int l = h.links() - 1; l >= 0; --l) all.push_back("bytes over " + h.link(l));
  return all;
}

Plot levelPlot(const ChainScene& scene, std::size_t upward) {
  Plot p;
  p.title = "Over a knob";
  if (!scene.answer || !scene.answer->levels || !scene.curve || !scene.curveOf) {
    p.missing = !scene.error.empty()        ? scene.error
                : !scene.curveError.empty() ? scene.curveError
                : scene.exploring           ? "It is being computed."
                                            : "It was not computed: choose the knob again.";
    return p;
  }
  const ChainAnswer& answer = *scene.curveOf;
  const Hierarchy& h = hierarchyOf(answer);
  const levels::LevelGrid& grid = scene.curve->grid;
  const Knob& knob = grid.knobs.front();
  const std::vector<std::string> names = levelCurves(answer);
  upward = std::min(upward, names.size() - 1);
  const bool time = upward == 0;
  p.hollow = scene.curveOf != scene.answer || !scene.current;
  p.title = (time ? "Time" : "B" + names[upward].substr(1)) + " over " + knob.name;
  p.subtitle = fmt::format("{} on {}, the optimum of each", visible(answer.subject->tree.name),
                           visible(answer.subject->machine.name));
  double most = upwardOf(optimumOf(answer), h, upward), least = most;
  for (const LevelPoint& q : grid.points) {
    if (!q.answer) continue;
    most = std::max(most, upwardOf(q.answer->plan, h, upward));
    least = std::min(least, upwardOf(q.answer->plan, h, upward));
  }
  const TimeUnit unit = time ? unitOf(most) : TimeUnit{1e9, "GB"};
  Line line;
  line.name = "optimum";
  line.ink = Ink::A;
  line.marked = true;
  for (const LevelPoint& q : grid.points) {
    if (!q.answer) continue;
    line.x.push_back(q.values.front());
    line.y.push_back(upwardOf(q.answer->plan, h, upward) / unit.seconds);
    line.readings.push_back(fmt::format("{}: {}, {}", shown(knob, q.values.front()),
                                        to_display(q.answer->plan.time()), q.state));
  }
  const double here = knob.base;
  Line mark;
  mark.name = "this machine";
  mark.ink = Ink::here;
  mark.joined = false;
  mark.marked = true;
  mark.width = 4;
  mark.x = {here};
  mark.y = {upwardOf(optimumOf(answer), h, upward) / unit.seconds};
  mark.readings = {fmt::format("{}: {}", shown(knob, here), to_display(optimumOf(answer).time()))};
  const double low = std::min(here, grid.points.front().values.front()) / 1.1;
  const double high = std::max(here, grid.points.back().values.front()) * 1.1;
  p.x = {axisLabel(knob), true, low, high, {}};
  for (const LevelPoint& q : grid.points) {
    p.x.ticks.emplace_back(q.values.front(), tickText(knob, q.values.front()));
  }
  p.y = {fmt::format("{} [{}]", names[upward], unit.name),
         true,
         least / unit.seconds / 1.6,
         most / unit.seconds * 2.2,
         {}};
  p.y.ticks = logTicks(p.y.low, p.y.high);
  p.regions = bandsOf(answer, grid, low, high);
  for (const levels::LevelCrossover& c : grid.crossovers) {
    p.rules.push_back({c.values.front(), true, shown(knob, c.values.front()), Ink::text, true});
  }
  p.lines = {std::move(line), std::move(mark)};
  p.legendAt = Corner::topRight;
  return p;
}

ChainTree levelTree(const ChainScene& scene, std::size_t program) {
  ChainTree t;
  const ChainAnswer& answer = *scene.answer;
  const Hierarchy& h = hierarchyOf(answer);
  const auto& all = answer.levels->programs;
  const LevelProgram& p = all.at(std::min(program, all.size() - 1));
  t.hollow = !scene.current;
  t.title = "Operation tree, " + p.name + ": bytes over ";
  for (int l = h.links() - 1; l >= 0; --l) t.title += h.link(l) + (l > 0 ? " | " : "");
  LevelTreeMaker maker(answer, p.plan, t);
  for (int root : answer.subject->tree.roots()) {
    t.roots.push_back(maker.add(answer.subject->tree.statement(root).out));
  }
  return t;
}

}  // namespace tcsim::gui
