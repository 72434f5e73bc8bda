// Numbers in texts of other programs.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tcsim {

// The whole text as a number; empty if it is none or out of range.
std::optional<std::int64_t> whole_number(std::string_view text);
std::optional<double> real_number(std::string_view text);  // finite

// Without blanks and line ends around it.
std::string_view trimmed(std::string_view text);

}  // namespace tcsim
