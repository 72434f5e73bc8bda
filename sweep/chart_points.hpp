// Points of a folder of results along two columns, for a chart.
#pragma once

#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

#include "sweep/result_folder.hpp"

namespace tcsim {

struct ChartPoint {
  PointKey key;
  double x = 0, y = 0;
  std::string bottleneck;  // where y is of a design: its main one
  bool base = false;       // the machine as it is
  bool front = false;      // of the Pareto front
};

struct ChartPoints {
  std::size_t x = 0, y = 0;  // the columns
  std::int64_t all = 0;      // points that have both values
  double x_low = 0, x_high = 0, y_low = 0, y_high = 0;
  bool x_log = false, y_log = false;  // over more than a factor of eight
  // Of points that would lie on one another the first; machines as they are and those of the Pareto
  // front are all there.
  std::vector<ChartPoint> points;
};

// Both columns must be of numbers. Throws as ResultRows' constructor.
ChartPoints chart_points(const ResultFolder& folder, const std::string& filter,
                         const std::string& x, const std::string& y, std::stop_token stop);

}  // namespace tcsim
