#include "core/schedule/rounds.hpp"

#include <algorithm>

namespace tcsim {

std::optional<Round> round_of(const Path& path) {
  std::optional<Round> round;
  for (std::size_t d = path.steps.size(); d-- > 0;) {
    const Step& s = path.steps[d];
    if (s.kind != Step::Kind::loop) continue;
    const bool over_columns = s.group == DimClass::n;
    if (round && !over_columns) break;
    if (over_columns) round = Round{d};
  }
  if (!round) return {};
  ByGroup<std::int64_t> range = path.extents;
  bool any = false;
  for (std::size_t d = 0; d < round->depth; ++d) {
    const Step& s = path.steps[d];
    if (s.kind != Step::Kind::loop) continue;
    range[s.group] = std::min(range[s.group], s.largest_tile());
    round->comes_again |= s.group == DimClass::n;
    any = true;
  }
  if (!any) return {};
  round->rows = range[DimClass::m];
  round->columns = range[DimClass::n];
  round->places = range[DimClass::k];
  return round;
}

bool asks_ahead(const Contraction& contraction, const Groups& groups, const Path& path) {
  const bool packs =
      std::ranges::any_of(path.steps, [](const Step& s) { return s.kind == Step::Kind::move; });
  const std::optional<Round> round = round_of(path);
  if (!round || packs || path.lanes || path.along_k) return false;
  // From one of the group's elements to the next, in the left operand.
  const auto apart = [&](DimClass g) {
    const auto first =
        std::ranges::find_if(groups[g], [&](DimId d) { return contraction.dim(d).extent > 1; });
    return first == groups[g].end() ? 0 : contraction.stride(path.left, *first).value();
  };
  if (apart(DimClass::m) != 1 || apart(DimClass::k) != path.mr) return false;
  const Bytes element = size_of(contraction.type());
  const std::int64_t whole = path.extents[DimClass::m] * path.extents[DimClass::k];
  return element * (round->rows * round->places) > asked_beyond_first &&
         element * whole > (round->comes_again ? asked_beyond_second : asked_beyond_first);
}

}  // namespace tcsim
