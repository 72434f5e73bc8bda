// Points of a sweep along two columns of its results.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "gui/charts/plot.hpp"
#include "sweep/chart_points.hpp"

namespace tcsim::gui {

struct PointsPlot {
  Plot plot;
  // Of each line of the plot the index into ChartPoints::points of each of its points.
  std::vector<std::vector<std::size_t>> points;
};

// A mark for each point in the ink of its bottleneck; the Pareto front, the machines as they are
// and `chosen` stand out.
PointsPlot pointsPlot(const ResultFolder& folder, const ChartPoints& points,
                      const std::optional<PointKey>& chosen);

}  // namespace tcsim::gui
