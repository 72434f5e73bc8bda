// Reading a cost model from a TOML table. Internal to core/study.
#pragma once

#include "core/machine/toml_reader.hpp"
#include "core/study/cost.hpp"

namespace tcsim {

// Reads an expression that stands at `node`; its faults get the place.
Expression read_expression(const MachineReader& r, const toml::node& node, std::string_view key);

// `is_file`: with a schema of its own.
CostModel read_cost_model(const MachineReader& r, const toml::table& table, bool is_file);

}  // namespace tcsim
