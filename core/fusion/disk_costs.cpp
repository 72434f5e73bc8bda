#include "core/fusion/disk_costs.hpp"

#include "core/units/text.hpp"

namespace tcsim::fusion {

DiskCosts disk_costs(const Machine& machine, const DiskRequest& request) {
  DiskCosts of{{}, true};
  const Hertz frequency = machine.core.frequency.value;
  for (const Level& level : machine.levels) {
    const BytesPerSecond rate = level.bandwidth.value.at(frequency);
    if (level.kind == LevelKind::memory) of.costs.memory = rate;
    if (level.kind != LevelKind::disk) continue;
    of.costs.read = of.costs.write = rate;
    of.assumed = false;
  }
  if (of.assumed && request.measured) {
    of.costs.read = request.measured->read;
    of.costs.write = request.measured->write;
    of.costs.transfer = request.measured->transfer;
    of.assumed = false;
  }
  if (!request.read.empty()) of.costs.read = parse_bandwidth(request.read).at(frequency);
  if (!request.write.empty()) of.costs.write = parse_bandwidth(request.write).at(frequency);
  if (!request.transfer.empty()) of.costs.transfer = parse_seconds(request.transfer);
  if (!request.read.empty() && !request.write.empty()) of.assumed = false;
  return of;
}

}  // namespace tcsim::fusion
