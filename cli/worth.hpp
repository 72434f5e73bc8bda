// What a design costs by a cost model and what more of each knob is worth (core/study/worth.hpp),
// as JSON and as tables.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "core/study/worth.hpp"

namespace tcsim::cli {

nlohmann::ordered_json json_of(const CostModel& model, const DesignCost& cost);
nlohmann::ordered_json json_of(const std::vector<Worth>& worth);
void print_cost(const CostModel& model, const DesignCost& cost, std::ostream& out);
void print_worth(const std::vector<Worth>& worth, std::ostream& out);

}  // namespace tcsim::cli
