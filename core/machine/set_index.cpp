#include "core/machine/set_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.hpp"

namespace tcsim {

namespace {

constexpr std::array<std::uint64_t, 3> intel_masks{0x1b5f575440, 0x2eb5faa880, 0x3cccc93100};

// The first so many of Intel's.
SetIndex intel(std::size_t masks) {
  SetIndex index;
  index.masks.assign(intel_masks.begin(), intel_masks.begin() + static_cast<std::ptrdiff_t>(masks));
  return index;
}

std::string sliced_name(std::size_t masks) { return fmt::format("sliced-{}", 1 << masks); }

std::vector<std::uint64_t> parse_masks(std::string_view text) {
  const auto fail = [&](const char* problem) {
    throw UsageError(fmt::format("'{}'", text), problem,
                     "use modulo, hashed, sliced-2, sliced-4, sliced-8 or masks of address bits "
                     "such as 0x1b5f575440,0x2eb5faa880");
  };
  std::vector<std::uint64_t> masks;
  for (std::string_view rest = text;;) {
    const auto comma = rest.find(',');
    const std::string_view one = rest.substr(0, comma);
    std::uint64_t mask = 0;
    const bool hexadecimal = one.starts_with("0x");
    const char* const begin = one.data() + (hexadecimal ? 2 : 0);
    const auto [end, error] = std::from_chars(begin, one.data() + one.size(), mask, 16);
    if (!hexadecimal || error != std::errc() || end != one.data() + one.size()) {
      fail("no way to choose a set");
    }
    masks.push_back(mask);
    if (masks.size() > SetIndex::most_masks) fail("more than 16 masks");
    if (comma == rest.npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (cancel_out(masks)) fail("masks that cancel out, so that slices stay empty");
  return masks;
}

}  // namespace

// Gaussian elimination over one bit.
bool cancel_out(std::vector<std::uint64_t> masks) {
  for (std::size_t i = 0; i < masks.size(); ++i) {
    if (masks[i] == 0) return true;
    const std::uint64_t lowest = masks[i] & (0 - masks[i]);
    for (std::size_t j = i + 1; j < masks.size(); ++j) {
      if (masks[j] & lowest) masks[j] ^= masks[i];
    }
  }
  return false;
}

SetIndex parse_set_index(std::string_view text) {
  if (text == "modulo") return {};
  if (text == "hashed") return {true, {}};
  for (std::size_t n = 1; n <= intel_masks.size(); ++n) {
    if (text == sliced_name(n)) return intel(n);
  }
  return {false, parse_masks(text)};
}

std::string to_text(const SetIndex& index) {
  if (index.hashed) return "hashed";
  if (!index.is_sliced()) return "modulo";
  if (index.masks.size() <= intel_masks.size() && index == intel(index.masks.size())) {
    return sliced_name(index.masks.size());
  }
  std::string text;
  for (std::uint64_t mask : index.masks)
    text += fmt::format("{}{:#x}", text.empty() ? "" : ",", mask);
  return text;
}

}  // namespace tcsim
