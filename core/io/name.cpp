#include "core/io/name.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace tcsim {

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) -> std::uint32_t {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
  };
  const std::uint32_t lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  std::uint32_t code = lead & (0x7Fu >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3F);
  }
  const bool whole = lead >= 0xC0 && lead < 0xF8 && code >= least[bytes] && code <= 0x10FFFF &&
                     (code < 0xD800 || code > 0xDFFF);
  return whole ? Character{code, bytes} : Character{};
}

std::string fault_of_name(std::string_view name) {
  for (std::size_t i = 0; i < name.size();) {
    const Character c = first_character(name.substr(i));
    if (c.bytes == 0) return fmt::format("is not UTF-8 at byte {}", i + 1);
    if (c.code < 0x20 || (c.code >= 0x7F && c.code < 0xA0)) {
      return fmt::format("has a control character (U+{:04X}) at byte {}", c.code, i + 1);
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
