// Names that people give to machines, levels, suites and studies. They end up in tables, JSON, SQL
// and file names, so they are checked where they are read.
#pragma once

#include <string>
#include <string_view>

namespace tcsim {

// Why a text can be no name: "is not UTF-8 at byte 3", "has a control character (U+0007) at byte 1"; "" if
// it can.
std::string fault_of_name(std::string_view name);

// Throws InputError where it can be none. `what` is "the machine's name".
void require_name(std::string_view name, const std::string& place, const std::string& what);

inline constexpr const char* name_mend = "use printable characters in UTF-8";

}  // namespace tcsim
