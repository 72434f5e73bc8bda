// tcsim bounds --curve --run: what ran on this machine, as marks at its capacities.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/result.hpp"

namespace tcsim::cli {

// Elements that moved over a link, under the machine's accounting.
struct BoundMark {
  std::string link;
  std::int64_t capacity = 0;  // elements inside the link (bounds::capacities_inside())
  double lower = 0;           // what no order moves less than, with all of them as one store
  double predicted = 0;
  std::optional<double> simulated;  // line by line, by the machine's own caches
  std::optional<double> measured;
  std::string not_measured;  // why; empty where it was
};

// A mark for each link of a result with its prediction and bounds, and with what else it has.
std::vector<BoundMark> bound_marks(const Result& result);

// A row for each, and why some were not measured.
void print_marks(const Result& result, std::ostream& out);
nlohmann::ordered_json json_of_marks(const Result& result);

}  // namespace tcsim::cli
