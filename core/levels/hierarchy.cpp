#include "core/levels/hierarchy.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace tcsim::levels {

namespace {

constexpr std::int64_t most_processes = std::int64_t{1} << 20;

}  // namespace

std::string Hierarchy::link(int inner) const {
  return level(inner).name + "-" + level(inner + 1).name;
}

std::int64_t Hierarchy::instances(int l) const {
  std::int64_t all = 1;
  for (int outer = l; outer < links(); ++outer) all *= level(outer).instances;
  return all;
}

bool has_explicit_levels(const Machine& machine) {
  const auto of = [&](LevelKind kind) {
    return std::ranges::count(machine.levels, kind, &Level::kind);
  };
  return of(LevelKind::scratchpad) > 0 || of(LevelKind::memory) > 1;
}

Hierarchy hierarchy(const Machine& machine, Bytes element) {
  Hierarchy h;
  std::int64_t processes = 1;
  for (const Level& l : machine.levels) {
    if (l.kind == LevelKind::cache) continue;
    if (!h.levels.empty()) {
      Hierarchy::Level& inside = h.levels.back();
      inside.instances = l.processes;
      inside.bandwidth = l.bandwidth.value.at(machine.core.frequency.value);
      inside.transfer = Seconds(1e-6 * l.transfer.value);
      inside.row = Seconds(1e-9 * l.row.value);
      processes *= l.processes;
      if (processes > most_processes) {
        throw UnsupportedError(machine.name, "it has more than 2^20 processes",
                               fmt::format("give {} fewer processes", l.name));
      }
    }
    h.levels.push_back({l.name, l.capacity.value, 1, BytesPerSecond(0), Seconds(0)});
  }
  if (h.levels.size() < 2) {
    throw UnsupportedError(machine.name, "it has one level that is no cache",
                           "take a machine with a scratchpad, memory and disk, such as "
                           "gpu-cluster-node");
  }
  h.rate = FlopsPerSecond(machine.peak(element).value() * machine.core.efficiency.value);
  h.tile_byte = Seconds(1e-9 * machine.core.tile_byte.value);
  return h;
}

}  // namespace tcsim::levels
