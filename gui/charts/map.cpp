// Time over two knobs, with the outlines of the bottlenecks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

std::size_t columnsOf(const Plane& plane) {  // values of the second knob
  std::size_t n = 0;
  while (n < plane.points.size() && plane.points[n].values[0] == plane.points[0].values[0]) ++n;
  return n;
}

// Where a value lies among those of a range, as a real index.
double placeOf(const std::vector<double>& values, double v) {
  if (values.size() < 2) return 0;
  std::size_t i = 1;
  while (i + 1 < values.size() && values[i] < v) ++i;
  return static_cast<double>(i - 1) +
         std::log(v / values[i - 1]) / std::log(values[i] / values[i - 1]);
}

// A value at a real index of a range: placeOf() the other way round.
double valueAt(const std::vector<double>& values, double place) {
  const auto i = static_cast<std::size_t>(
      std::clamp(std::floor(place), 0.0, static_cast<double>(values.size()) - 2));
  return values[i] * std::pow(values[i + 1] / values[i], place - static_cast<double>(i));
}

std::string nameOf(const PlanePoint& p) { return p.choice ? p.bottleneck : std::string(); }

// Between cells of different bottlenecks.
std::vector<Segment> outlinesOf(const Plane& plane) {
  std::vector<Segment> all;
  const std::size_t rows = columnsOf(plane), columns = plane.points.size() / rows;
  const auto name = [&](std::size_t c, std::size_t r) {
    return nameOf(plane.points[c * rows + r]);
  };
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = static_cast<double>(c), y = static_cast<double>(r);
      if (c + 1 < columns && name(c, r) != name(c + 1, r)) {
        all.push_back({x + 0.5, y - 0.5, x + 0.5, y + 0.5});
      }
      if (r + 1 < rows && name(c, r) != name(c, r + 1)) {
        all.push_back({x - 0.5, y + 0.5, x + 0.5, y + 0.5});
      }
    }
  }
  return all;
}

// Those of a pin where they are on this map, whose values may be others.
std::vector<Segment> ghostOutlines(const Mapped& pinned, const Mapped& map, Ink ink) {
  std::vector<Segment> all;
  const auto moved = [&](int knob, double place) {
    const std::vector<double>&from = pinned.ranges[knob].values, &to = map.ranges[knob].values;
    if (from == to || from.size() < 2) return place;
    return std::clamp(placeOf(to, valueAt(from, place)), -0.5,
                      static_cast<double>(to.size()) - 0.5);
  };
  for (const Segment& s : outlinesOf(pinned.plane)) {
    all.push_back({moved(0, s.x0), moved(1, s.y0), moved(0, s.x1), moved(1, s.y1), true, ink});
  }
  return all;
}

// The place of a machine on the map, if it is there.
Line machineMark(const Mapped& map, const Machine& m, std::string name, Ink ink) {
  Line mark;
  mark.name = std::move(name);
  mark.ink = ink;
  mark.joined = false;
  mark.marked = true;
  mark.width = 4;
  double at[2] = {};
  for (int k = 0; k < 2; ++k) {
    const std::vector<double>& values = map.ranges[k].values;
    at[k] = placeOf(values, value_of(m, map.plane.knobs[k]));
    if (!(at[k] >= -0.5 && at[k] <= static_cast<double>(values.size()) - 0.5)) return mark;
  }
  mark.x = {at[0]};
  mark.y = {at[1]};
  return mark;
}

// Those that no other is at least as quick as for at most as much.
Line frontMark(const Mapped& map, std::size_t rows) {
  Line mark;
  mark.name = map.costs->is_price ? "none as quick is cheaper" : "none as quick is smaller";
  mark.joined = false;
  mark.marked = true;
  mark.hollow = true;
  mark.width = 1.4;
  for (std::size_t i = 0; i < map.costs->front.size(); ++i) {
    if (!map.costs->front[i]) continue;
    mark.x.push_back(static_cast<double>(i / rows));
    mark.y.push_back(static_cast<double>(i % rows));
  }
  return mark;
}

// Whether a pin has a map over the same knobs.
bool isOver(const Pinned& pin, const Mapped& map) {
  return pin.evaluation && pin.map && pin.map->vary[0] == map.vary[0] &&
         pin.map->vary[1] == map.vary[1];
}

}  // namespace

Plot mapPlot(const Scene& scene) {
  Plot p;
  p.title = "Time over two knobs";
  if (!scene.map) {
    p.missing = whyMissing(scene, scene.map.error, "The map is being computed.");
    return p;
  }
  const Mapped& map = *scene.map.value;
  const Plane& plane = map.plane;
  // The first knob runs across, the second upward.
  const std::size_t rows = columnsOf(plane), columns = plane.points.size() / rows;
  if (rows < 2 || columns < 2) {
    p.missing = oneMachine;
    return p;
  }
  p.hollow = !scene.map.current;
  p.subtitle = subtitleOf(*scene.now);
  p.title = fmt::format("Predicted time over {} and {}", plane.knobs[0].name, plane.knobs[1].name);
  double most = 0, least = std::numeric_limits<double>::infinity();
  for (const PlanePoint& q : plane.points) {
    if (!q.choice) continue;
    most = std::max(most, q.choice->time().value());
    least = std::min(least, q.choice->time().value());
  }
  if (most > 0 && most < least * (1 + no_gain_below)) {
    p.title =
        fmt::format("Nothing changes over {} and {}", plane.knobs[0].name, plane.knobs[1].name);
    p.subtitle += fmt::format(
        "\nEvery one of these machines takes {}. Choose other knobs or a wider range, or see what "
        "would help on the right.",
        to_display(Seconds(most)));
  }
  const TimeUnit unit = unitOf(most);
  p.cells = {columns, rows, std::vector<double>(columns * rows, std::nan("")),
             fmt::format("predicted time [{}]", unit.name), true};
  const auto point = [&](std::size_t c, std::size_t r) -> const PlanePoint& {
    return plane.points[c * rows + r];
  };
  const auto name = [&](std::size_t c, std::size_t r) { return nameOf(point(c, r)); };
  p.outlines = outlinesOf(plane);
  p.cells.readings.resize(columns * rows);
  struct Sum {
    double x = 0, y = 0, n = 0;
  };
  std::map<std::string, Sum> middle;
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      const double x = static_cast<double>(c), y = static_cast<double>(r);
      const PlanePoint& q = point(c, r);
      p.cells.readings[r * columns + c] = fmt::format(
          "{} {}, {} {}: {}", plane.knobs[0].name, shown(plane.knobs[0], q.values[0]),
          plane.knobs[1].name, shown(plane.knobs[1], q.values[1]),
          q.choice ? fmt::format("{}, limited by {}", to_display(q.choice->time()), q.bottleneck)
                   : "no such machine: " + q.remark);
      Sum& s = middle[q.choice ? q.bottleneck : std::string()];
      s = {s.x + x, s.y + y, s.n + 1};
      if (q.choice) {
        p.cells.values[r * columns + c] = point(c, r).choice->time().value() / unit.seconds;
      }
    }
  }
  // Where this machine is.
  const Machine& m = scene.now->subject.machine;
  const double hereX = placeOf(map.ranges[0].values, value_of(m, plane.knobs[0]));
  const double hereY = placeOf(map.ranges[1].values, value_of(m, plane.knobs[1]));
  // A name stands on a cell of its own near the middle of all of them, by turns above and below it,
  // and off the machine.
  int turn = 0;
  for (const auto& [bottleneck, s] : middle) {
    double best = std::numeric_limits<double>::infinity();
    Label label;
    label.text = bottleneck.empty() ? "no such machine" : bottleneck;
    if (bottleneck.empty()) label.ink = Ink::faint;
    const double off = (turn++ % 2 == 0 ? 0.25 : -0.2) * static_cast<double>(rows);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < columns; ++c) {
        const double x = static_cast<double>(c), y = static_cast<double>(r);
        double d = std::hypot(x - s.x / s.n, y - s.y / s.n - off);
        if (std::abs(y - hereY) < 0.6 && std::abs(x - hereX) < 1.6) d += 100;
        if (name(c, r) != bottleneck || d >= best) continue;
        best = d;
        label.x = x;
        label.y = y;
      }
    }
    p.labels.push_back(label);
  }
  const auto ticks = [&](Axis& axis, int k, std::size_t n) {
    axis = {axisLabel(plane.knobs[k]), false, -0.5, static_cast<double>(n) - 0.5, {}};
    for (std::size_t i = 0; i<n; i += n> 10 ? 2 : 1) {
      axis.ticks.emplace_back(static_cast<double>(i),
                              tickText(plane.knobs[k], map.ranges[k].values[i]));
    }
  };
  ticks(p.x, 0, columns);
  ticks(p.y, 1, rows);
  std::vector<Line> machines;
  if (map.costs) machines.push_back(frontMark(map, rows));
  for (std::size_t i = 0; i < scene.pins.size(); ++i) {
    const Pinned& pin = scene.pins[i];
    if (!isOver(pin, map)) continue;
    const std::vector<Segment> ghost = ghostOutlines(*pin.map, map, pinInk(i));
    p.outlines.insert(p.outlines.end(), ghost.begin(), ghost.end());
    machines.push_back(
        machineMark(map, pin.evaluation->subject.machine, "pinned: " + pin.pin.name, pinInk(i)));
    machines.back().hollow = true;
    machines.back().width = 3.4;
  }
  machines.push_back(machineMark(map, m, "this machine", Ink::here));
  for (Line& mark : machines) {
    if (!mark.x.empty()) p.lines.push_back(std::move(mark));
  }
  return p;
}

Table mapTable(const Scene& scene) {
  Table table{{"first", "second", "predicted_seconds", "gflops", "bottleneck"}, {}};
  if (!scene.map) return table;
  const Plane& plane = scene.map->plane;
  for (std::size_t k = 0; k < 2; ++k) {
    table.columns[k] = fmt::format("{} [{}]", plane.knobs[k].name, to_text(plane.knobs[k].unit));
  }
  std::vector<const Plane*> pins;
  for (const Pinned& pin : scene.pins) {
    if (!isOver(pin, *scene.map.value) || pin.map->plane.points.size() != plane.points.size()) {
      continue;
    }
    pins.push_back(&pin.map->plane);
    table.columns.insert(table.columns.end(),
                         {pinColumn(pin, "seconds"), pinColumn(pin, "bottleneck")});
  }
  const auto& costs = scene.map->costs;
  if (costs) {
    table.columns.insert(table.columns.end(), {costs->is_price ? "price" : "area_mm2", "front"});
  }
  for (std::size_t i = 0; i < plane.points.size(); ++i) {
    const PlanePoint& p = plane.points[i];
    std::vector<Cell> row{Cell(shown(plane.knobs[0], p.values[0]), p.values[0]),
                          Cell(shown(plane.knobs[1], p.values[1]), p.values[1])};
    if (p.choice) {
      row.push_back(timeCell(p.choice->time()));
      row.push_back(numberCell(p.choice->prediction.rate.value() / 1e9));
      row.emplace_back(p.bottleneck);
    } else {
      row.insert(row.end(), {"", "", "no such machine: " + p.remark});
    }
    for (const Plane* pin : pins) {
      const PlanePoint& a = pin->points[i];
      row.push_back(a.choice ? timeCell(a.choice->time()) : Cell());
      row.emplace_back(nameOf(a));
    }
    if (costs) {
      row.push_back(p.choice ? numberCell(costs->costs[i]) : Cell());
      row.emplace_back(costs->front[i] ? "yes" : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tcsim::gui
