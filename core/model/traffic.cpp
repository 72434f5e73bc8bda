#include "core/model/traffic.hpp"

namespace tcsim {

Bytes LinkTraffic::counted(const Accounting& accounting, ArrayId a) const {
  Bytes total;
  for (Phase p : all_phases) {
    if (p == Phase::packing && !accounting.packing) continue;
    total += at(p, a).in;
    if (accounting.write_backs) total += at(p, a).out;
  }
  return total;
}

Bytes LinkTraffic::counted(const Accounting& accounting) const {
  Bytes total;
  for (ArrayId a : all_arrays) total += counted(accounting, a);
  return total;
}

Timing timing(const Traffic& traffic, const Contraction& contraction, const Machine& machine) {
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
    t.compute = Seconds(contraction.flops() / machine.peak(size_of(contraction.type())).value());
    if (t.compute > t.total) {
      t.total = t.compute;
      t.bottleneck = static_cast<int>(traffic.links.size());
    }
  }
  return t;
}

std::string bottleneck_name(const Timing& timing, const Machine& machine) {
  return timing.bottleneck == static_cast<int>(machine.levels.size())
             ? "compute"
             : machine.link(LevelId{timing.bottleneck});
}

}  // namespace tcsim
