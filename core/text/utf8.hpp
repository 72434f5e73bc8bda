// Characters of UTF-8 (RFC 3629).
#pragma once

#include <cstddef>
#include <string_view>

namespace tcsim {

inline constexpr char32_t no_character = 0xffffffff;  // a byte that is no UTF-8

struct Character {
  std::size_t bytes;  // 0: cut off by the end of the text
  char32_t code;
};

// The first character of a text that is not empty: neither longer than need be, nor a surrogate, nor beyond
// U+10FFFF.
Character first_character(std::string_view text);

// Controls, and what changes the direction of text or breaks a line in some programs.
bool acts(char32_t c);

}  // namespace tcsim
