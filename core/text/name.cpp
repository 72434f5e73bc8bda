#include "core/text/name.hpp"

#include <fmt/format.h>

#include <cstdint>

#include "core/error.hpp"
#include "core/text/utf8.hpp"

namespace tcsim {

std::string fault_of_name(std::string_view name) {
  for (std::size_t i = 0; i < name.size();) {
    const Character c = first_character(name.substr(i));
    if (c.bytes == 0 || c.code == no_character) return fmt::format("is not UTF-8 at byte {}", i + 1);
    if (acts(c.code)) {
      return fmt::format("has a control character (U+{:04X}) at byte {}",
                         static_cast<std::uint32_t>(c.code), i + 1);
    }
    i += c.bytes;
  }
  return "";
}

void require_name(std::string_view name, const std::string& place, const std::string& what) {
  const std::string fault = fault_of_name(name);
  if (!fault.empty()) throw InputError(place, what + " " + fault, name_mend);
}

}  // namespace tcsim
