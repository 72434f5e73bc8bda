// Where every TOML text that tcsim reads is parsed, with limits that keep any text from taking the
// stack or the memory (docs/design.md, "What is read").
#pragma once

#include <toml++/toml.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace tcsim {

inline constexpr std::size_t most_toml_bytes = std::size_t{16} << 20;
inline constexpr int most_key_parts = 32;   // "a.b.c" has 3
inline constexpr int most_toml_depth = 32;  // arrays and inline tables within one another

// Throws InputError with "PLACE:LINE:COLUMN" for what is no TOML or beyond a limit.
toml::table parse_toml(std::string_view text, const std::string& place);

}  // namespace tcsim
