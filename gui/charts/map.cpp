// Time over two knobs, with the outlines of the bottlenecks.
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

}  // namespace

Plot mapPlot(const Scene& scene) {
  Plot p;
  p.title = "Time over two knobs";
  if (!scene.map) {
    p.missing = !scene.map.error.empty() ? scene.map.error
                : scene.now              ? "The map is being computed."
                                         : nothingYet;
    return p;
  }
  const Mapped& map = *scene.map.value;
  const Plane& plane = map.plane;
  // The first knob runs across, the second upward.
  const std::size_t rows = columnsOf(plane), columns = plane.points.size() / rows;
  p.hollow = !scene.map.current;
  p.subtitle = subtitleOf(*scene.now);
  p.title = fmt::format("Predicted time over {} and {}", plane.knobs[0].name, plane.knobs[1].name);
  double most = 0;
  for (const PlanePoint& q : plane.points) {
    if (q.choice) most = std::max(most, q.choice->time().value());
  }
  const TimeUnit unit = unitOf(most);
  p.cells = {columns, rows, std::vector<double>(columns * rows, std::nan("")),
             fmt::format("predicted time [{}]", unit.name), true};
  const auto point = [&](std::size_t c, std::size_t r) -> const PlanePoint& {
    return plane.points[c * rows + r];
  };
  const auto name = [&](std::size_t c, std::size_t r) {
    return point(c, r).choice ? point(c, r).bottleneck : std::string();
  };
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
      if (c + 1 < columns && name(c, r) != name(c + 1, r)) {
        p.outlines.push_back({x + 0.5, y - 0.5, x + 0.5, y + 0.5});
      }
      if (r + 1 < rows && name(c, r) != name(c, r + 1)) {
        p.outlines.push_back({x - 0.5, y + 0.5, x + 0.5, y + 0.5});
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
  Line here;
  here.name = "this machine";
  here.ink = Ink::here;
  here.joined = false;
  here.marked = true;
  here.width = 4;
  here.x = {hereX};
  here.y = {hereY};
  if (here.x[0] >= p.x.low && here.x[0] <= p.x.high && here.y[0] >= p.y.low &&
      here.y[0] <= p.y.high) {
    p.lines.push_back(here);
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
  for (const PlanePoint& p : plane.points) {
    std::vector<Cell> row{Cell(shown(plane.knobs[0], p.values[0]), p.values[0]),
                          Cell(shown(plane.knobs[1], p.values[1]), p.values[1])};
    if (p.choice) {
      row.push_back(timeCell(p.choice->time()));
      row.push_back(numberCell(p.choice->prediction.rate.value() / 1e9));
      row.emplace_back(p.bottleneck);
    } else {
      row.insert(row.end(), {"", "", "no such machine: " + p.remark});
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tcsim::gui
