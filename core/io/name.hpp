// Names that people give to machines, levels, suites and studies. They end up in tables, JSON, SQL
// and file names, so they are checked where they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tcsim {

struct Character {
  std::uint32_t code = 0;
  std::size_t bytes = 0;  // 0: what is there is not UTF-8
};
// The first one of a text in UTF-8 (RFC 3629: neither longer than need be, nor a surrogate, nor
// beyond U+10FFFF). Precondition: it is not empty.
Character first_character(std::string_view text);

// Why a text can be no name: "is not UTF-8 at byte 3", "has a control character at byte 1"; "" if
// it can.
std::string fault_of_name(std::string_view name);

// Throws InputError where it can be none. `what` is "the machine's name".
void require_name(std::string_view name, const std::string& place, const std::string& what);

inline constexpr const char* name_mend = "use printable characters in UTF-8";

}  // namespace tcsim
