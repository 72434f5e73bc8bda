// Capacities of bounds, and bounds as numbers that are never too large.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "core/units/quantity.hpp"

namespace tcsim::cli {

// A bare number counts elements, a size with a unit bytes. At least one; `option` stands in errors.
std::int64_t elements_of(const std::string& text, Bytes element, const std::string& option);

// A lower bound, rounded to no more than it is where a double does not hold it.
std::string lower_text(long double elements);
nlohmann::ordered_json lower_json(long double elements);

}  // namespace tcsim::cli
