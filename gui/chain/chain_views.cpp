#include "gui/chain/chain_views.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/text/safe.hpp"
#include "gui/chain/level_views.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

using fusion::DiskTraffic;
using fusion::OperationTree;

constexpr const char* nothingYet =
    "Nothing is planned yet: name a chain on the left, such as fourindex:2.";

std::string whyNothing(const ChainScene& scene) {
  if (!scene.error.empty()) return scene.error;
  return scene.asked ? "It is being planned." : nothingYet;
}

std::string percentOf(double share) { return fmt::format("{:.3g} %", 100 * share); }

std::string sizeOf(double bytes) {
  return bytes < 0x1p62 ? to_display(Bytes(static_cast<std::int64_t>(bytes)))
                        : fmt::format("{:.3g} B", bytes);
}

std::string cutsOf(std::size_t count) {
  return count == 0 ? "no cut-point" : fmt::format("{} cut-point{}", count, count == 1 ? "" : "s");
}

std::string namesOf(const OperationTree& tree, const std::vector<int>& statements) {
  std::string all;
  for (std::size_t i = 0; i < statements.size(); ++i) {
    const bool last = i > 0 && i + 1 == statements.size();
    all += i == 0 ? "" : last ? " and " : ", ";
    all += tree.array(tree.statement(statements[i]).out).name;
  }
  return all;
}

std::size_t intermediatesOf(const OperationTree& tree) {
  return static_cast<std::size_t>(
      std::ranges::count_if(tree.arrays, &OperationTree::Array::is_intermediate));
}

bool overlaps(const ChainAnswer& answer) {
  return answer.subject->limits.buffering == fusion::Buffering::twofold;
}

std::string cutPointsSentence(const ChainAnswer& answer) {
  const OperationTree& tree = answer.subject->tree;
  const std::vector<int>& cuts = answer.chosen().program.cut_points;
  const std::size_t all = intermediatesOf(tree);
  if (all == 0) return "There is no intermediate.";
  if (cuts.empty()) {
    return all == 1 ? "No cut-point: the intermediate stays in memory."
                    : fmt::format("No cut-point: all {} intermediates stay in memory.", all);
  }
  if (cuts.size() == all) {
    return fmt::format("{}: {} to disk.", cutsOf(all),
                       all == 1 ? "the intermediate goes" : "all intermediates go");
  }
  const std::size_t others = all - cuts.size();
  return fmt::format("{}: {} go{} to disk, {} other intermediate{} stay{} in memory.",
                     cutsOf(cuts.size()), namesOf(tree, cuts), cuts.size() == 1 ? "es" : "", others,
                     others == 1 ? "" : "s", others == 1 ? "s" : "");
}

std::string movedSentence(const ChainAnswer& answer) {
  const MemoryPoint point = pointOf(answer);
  const std::string moved = to_display(point.moved);
  if (point.moved == point.unfusedMoved) {
    return fmt::format("It moves {}, as much as the unfused chain.", moved);
  }
  return fmt::format("It moves {}, {} of the unfused chain's, in {} of its disk time.", moved,
                     percentOf(static_cast<double>(point.moved.value()) /
                               static_cast<double>(point.unfusedMoved.value())),
                     percentOf(point.disk.value() / point.unfusedDisk.value()));
}

std::string timeSentence(const ChainAnswer& answer) {
  const ChainProgram& p = answer.chosen();
  return overlaps(answer)
             ? fmt::format("{} of disk and {} of arithmetic at the same time: {}.",
                           to_display(p.disk), to_display(p.arithmetic), to_display(p.time))
             : fmt::format("{} of disk and {} of arithmetic, in turn: {}.", to_display(p.disk),
                           to_display(p.arithmetic), to_display(p.time));
}

std::string boundSentence(const ChainAnswer& answer) {
  const double gap = answer.chosen().program.gap();
  if (gap < 5e-4) return "No program needs less of disk and memory.";
  return fmt::format("Disk and memory take at most {} more than the least that any program needs.",
                     percentOf(gap));
}

std::string withMemory(const ChainAnswer& answer, const MemoryPoint& point) {
  const double faster = answer.chosen().disk.value() / point.disk.value();
  return fmt::format("{}, {} of disk ({:.2f} x)", cutsOf(point.cutPoints.size()),
                     to_display(point.disk), faster);
}

Line curveLine(const char* name, Ink ink, bool dashed) {
  Line line;
  line.name = name;
  line.ink = ink;
  line.dashed = dashed;
  line.marked = !dashed;
  line.width = dashed ? 1.5 : 2;
  return line;
}

// A band for each stretch of memory with as many cut-points.
std::vector<Region> cutPointBands(const std::vector<MemoryPoint>& points, double low, double high) {
  std::vector<Region> bands;
  std::size_t cuts = 0;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double at = i == 0 ? low
                             : std::sqrt(static_cast<double>(points[i - 1].memory.value()) *
                                         static_cast<double>(points[i].memory.value()));
    if (!bands.empty() && points[i].cutPoints.size() == cuts) continue;
    cuts = points[i].cutPoints.size();
    if (!bands.empty()) bands.back().to = at;
    const Ink ink = cuts == 0 ? Ink::A : cuts == 1 ? Ink::B : cuts == 2 ? Ink::link3 : Ink::compute;
    bands.push_back({at, high, cutsOf(cuts), ink});
  }
  return bands;
}

std::string movedText(const DiskTraffic::OfArray& moved) {
  std::string text;
  if (moved.written > 0) text = to_display(Bytes(moved.written)) + " out";
  if (moved.read > 0) text += (text.empty() ? "" : ", ") + to_display(Bytes(moved.read)) + " in";
  return text;
}

// The nodes of a tree, from an output downward.
class TreeMaker {
 public:
  TreeMaker(const OperationTree& tree, const fusion::FusedProgram& program, ChainTree& to)
      : tree_(tree), program_(program), to_(to) {}

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
    const DiskTraffic::OfArray& moved = program_.traffic.arrays[static_cast<std::size_t>(array)];
    ChainTree::Node n;
    n.name = tree_.text(array);
    n.place = a.producer < 0   ? Place::input
              : a.consumer < 0 ? Place::output
              : std::ranges::find(program_.cut_points, a.producer) != program_.cut_points.end()
                  ? Place::cutPoint
                  : Place::memory;
    const std::string size = sizeOf(tree_.bytes(array));
    const char* const where[] = {"input", "in memory", "cut-point, on disk", "output"};
    n.about = size + ", " + where[static_cast<int>(n.place)];
    n.moved = n.place == Place::memory ? "fused" : movedText(moved);
    n.reading = a.producer < 0 ? n.name : tree_.statement_text(a.producer);
    n.reading += ": " + n.about;
    if (n.place != Place::memory) {
      n.reading += fmt::format("; {} in {} transfers", n.moved, moved.reads + moved.writes);
    }
    return n;
  }

  const OperationTree& tree_;
  const fusion::FusedProgram& program_;
  ChainTree& to_;
};

}  // namespace

ChainVerdict chainVerdict(const ChainScene& scene) {
  ChainVerdict v;
  if (!scene.answer) return v;
  if (scene.answer->levels) return levelVerdict(scene);
  const ChainAnswer& answer = *scene.answer;
  const ChainProgram& chosen = answer.chosen();
  v.headline = chosen.disk >= chosen.arithmetic ? "Limited by the disk" : "Limited by arithmetic";
  v.sentences = {cutPointsSentence(answer) + " " + movedSentence(answer),
                 timeSentence(answer) + " " + boundSentence(answer)};
  const MoreMemory more = moreMemory(scene);
  if (answer.design().memory >= answer.subject->most) {
    v.more.emplace_back("All tensors fit: more memory changes nothing.");
    return v;
  }
  if (more.fewerCuts) {
    v.more.push_back(fmt::format("With {} of memory: {}.",
                                 to_binary_display(more.fewerCuts->memory),
                                 withMemory(answer, *more.fewerCuts)));
  }
  if (more.twice && (!more.fewerCuts || more.twice->memory != more.fewerCuts->memory)) {
    v.more.push_back(fmt::format("With twice the memory, {}: {}.",
                                 to_binary_display(more.twice->memory),
                                 withMemory(answer, *more.twice)));
  }
  if (scene.exploring) v.more.emplace_back("What other memories bring is being computed.");
  return v;
}

std::string aboutChain(const ChainAnswer& answer) {
  if (answer.levels) return aboutLevels(answer);
  const ChainSubject& s = *answer.subject;
  double bytes = 0;
  for (int a = 0; a < static_cast<int>(s.tree.arrays.size()); ++a) bytes += s.tree.bytes(a);
  std::string text = fmt::format(
      "{}: {} contraction{}, {:.4g} Gflop, tensors of {}. Disk: {:.4g} GB/s in, {:.4g} GB/s out, "
      "{} a transfer{}.",
      visible(s.tree.name), s.tree.statements.size(), s.tree.statements.size() == 1 ? "" : "s",
      s.tree.flops() / 1e9, sizeOf(bytes), s.limits.costs.read.value() / 1e9,
      s.limits.costs.write.value() / 1e9, to_display(s.limits.costs.transfer),
      s.diskAssumed ? " (assumed)" : "");
  for (const fusion::Chain::Ordered& o : s.ordered) {
    text += fmt::format(" Order of {}: {}, {:.4g} multiply-adds.", visible(o.out), visible(o.order),
                        o.multiply_adds);
  }
  return text;
}

Table chainTable(const ChainAnswer& answer) {
  if (answer.levels) return levelTable(answer);
  Table table{
      {"program", "cut-points", "read", "written", "transfers", "tiles", "in all", "disk time",
       "above bound", "arithmetic", overlaps(answer) ? "overlapped" : "in turn"},
      {}};
  for (const ChainProgram& p : answer.programs) {
    const DiskTraffic::OfArray moved = p.program.traffic.sum();
    const auto count = [](std::int64_t n) {
      return Cell(std::to_string(n), static_cast<double>(n));
    };
    const auto binary = [](Bytes bytes) {
      return Cell(to_binary_display(bytes), static_cast<double>(bytes.value()));
    };
    table.rows.push_back({p.name, count(static_cast<std::int64_t>(p.program.cut_points.size())),
                          bytesCell(Bytes(moved.read)), bytesCell(Bytes(moved.written)),
                          count(moved.reads + moved.writes), binary(p.program.traffic.memory),
                          binary(p.inAll), timeCell(p.disk),
                          Cell(fmt::format("{:.1f} %", 100 * p.program.gap()), p.program.gap()),
                          timeCell(p.arithmetic), timeCell(p.time)});
  }
  return table;
}

Table chainFileTable(const ChainAnswer& answer) {
  if (answer.levels) return levelFileTable(answer);
  Table table = chainTable(answer);
  table.columns = {"program",   "cut_points",         "read_bytes",       "written_bytes",
                   "transfers", "memory_bytes",       "run_memory_bytes", "disk_seconds",
                   "gap",       "arithmetic_seconds", "predicted_seconds"};
  return table;
}

std::string scheduleOf(const ChainAnswer& answer, std::size_t program) {
  if (answer.levels) {
    return levels::to_text(answer.subject->tree, *answer.subject->hierarchy,
                           answer.levels->programs.at(program).plan.node);
  }
  return fusion::to_text(answer.subject->tree, answer.programs.at(program).program.node);
}

Plot memoryPlot(const ChainScene& scene, MemoryCurve what) {
  const bool time = what == MemoryCurve::diskTime;
  Plot p;
  p.title = time ? "Disk time over memory" : "Bytes moved over memory";
  if (!scene.answer) {
    p.missing = whyNothing(scene);
    return p;
  }
  const ChainAnswer& answer = *scene.answer;
  p.hollow = !scene.current;
  p.subtitle =
      fmt::format("{}, the chosen program of each memory", visible(answer.subject->tree.name));
  std::vector<MemoryPoint> points;
  for (const auto& [bytes, point] : scene.points) {
    if (point) points.push_back(*point);
  }
  const auto value = [&](Seconds disk, Bytes moved) {
    return time ? disk.value() : static_cast<double>(moved.value());
  };
  double most = 0;
  for (const MemoryPoint& m : points) {
    most = std::max({most, value(m.disk, m.moved), value(m.unfusedDisk, m.unfusedMoved)});
  }
  const TimeUnit unit = time ? unitOf(most) : TimeUnit{1e9, "GB"};
  Line chosen = curveLine("chosen", Ink::A, false);
  Line unfused = curveLine("unfused", Ink::baseline, true);
  double low = most, high = most;
  for (const MemoryPoint& m : points) {
    const double x = static_cast<double>(m.memory.value());
    chosen.x.push_back(x);
    chosen.y.push_back(value(m.disk, m.moved) / unit.seconds);
    low = std::min(low, value(m.disk, m.moved));
    chosen.readings.push_back(fmt::format("{}: {} of disk, {} moved, {}",
                                          to_binary_display(m.memory), to_display(m.disk),
                                          to_display(m.moved), cutsOf(m.cutPoints.size())));
    unfused.x.push_back(x);
    unfused.y.push_back(value(m.unfusedDisk, m.unfusedMoved) / unit.seconds);
    low = std::min(low, value(m.unfusedDisk, m.unfusedMoved));
    unfused.readings.push_back(fmt::format("{}, unfused: {} of disk, {} moved",
                                           to_binary_display(m.memory), to_display(m.unfusedDisk),
                                           to_display(m.unfusedMoved)));
  }
  const MemoryPoint now = pointOf(answer);
  const double here = static_cast<double>(now.memory.value());
  Line mark = curveLine("this memory", Ink::here, false);
  mark.joined = false;
  mark.width = 4;
  mark.x = {here};
  mark.y = {value(now.disk, now.moved) / unit.seconds};
  mark.readings = {fmt::format("{}: {} of disk, {} moved", to_binary_display(now.memory),
                               to_display(now.disk), to_display(now.moved))};
  const double left = points.empty() ? here : static_cast<double>(points.front().memory.value());
  const double right = points.empty() ? here : static_cast<double>(points.back().memory.value());
  p.x = {answer.design().tilesAlone ? "memory for tiles" : "memory",
         true,
         std::min(left, here) / 1.5,
         std::max(right, here) * 1.5,
         {}};
  for (int e = static_cast<int>(std::ceil(std::log2(p.x.low))); e < 62 && std::exp2(e) <= p.x.high;
       ++e) {
    p.x.ticks.emplace_back(std::exp2(e), to_binary_display(Bytes(std::int64_t{1} << e)));
  }
  p.y = {fmt::format("{} [{}]", time ? "disk time" : "moved", unit.name),
         true,
         low / unit.seconds / 1.6,
         high / unit.seconds * 2.2,
         {}};
  p.y.ticks = logTicks(p.y.low, p.y.high);
  p.regions = cutPointBands(points, p.x.low, p.x.high);
  p.rules.push_back({here, true, to_binary_display(now.memory), Ink::here, true});
  p.lines = {std::move(unfused), std::move(chosen), std::move(mark)};
  p.legendAt = Corner::topRight;
  return p;
}

ChainTree chainTree(const ChainScene& scene, std::size_t program) {
  ChainTree t;
  t.title = "Operation tree";
  if (!scene.answer) {
    t.missing = whyNothing(scene);
    return t;
  }
  if (scene.answer->levels) return levelTree(scene, program);
  const ChainAnswer& answer = *scene.answer;
  const ChainProgram& p = answer.programs.at(std::min(program, answer.programs.size() - 1));
  t.hollow = !scene.current;
  t.title = fmt::format("Operation tree, {}: {}", p.name, cutsOf(p.program.cut_points.size()));
  const OperationTree& tree = answer.subject->tree;
  TreeMaker maker(tree, p.program, t);
  for (int root : tree.roots()) t.roots.push_back(maker.add(tree.statement(root).out));
  return t;
}

}  // namespace tcsim::gui
