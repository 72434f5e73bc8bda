#include "core/bounds/link_bounds.hpp"

#include <algorithm>

#include "core/model/countable.hpp"
#include "core/schedule/registers.hpp"
#include "core/workload/contraction_view.hpp"

namespace tcsim::bounds {

namespace {

constexpr std::int64_t most_elements = std::int64_t{1} << 61;

}  // namespace

std::vector<std::int64_t> capacities_inside(const Machine& machine, ElementType type) {
  std::vector<std::int64_t> all{lanes_of(machine.core, type) *
                                (machine.core.vector_registers.value + 1)};
  for (int l = 0; l < machine.cache_count(); ++l) {
    // Where the sum is larger than any workload, it does not matter by how much.
    const std::int64_t more = machine.level(LevelId{l}).capacity.value / size_of(type);
    all.push_back(std::min(all.back(), most_elements - std::min(more, most_elements)) + more);
  }
  return all;
}

LinkBounds::Curves LinkBounds::curves_of(const Contraction& contraction) {
  const Problem fetched = problem_of(program_of(contraction));
  Problem made = fetched;
  made.arrays[static_cast<std::size_t>(made.statements[0].out.array)].starts_at_zero = true;
  const Values sizes = sizes_of(fetched);
  // The same partitions prove both.
  const std::vector<Partition> known = lower_bound(fetched, Moves::loads).partitions;
  return {LowerCurve(made, sizes, known), LowerCurve(fetched, sizes, known)};
}

LinkBounds::LinkBounds(const Contraction& contraction)
    : contraction_(contraction), curves_(curves_of(contraction)) {}

std::vector<Bytes> LinkBounds::at(const Machine& machine) const {
  const Moves moves = machine.accounting.write_backs ? Moves::loads_and_stores : Moves::loads;
  const ElementType type = contraction_.type();
  std::vector<Bytes> bounds;
  bool fetches = false;
  for (std::int64_t capacity : capacities_inside(machine, type)) {
    if (!bounds.empty()) {
      fetches |= machine.level(LevelId{static_cast<int>(bounds.size()) - 1}).write_allocate;
    }
    const LowerCurve& lower = fetches ? curves_.fetched : curves_.made;
    const long double bytes =
        lower.at(moves, capacity).elements * static_cast<long double>(size_of(type).value());
    if (!(bytes < most_link_bytes)) {
      refuse_link(contraction_, machine.link(LevelId{static_cast<int>(bounds.size())}));
    }
    bounds.emplace_back(static_cast<std::int64_t>(bytes));
  }
  return bounds;
}

}  // namespace tcsim::bounds
