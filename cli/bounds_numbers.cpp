#include "cli/bounds_numbers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

double at_most(long double number) {
  const auto near = static_cast<double>(number);
  return static_cast<long double>(near) <= number ? near : std::nextafter(near, 0.0);
}

}  // namespace

std::int64_t elements_of(const std::string& text, Bytes element, const std::string& option) {
  if (!text.empty() && text.find_first_not_of("0123456789") == std::string::npos) {
    return parse_count(text, option);
  }
  const std::int64_t elements = parse_bytes(text).value() / element.value();
  if (elements < 1) {
    throw UsageError(option, fmt::format("'{}' has no room for one element", text),
                     "give a larger one");
  }
  return elements;
}

std::string lower_text(long double elements) { return fmt::format("{:.0f}", at_most(elements)); }

nlohmann::ordered_json lower_json(long double elements) {
  const double exact = at_most(elements);
  if (exact < 9e15) return static_cast<std::int64_t>(exact);
  return exact;
}

}  // namespace tcsim::cli
