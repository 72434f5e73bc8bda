#include "gui/charts/points.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>

#include "core/units/text.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

constexpr int mostTicks = 8;

Axis axisOf(const std::string& column, double low, double high, bool log) {
  Axis a{column, log, low, high, {}};
  if (log) {
    a.low = low / 1.15;
    a.high = high * 1.15;
    if (column.ends_with("_bytes")) {
      const int first = static_cast<int>(std::ceil(std::log2(a.low)));
      const int last = static_cast<int>(std::floor(std::log2(a.high)));
      const int step = std::max(1, (last - first + mostTicks) / mostTicks);
      for (int i = first; i <= last && first >= 0 && last < 63; i += step) {
        a.ticks.emplace_back(std::exp2(i), to_binary_display(Bytes(std::int64_t{1} << i)));
      }
    } else {
      a.ticks = logTicks(a.low, a.high);
    }
    return a;
  }
  const double margin = high > low ? 0.04 * (high - low) : std::max(1e-12, 0.1 * std::abs(low));
  a.low = low - margin;
  a.high = high + margin;
  return a;
}

// The links from the core outward, as the tables name their columns.
std::map<std::string, Ink> inksOf(const ResultFolder& folder, const ChartPoints& points) {
  std::map<std::string, Ink> inks{{"compute", Ink::compute}};
  int link = 0;
  for (const std::string& column : folder.columns()) {
    const auto end = column.rfind("_bytes");
    if (end == column.npos || end + 6 != column.size() || column.find('-') == column.npos) continue;
    if (inks.emplace(column.substr(0, end), linkInk(link)).second) ++link;
  }
  for (const ChartPoint& p : points.points) {
    if (inks.emplace(p.bottleneck, linkInk(link)).second) ++link;
  }
  return inks;
}

}  // namespace

PointsPlot pointsPlot(const ResultFolder& folder, const ChartPoints& points,
                      const std::optional<PointKey>& chosen) {
  PointsPlot result;
  Plot& plot = result.plot;
  const std::string &x = folder.columns()[points.x], &y = folder.columns()[points.y];
  plot.title = fmt::format("{} over {}", y, x);
  if (points.points.empty()) {
    plot.missing = "No point has both of these columns.";
    return result;
  }
  plot.subtitle = fmt::format("{}, {} points", folder.study(), points.all);
  if (static_cast<std::int64_t>(points.points.size()) < points.all) {
    plot.subtitle +=
        fmt::format("; of those on one another one is drawn, {} in all", points.points.size());
  }
  plot.x = axisOf(x, points.x_low, points.x_high, points.x_log);
  plot.y = axisOf(y, points.y_low, points.y_high, points.y_log);
  plot.legendAt = Corner::topRight;
  const std::map<std::string, Ink> inks = inksOf(folder, points);
  const auto mark = [](std::string name, Ink ink, double width, bool hollow) {
    Line l;
    l.name = std::move(name);
    l.ink = ink;
    l.joined = false;
    l.marked = true;
    l.hollow = hollow;
    l.width = width;
    return l;
  };
  std::map<std::pair<std::string, bool>, std::size_t> lineOf;  // by bottleneck, base
  Line front = mark("Pareto front", Ink::text, 2.6, true),
       here = mark("chosen", Ink::here, 4, false);
  std::vector<std::size_t> frontPoints, herePoints;
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    const ChartPoint& p = points.points[i];
    const auto [found, isNew] = lineOf.try_emplace({p.bottleneck, p.base}, plot.lines.size());
    if (isNew) {
      plot.lines.push_back(mark(p.base ? p.bottleneck + ", machine as it is" : p.bottleneck,
                                inks.at(p.bottleneck), p.base ? 3 : 1, p.base));
      result.points.emplace_back();
    }
    const auto add = [&](Line& line, std::vector<std::size_t>& of) {
      line.x.push_back(p.x);
      line.y.push_back(p.y);
      line.readings.push_back(fmt::format("{} of design {}: {} {:.6g}, {} {:.6g}, limited by {}",
                                          p.key.workload, p.key.design, x, p.x, y, p.y,
                                          p.bottleneck));
      of.push_back(i);
    };
    add(plot.lines[found->second], result.points[found->second]);
    if (p.front) add(front, frontPoints);
    if (chosen && p.key == *chosen) add(here, herePoints);
  }
  if (!front.x.empty()) {
    plot.lines.push_back(std::move(front));
    result.points.push_back(std::move(frontPoints));
  }
  if (!here.x.empty()) {
    plot.lines.push_back(std::move(here));
    result.points.push_back(std::move(herePoints));
  }
  return result;
}

}  // namespace tcsim::gui
