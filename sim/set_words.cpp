#include "sim/set_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace tcsim {

namespace {

double share_of(Lines part, Lines all) {
  return static_cast<double>(part.value()) /
         static_cast<double>(std::max<std::int64_t>(1, all.value()));
}

// Places whose addresses differ by `apart` fall on so many sets, which `span` bytes go through.
std::int64_t sets_met(Bytes apart, std::int64_t span, std::int64_t line) {
  return span / std::max(line, std::gcd(apart.value(), span));
}

std::optional<CrowdingCause> cause_of(const SetUse& use, const Contraction& c, TensorId t) {
  const std::int64_t line = use.level.line.value(), span = use.level.sets_in_slice() * line;
  std::optional<CrowdingCause> worst;
  for (DimId d : c.dims_of(t)) {
    const Bytes apart = c.stride(t, d).value() * size_of(c.type());
    if (apart < use.level.line) continue;
    const std::int64_t sets = sets_met(apart, span, line);
    if (c.dim(d).extent <= sets || (worst && worst->falls_on <= sets)) continue;
    worst =
        CrowdingCause{c.dim(d).name, apart, sets,
                      sets_met(apart + use.level.line, span, line) == use.level.sets_in_slice()};
  }
  return worst;
}

std::string cause_words(const SetUse& use, const Contraction& c, const CrowdingCause& cause) {
  const std::int64_t element = size_of(c.type()).value();
  std::string words =
      fmt::format("Its neighbours along {} are {} bytes apart ({} elements of {})", cause.dimension,
                  cause.apart.value(), cause.apart.value() / element, element);
  if (cause.falls_on == 1) {
    words += fmt::format(
        ", a multiple of the {} bytes that {} sets span, so all of them fall on "
        "one set",
        use.level.sets_in_slice() * use.level.line.value(), use.level.sets_in_slice());
  } else {
    words +=
        fmt::format(", so they fall on {} of {} sets", cause.falls_on, use.level.sets_in_slice());
  }
  if (use.level.index.is_sliced()) words += " of each slice";
  words += ".";
  return words;
}

// What would spread the lines of a tensor in place.
std::string mend_words(const SetUse& use, TensorId t, const CrowdingCause& cause) {
  for (ArrayId a : use.arrays.ids()) {
    if (use.arrays.is_buffer(a) && use.arrays.tensor_of(a) == t)
      return " Only its copying meets it.";
  }
  const std::string longer =
      cause.a_line_more ? fmt::format("rows that are {} bytes longer", use.level.line.value()) : "";
  if (t == TensorId::C) return longer.empty() ? "" : fmt::format(" In {} they spread.", longer);
  return longer.empty() ? " Packing it spreads them."
                        : fmt::format(" Packing it spreads them, or {}.", longer);
}

}  // namespace

std::vector<CrowdedArray> crowded_arrays(const SetUse& use, const Contraction& contraction) {
  std::vector<CrowdedArray> all;
  for (ArrayId a : use.arrays.ids()) {
    const ArraySpread& s = use.spread_of(a);
    if (2 * s.sets >= s.room || s.beyond == Lines(0)) continue;
    const SetTally total = use.total(a);
    CrowdedArray crowded{a, use.a_window(s.lines), use.a_window(Lines(s.sets)),
                         use.a_window(Lines(s.room)),
                         share_of(total.misses.conflict, total.misses.total())};
    if (!use.arrays.is_buffer(a) && !use.level.index.hashed) {
      crowded.cause = cause_of(use, contraction, use.arrays.tensor_of(a));
    }
    all.push_back(std::move(crowded));
  }
  std::ranges::stable_sort(all, std::greater{}, [&](const CrowdedArray& c) {
    return std::pair(use.total(c.array).misses.conflict, use.spread_of(c.array).beyond);
  });
  return all;
}

std::vector<std::string> set_words(const SetUse& use, const Contraction& contraction) {
  const SetTally total = use.total();
  Lines beyond;
  for (const SetDemand& d : use.demand) beyond += d.beyond;
  const std::string& name = use.level.name;
  std::vector<std::string> words{fmt::format(
      "{:.1f} % of the misses of {} are conflicts; of the lines that a window wants, {:.1f} % are "
      "more than their set has ways.",
      100 * share_of(total.misses.conflict, total.misses.total()), name,
      100 * share_of(beyond, total.wanted))};
  const std::vector<CrowdedArray> crowded = crowded_arrays(use, contraction);
  if (crowded.empty()) {
    words.push_back(fmt::format(
        "No array crowds in {}: the lines of each lie in half or more of the sets that they could "
        "lie in, or find ways enough there.",
        name));
  }
  for (const CrowdedArray& c : crowded) {
    std::string sentence = fmt::format(
        "{} crowds: its {:.1f} lines of a window lie in {:.1f} of {} sets, where {:.1f} have room; "
        "{:.1f} % of its misses are conflicts.",
        to_text(use.arrays[c.array]), c.lines, c.sets, use.sets(), c.room, 100 * c.conflicts);
    if (c.cause) {
      sentence += " " + cause_words(use, contraction, *c.cause) +
                  mend_words(use, use.arrays.tensor_of(c.array), *c.cause);
    }
    words.push_back(std::move(sentence));
  }
  return words;
}

}  // namespace tcsim
