#include "core/optimize/quick.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/kernel_time.hpp"
#include "core/model/window.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/units/divisor.hpp"

namespace tcsim {

namespace {

// Cycles of an element that is packed, and of a call of a kernel. The executor notes calls and does
// them again (kernels/replay.hpp), unless loops over places of the batch stand inside, or results
// go to C by way of a buffer; then it walks. Source: chosen, of the size of those of exposed().
constexpr double packed_element = 2, call = 20, walked_call = 150, broken_call = 500,
                 broken_result = 4;

double cycles_of(const Contraction& c, const Schedule& schedule, const Machine& machine) {
  const Path path = only_path(c, schedule);
  double cycles = kernel_time(c, schedule, machine).value() * machine.core.frequency.value.value();
  double times = 1;
  ByGroup<std::int64_t> range = path.extents;
  for (const Step& s : path.steps) {
    if (s.kind == Step::Kind::loop) {
      times *= std::ceil(static_cast<double>(range[s.group]) / static_cast<double>(s.tile));
      range[s.group] = std::min(range[s.group], s.tile);
    } else if (s.kind == Step::Kind::move) {
      const std::int64_t places =
          path.follows(s.tensor, DimClass::batch) ? range[DimClass::batch] : 1;
      cycles += times * packed_element *
                static_cast<double>(range[path.rows_of(s.tensor)] * range[DimClass::k] * places);
    }
  }
  const bool places_inside = std::any_of(
      path.steps.begin() + 1, path.steps.end(),
      [](const Step& s) { return s.kind == Step::Kind::loop && s.group == DimClass::batch; });
  const std::int64_t together = neighbours_in(c, {TensorId::C}, schedule.groups[DimClass::m]);
  const bool broken =
      !path.along_k && together % path.mr != 0 && together != path.extents[DimClass::m];
  if (broken) cycles += broken_result * c.used(TensorId::C);
  return cycles + times * (broken ? broken_call : places_inside ? walked_call : call);
}

// A nest without its loops over the batch.
Node without_places(const Node& node) {
  if (const auto* loop = std::get_if<Loop>(&node.is)) {
    Node body = without_places(*loop->body);
    if (loop->group == DimClass::batch) return body;
    return Loop{loop->group, loop->tile, std::move(body)};
  }
  if (const auto* move = std::get_if<Move>(&node.is)) {
    Move inside = *move;
    inside.body = without_places(*move->body);
    return inside;
  }
  return node;
}

}  // namespace

Bytes bytes_of_tensors(const Contraction& c) {
  Bytes all{0};
  for (TensorId t : all_tensors) all += c.size(t).value() * size_of(c.type());
  return all;
}

bool fits_first_cache(const Contraction& c, const Machine& machine) {
  return c.is_plain() && bytes_of_tensors(c) <= machine.level(LevelId{0}).capacity.value;
}

Schedule quick_schedule(const Contraction& c, const Machine& machine) {
  std::optional<Schedule> best;
  double least = std::numeric_limits<double>::infinity();
  const auto caches = static_cast<std::size_t>(machine.cache_count());
  constexpr std::int64_t fewest_rows = 2;  // of a kernel, unless there are no more
  const std::int64_t lanes = lanes_of(machine.core, c.type());
  const std::vector<Kernel> kernels = kernel_choices(machine.core, c);
  const auto consider = [&](const Groups& groups, const Kernel& kernel, bool m_inside) {
    Tiling t;
    t.groups = groups;
    t.kernel = kernel;
    t.m_inside = m_inside;
    t.in_place = {true, true};
    std::array<std::int64_t, 3> all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = group_extent(c, t, i);
    t.tiles.assign(caches, all);
    t.orders.assign(caches, loop_classes);
    snap(c, common_line(machine), t);
    const auto judge = [&](Schedule s) {
      const double cycles = cycles_of(c, s, machine);
      if (cycles >= least) return;
      least = cycles;
      best = std::move(s);
    };
    const Schedule built = build(c, machine, t);
    judge(built);
    if (extent_of(c, groups[DimClass::batch]) == 1 || holds_lanes(c, groups)) return;
    // Place by place, which is noted, where several were to be packed together.
    judge({groups, Loop{DimClass::batch, Elements(1), without_places(built.root)}});
  };
  for (const Groups& groups : groupings(c, RowOrders::apart)) {
    const Group& m = groups[DimClass::m];
    const std::int64_t rows = extent_of(c, m), together = neighbours_in(c, {TensorId::C}, m);
    for (const Kernel& usual : kernels) {
      std::optional<Kernel> before;
      for (const std::int64_t most : {rows, together}) {
        if (most < std::min(rows, fewest_rows)) continue;
        Kernel kernel = usual;
        const bool fewer = most < kernel.mr.value() && !kernel.along_k && have_masks(c, lanes);
        if (fewer) kernel.mr = Elements(most);
        if (std::exchange(before, kernel) == kernel) continue;
        for (const bool m_inside : {true, false}) consider(groups, kernel, m_inside);
      }
    }
  }
  return *std::move(best);
}

}  // namespace tcsim
