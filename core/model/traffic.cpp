#include "core/model/traffic.hpp"

#include <algorithm>

namespace tcsim {

Moved LinkTraffic::counted_moves(const Accounting& accounting, ArrayId a) const {
  Moved moves = at(Phase::compute, a);
  if (accounting.packing) moves += at(Phase::packing, a);
  if (!accounting.write_backs) moves.out = Bytes(0);
  // Without this, packing again and again would be a way to have operands for nothing.
  if (!accounting.packing && arrays.is_buffer(a)) {
    const Bytes packed = at(Phase::packing, array_of(arrays.tensor_of(a))).in;
    moves.in = std::max(moves.in, packed - moves.out);
  }
  return moves;
}

Bytes LinkTraffic::counted(const Accounting& accounting, ArrayId a) const {
  const Moved moves = counted_moves(accounting, a);
  return moves.in + moves.out;
}

Bytes LinkTraffic::counted(const Accounting& accounting, const Array& array) const {
  Bytes total;
  for (ArrayId a : arrays.ids()) {
    if (arrays[a] == array) total += counted(accounting, a);
  }
  return total;
}

Bytes LinkTraffic::counted(const Accounting& accounting) const {
  Bytes total;
  for (ArrayId a : arrays.ids()) total += counted(accounting, a);
  return total;
}

Timing timing(const Traffic& traffic, Seconds compute, const Machine& machine) {
  Timing t;
  for (std::size_t l = 0; l < traffic.links.size(); ++l) {
    const Bytes bytes = traffic.links[l].counted(machine.accounting);
    t.links.push_back(bytes / machine.bandwidth(LevelId{static_cast<int>(l)}));
    if (t.links[l] > t.total) {
      t.total = t.links[l];
      t.bottleneck = static_cast<int>(l);
    }
  }
  if (machine.accounting.compute_roof) {
    t.compute = compute;
    if (t.compute > t.total) {
      t.total = t.compute;
      t.bottleneck = static_cast<int>(traffic.links.size());
    }
  }
  return t;
}

Seconds slowest_link(const Timing& timing) {
  return timing.links.empty() ? Seconds() : *std::ranges::max_element(timing.links);
}

std::optional<Joules> energy(const Traffic& traffic, const Machine& machine) {
  Joules total;
  for (std::size_t l = 0; l < traffic.links.size(); ++l) {
    const auto& per_byte = machine.levels[l].energy;
    if (!per_byte) return {};
    total += traffic.links[l].counted(machine.accounting) * per_byte->value;
  }
  return total;
}

std::string bottleneck_name(const Timing& timing, const Machine& machine) {
  return timing.bottleneck == static_cast<int>(machine.levels.size())
             ? "compute"
             : machine.link(LevelId{timing.bottleneck});
}

}  // namespace tcsim
