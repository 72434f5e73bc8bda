// Bytes over the link to a memory, over its capacity: proven, found, simulated, and this machine's.
#include <algorithm>
#include <cmath>

#include "core/bounds/link_bounds.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

// A link of this machine, at the capacity of all that lies inside it.
struct MachineMark {
  std::string link;
  Bytes capacity, bound, predicted;
  std::optional<Bytes> simulated, measured;
};

// What is predicted of an evaluation's links.
std::vector<MachineMark> predictedMarks(const Evaluation& e) {
  const Machine& m = e.subject.machine;
  const ElementType type = e.subject.contraction.type();
  const std::vector<std::int64_t> inside = bounds::capacities_inside(m, type);
  const auto& predicted = e.prediction().traffic.links;
  std::vector<MachineMark> marks;
  for (std::size_t l = 0; l < predicted.size(); ++l) {
    marks.push_back({m.link(LevelId{static_cast<int>(l)}),
                     inside[l] * size_of(type),
                     e.bounds[l],
                     predicted[l].counted(m.accounting),
                     {},
                     {}});
  }
  return marks;
}

std::vector<MachineMark> marksOf(const Scene& scene) {
  std::vector<MachineMark> marks = predictedMarks(*scene.now);
  const bool simulated = scene.simulation && scene.simulation.current;
  for (std::size_t l = 0; l < marks.size(); ++l) {
    marks[l].measured = measuredOver(scene, l);
    if (!simulated) continue;
    const LinkTraffic& link = scene.simulation->simulation.traffic.links[l];
    marks[l].simulated = link.counted(scene.now->subject.machine.accounting);
  }
  return marks;
}

// Whether the curve is of a pin's workload and of what its machine counts, too.
bool isOf(const BoundCurve& curve, const Pinned& pin) {
  return pin.evaluation && pin.pin.design.workload == curve.workload && curve.isOf(*pin.evaluation);
}

Bytes bytesOf(const BoundCurve& curve, double elements) {
  return Bytes(static_cast<std::int64_t>(elements)) * size_of(curve.type).value();
}

Bytes bytesOf(const BoundCurve& curve, const StoreCounts& counts) {
  const bool stores = curve.moves == bounds::Moves::loads_and_stores;
  return (counts.loads + (stores ? counts.stores : Elements(0))).value() * size_of(curve.type);
}

// "32 KiB" of a power of two.
std::string sizeText(std::int64_t bytes) {
  const char* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, units[unit]);
}

void add(Line& line, Bytes capacity, Bytes moved, const std::string& what) {
  line.x.push_back(static_cast<double>(capacity.value()));
  line.y.push_back(static_cast<double>(moved.value()) / 1e9);
  line.readings.push_back(
      fmt::format("{}: {}, at {}", what, to_display(moved), to_display(capacity)));
}

Line named(const char* name, Ink ink, double width) {
  Line line;
  line.name = name;
  line.ink = ink;
  line.width = width;
  return line;
}

// The curve's four lines.
std::vector<Line> linesOf(const BoundCurve& curve) {
  Line lower = named("lower bound: no order moves less", Ink::text, 2.5);
  Line upper = named("a tiled nest, explicit store", Ink::faint, 1.5);
  Line schedule = named("best schedule, explicit store", Ink::A, 2);
  Line lru = named("best schedule, LRU cache", Ink::B, 2);
  upper.dashed = true;
  for (std::size_t i = 0; i < curve.capacities.size(); ++i) {
    const bounds::BoundPoint& p = curve.points[i];
    const Bytes capacity = p.capacity * size_of(curve.type);
    add(lower, capacity, bytesOf(curve, static_cast<double>(p.lower.elements)),
        "no order of the multiply-adds moves less");
    if (p.upper) {
      add(upper, capacity, bytesOf(curve, p.upper->cost.moved), "a tiled nest, explicit store");
    }
    if (p.schedule) {
      add(schedule, capacity, bytesOf(curve, p.schedule->bound.cost.moved),
          "best schedule, explicit store");
    }
    if (!curve.lru.empty() && curve.lru[i]) {
      add(lru, capacity, bytesOf(curve, *curve.lru[i]), "best schedule, LRU cache");
    }
  }
  std::vector<Line> lines{std::move(upper), std::move(schedule), std::move(lru), std::move(lower)};
  std::erase_if(lines, [](const Line& line) { return line.x.empty(); });
  return lines;
}

// This machine's links, as points.
std::vector<Line> marksAsLines(const Scene& scene) {
  Line predicted = named("this machine, predicted", Ink::here, 4);
  Line simulated = named("this machine, simulated", Ink::C, 4);
  Line measured = named("this machine, measured", Ink::compute, 4);
  for (const MachineMark& m : marksOf(scene)) {
    add(predicted, m.capacity, m.predicted, m.link + ", predicted");
    if (m.simulated) add(simulated, m.capacity, *m.simulated, m.link + ", simulated");
    if (m.measured) add(measured, m.capacity, *m.measured, m.link + ", measured");
  }
  simulated.hollow = true;  // around the predicted ones
  std::vector<Line> lines;
  for (std::size_t i = 0; i < scene.pins.size(); ++i) {
    const Pinned& pin = scene.pins[i];
    if (!isOf(*scene.bounds.value, pin)) continue;
    Line line = named("", pinInk(i), 3);
    line.name = "pinned: " + pin.pin.name;
    for (const MachineMark& m : predictedMarks(*pin.evaluation)) {
      add(line, m.capacity, m.predicted, pin.pin.name + ": " + m.link + ", predicted");
    }
    lines.push_back(std::move(line));
  }
  lines.insert(lines.end(), {std::move(predicted), std::move(simulated), std::move(measured)});
  std::erase_if(lines, [](const Line& line) { return line.x.empty(); });
  for (Line& line : lines) {
    line.joined = false;
    line.marked = true;
  }
  return lines;
}

}  // namespace

Plot boundsPlot(const Scene& scene) {
  Plot p;
  p.title = "Bytes over the link to a memory, over its capacity";
  if (!scene.now || !scene.bounds) {
    p.missing = whyMissing(scene, scene.bounds.error, "The bounds are being computed.");
    return p;
  }
  const BoundCurve& curve = *scene.bounds.value;
  p.hollow = !scene.bounds.current;
  p.subtitle = subtitleOf(*scene.now);
  p.lines = linesOf(curve);
  // Marks of another workload than the curve's would say nothing.
  if (scene.bounds.current) {
    for (Line& line : marksAsLines(scene)) p.lines.push_back(std::move(line));
  }
  double left = p.lines.front().x.front(), right = left, low = p.lines.front().y.front(),
         high = low;
  for (const Line& line : p.lines) {
    for (double x : line.x) left = std::min(left, x), right = std::max(right, x);
    for (double y : line.y) low = std::min(low, y), high = std::max(high, y);
  }
  p.x = {"capacity", true, left / 1.2, right * 1.2, {}};
  p.y = {"bytes [GB]", true, low / 1.5, high * 2, {}};
  for (std::int64_t bytes = 1; static_cast<double>(bytes) <= p.x.high; bytes *= 8) {
    if (static_cast<double>(bytes) >= p.x.low) {
      p.x.ticks.emplace_back(static_cast<double>(bytes), sizeText(bytes));
    }
  }
  p.y.ticks = logTicks(p.y.low, p.y.high);
  p.legendAt = Corner::topRight;
  return p;
}

Table boundsTable(const Scene& scene) {
  Table table{{"link", "cache_bytes", "lower_bytes", "upper_bytes", "schedule_bytes", "ratio",
               "lru_bytes", "predicted_bytes", "simulated_bytes", "measured_bytes"},
              {}};
  if (!scene.now || !scene.bounds) return table;
  const BoundCurve& curve = *scene.bounds.value;
  const auto optional = [](const std::optional<Bytes>& b) { return b ? bytesCell(*b) : Cell(); };
  for (std::size_t i = 0; i < curve.capacities.size(); ++i) {
    const bounds::BoundPoint& p = curve.points[i];
    const auto lower = static_cast<double>(p.lower.elements);
    std::vector<Cell> row{"", bytesCell(p.capacity * size_of(curve.type)),
                          bytesCell(bytesOf(curve, lower))};
    row.push_back(p.upper ? bytesCell(bytesOf(curve, p.upper->cost.moved)) : Cell());
    if (p.schedule) {
      const double moved = p.schedule->bound.cost.moved;
      row.push_back(bytesCell(bytesOf(curve, moved)));
      row.push_back(numberCell(moved / lower, "{:.3f}"));
    } else {
      row.insert(row.end(), {"", ""});
    }
    row.push_back(!curve.lru.empty() && curve.lru[i] ? bytesCell(bytesOf(curve, *curve.lru[i]))
                                                     : Cell());
    row.insert(row.end(), {"", "", ""});
    table.rows.push_back(std::move(row));
  }
  if (!scene.bounds.current) return table;
  for (const MachineMark& m : marksOf(scene)) {
    table.rows.push_back({m.link, bytesCell(m.capacity), bytesCell(m.bound), "", "", "", "",
                          bytesCell(m.predicted), optional(m.simulated), optional(m.measured)});
  }
  for (const Pinned& pin : scene.pins) {
    if (!isOf(curve, pin)) continue;
    for (const MachineMark& m : predictedMarks(*pin.evaluation)) {
      table.rows.push_back({m.link + " of " + pin.pin.name, bytesCell(m.capacity),
                            bytesCell(m.bound), "", "", "", "", bytesCell(m.predicted), "", ""});
    }
  }
  return table;
}

}  // namespace tcsim::gui
