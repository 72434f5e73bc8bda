#include "kernels/ahead.hpp"

#include <algorithm>

#include "core/schedule/rounds.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

Rounds::Rounds(const Plan& plan) : plan_(plan), kc_(plan.extent(DimClass::k)) {
  const std::vector<Step>& steps = plan.steps();
  for (const Step& s : steps) {
    if (s.kind == Step::Kind::loop && s.group == DimClass::k) kc_ = s.tile;
  }
  const std::optional<Round> round = round_of(plan.path());
  if (!round) return;
  for (std::size_t d = 0; d < round->depth; ++d) {
    if (steps[d].kind != Step::Kind::loop) continue;
    loops_.push_back({d, &steps[d]});
  }
}

void Rounds::enter(std::size_t depth, const Tile& tile) {
  for (Around& a : loops_) {
    if (a.depth == depth) a.range = tile[a.loop->group];
  }
}

Interval Rounds::parent(std::size_t loop) const {
  const DimClass group = loops_[loop].loop->group;
  while (loop-- > 0) {
    if (loops_[loop].loop->group == group) return loops_[loop].range;
  }
  return whole_[group];
}

std::int64_t Rounds::calls_per_panel(const Tile& round) const {
  return ceil_div(round[DimClass::n].size, plan_.nr()) * ceil_div(round[DimClass::k].size, kc_);
}

std::optional<Rounds::Panels> Rounds::next() const {
  Tile now = whole_;
  for (const Around& a : loops_) now[a.loop->group] = a.range;
  for (std::size_t i = loops_.size(); i-- > 0;) {
    const Interval all = parent(i), range = loops_[i].range;
    const std::int64_t end = range.begin + range.size;
    if (end == all.begin + all.size) continue;
    // Other places of the batch begin elsewhere, which a round does not say.
    const bool elsewhere =
        std::any_of(loops_.begin() + static_cast<std::ptrdiff_t>(i), loops_.end(),
                    [](const Around& a) { return a.loop->group == DimClass::batch; });
    if (elsewhere && plan_.follows(plan_.left(), DimClass::batch)) return {};
    Tile then = whole_;
    for (std::size_t j = 0; j < loops_.size(); ++j) {
      Interval& r = then[loops_[j].loop->group];
      if (j < i) r = loops_[j].range;
      if (j == i) r = {end, loops_[j].loop->tile_at(end - all.begin, all.size)};
      if (j > i) r = {r.begin, loops_[j].loop->tile_at(0, r.size)};
    }
    if (panels(then) == panels(now)) return {};
    return panels(then);
  }
  return {};
}

}  // namespace tcsim
