// What was counted while a workload ran, beside what is predicted of it.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "cli/result.hpp"

namespace tcsim::cli {

// All that moved over a link, in and out: kernels and packing. Empty if it was not counted, or only
// in one direction that the accounting wants both of, or if the accounting leaves packing out,
// which no counter can tell apart.
std::optional<Bytes> measured_bytes(const Result& result, std::size_t link);

// The figures of one direction; empty if not counted.
std::optional<Bytes> measured_in(const Result& result, std::size_t link);
std::optional<Bytes> measured_out(const Result& result, std::size_t link);

// Adds to the entry of one level.
void add_counted(nlohmann::ordered_json& level, const Result& result, std::size_t link);
// Precondition: something was counted.
nlohmann::ordered_json counters_json(const Result& result);
void print_counted(const Result& result, std::ostream& out);

}  // namespace tcsim::cli
