#include "sweep/chart_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "core/error.hpp"
#include "sweep/database.hpp"
#include "sweep/row_filter.hpp"

namespace tcsim {

namespace {

constexpr double cells_across = 160, cells_up = 100;

// The cell of an axis that a value falls into.
double cell_of(double v, double low, double high, bool log, double cells) {
  if (!(high > low)) return 0;
  const double share = log ? std::log(v / low) / std::log(high / low) : (v - low) / (high - low);
  return std::min(cells - 1, std::floor(share * cells));
}

}  // namespace

ChartPoints chart_points(const ResultFolder& folder, const std::string& filter,
                         const std::string& x, const std::string& y, std::stop_token stop) {
  ChartPoints chart;
  chart.x = folder.column(x);
  chart.y = folder.column(y);
  for (const std::size_t c : {chart.x, chart.y}) {
    if (folder.is_number(c)) continue;
    throw UsageError(folder.columns()[c], "this column has texts", "choose one with numbers");
  }
  const std::string xs = folder.column_sql(chart.x), ys = folder.column_sql(chart.y);
  const std::string from = fmt::format("{} WHERE ({}) AND {} IS NOT NULL AND {} IS NOT NULL",
                                       ResultFolder::join(), filter_sql(folder, filter), xs, ys);
  Database db(results_file(folder.path()), Database::Mode::read);
  db.stop_when(std::move(stop));
  Statement ends(
      db, fmt::format("SELECT count(*), min({0}), max({0}), min({1}), max({1}) {2}", xs, ys, from));
  ends.step();
  chart.all = ends.integer(0);
  if (chart.all == 0) return chart;
  chart.x_low = ends.real(1);
  chart.x_high = ends.real(2);
  chart.y_low = ends.real(3);
  chart.y_high = ends.real(4);
  const auto wide = [](double low, double high) { return low > 0 && high > 8 * low; };
  chart.x_log = wide(chart.x_low, chart.x_high);
  chart.y_log = wide(chart.y_low, chart.y_high);

  const char* bottleneck = folder.of_design(chart.y) ? "d.main_bottleneck" : "p.bottleneck";
  Statement all(db, fmt::format("SELECT {}, {}, {}, d.base, d.pareto, p.design, p.workload {}", xs,
                                ys, bottleneck, from));
  std::unordered_set<std::int64_t> taken;
  while (all.step()) {
    ChartPoint p;
    p.x = all.real(0);
    p.y = all.real(1);
    p.base = all.integer(3) == 1;
    p.front = all.integer(4) == 1;
    const double column = cell_of(p.x, chart.x_low, chart.x_high, chart.x_log, cells_across);
    const double row = cell_of(p.y, chart.y_low, chart.y_high, chart.y_log, cells_up);
    const bool is_new = taken.insert(std::llround(row * cells_across + column)).second;
    if (!is_new && !p.base && !p.front) continue;
    p.bottleneck = all.text(2);
    p.key = {all.integer(5), all.text(6)};
    chart.points.push_back(std::move(p));
  }
  return chart;
}

}  // namespace tcsim
