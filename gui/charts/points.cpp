#include "gui/charts/points.hpp"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>
#include <string_view>

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

// The bottlenecks that there are, as the tables name their links from the core outward, compute
// last.
std::vector<std::pair<std::string, Ink>> bottlenecksOf(const ResultFolder& folder,
                                                       const ChartPoints& points) {
  std::set<std::string> met;
  for (const ChartPoint& p : points.points) met.insert(p.bottleneck);
  std::vector<std::pair<std::string, Ink>> all;
  int link = 0;
  for (const std::string& column : folder.columns()) {
    constexpr std::string_view end = "_bytes";
    if (!column.ends_with(end) || column.find('-') == column.npos) continue;
    const std::string name = column.substr(0, column.size() - end.size());
    if (met.erase(name) > 0) all.emplace_back(name, linkInk(link));
    ++link;
  }
  const bool compute = met.erase("compute") > 0;
  for (const std::string& name : met) all.emplace_back(name, linkInk(link++));
  if (compute) all.emplace_back("compute", Ink::compute);
  return all;
}

Line marks(std::string name, Ink ink, double width, bool hollow) {
  Line l;
  l.name = std::move(name);
  l.ink = ink;
  l.joined = false;
  l.marked = true;
  l.hollow = hollow;
  l.width = width;
  return l;
}

// Where the fewest points would be below the legend.
Corner emptiest(const ChartPoints& points) {
  constexpr double wide = 0.3, high = 0.4;
  const auto place = [](double v, double low, double up, bool log) {
    return log ? std::log(v / low) / std::log(up / low) : up > low ? (v - low) / (up - low) : 0.5;
  };
  int topLeft = 0, topRight = 0, bottomRight = 0;
  for (const ChartPoint& p : points.points) {
    const double x = place(p.x, points.x_low, points.x_high, points.x_log);
    const double y = place(p.y, points.y_low, points.y_high, points.y_log);
    topLeft += x < wide && y > 1 - high;
    topRight += x > 1 - wide && y > 1 - high;
    bottomRight += x > 1 - wide && y < high;
  }
  if (topRight <= topLeft && topRight <= bottomRight) return Corner::topRight;
  return topLeft <= bottomRight ? Corner::topLeft : Corner::bottomRight;
}

}  // namespace

PointsPlot pointsPlot(const ResultFolder& folder, const ChartPoints& points,
                      const std::optional<PointKey>& chosen) {
  PointsPlot result;
  Plot& plot = result.plot;
  const std::string &x = folder.columns()[points.x], &y = folder.columns()[points.y];
  plot.title = fmt::format("{} over {}", y, x);
  if (points.points.empty()) {
    plot.missing = "No point has both of these columns; choose others, or filter less.";
    return result;
  }
  plot.subtitle = fmt::format("{}, {} points", folder.study(), points.all);
  if (static_cast<std::int64_t>(points.points.size()) < points.all) {
    plot.subtitle +=
        fmt::format("; of those on one another one is drawn, {} in all", points.points.size());
  }
  plot.x = axisOf(x, points.x_low, points.x_high, points.x_log);
  plot.y = axisOf(y, points.y_low, points.y_high, points.y_log);
  plot.legendAt = emptiest(points);
  std::map<std::string, std::size_t> lineOf;
  for (const auto& [name, ink] : bottlenecksOf(folder, points)) {
    lineOf[name] = plot.lines.size();
    plot.lines.push_back(marks(name, ink, 1, false));
  }
  const std::size_t front = plot.lines.size(), asItIs = front + 1, here = front + 2;
  plot.lines.push_back(marks("Pareto front", Ink::text, 2.6, true));
  plot.lines.push_back(marks("machine as it is", Ink::baseline, 3.4, true));
  plot.lines.push_back(marks("chosen", Ink::here, 4, false));
  result.points.resize(plot.lines.size());
  for (std::size_t i = 0; i < points.points.size(); ++i) {
    const ChartPoint& p = points.points[i];
    const std::string words =
        fmt::format("{} of design {}: {} {:.6g}, {} {:.6g}, limited by {}", p.key.workload,
                    p.key.design, x, p.x, y, p.y, p.bottleneck);
    const auto add = [&](std::size_t l) {
      plot.lines[l].x.push_back(p.x);
      plot.lines[l].y.push_back(p.y);
      plot.lines[l].readings.push_back(words);
      result.points[l].push_back(i);
    };
    add(lineOf.at(p.bottleneck));
    if (p.front) add(front);
    if (p.base) add(asItIs);
    if (chosen && p.key == *chosen) add(here);
  }
  for (std::size_t l = plot.lines.size(); l-- > 0;) {
    if (!plot.lines[l].x.empty()) continue;
    plot.lines.erase(plot.lines.begin() + static_cast<std::ptrdiff_t>(l));
    result.points.erase(result.points.begin() + static_cast<std::ptrdiff_t>(l));
  }
  return result;
}

}  // namespace tcsim::gui
