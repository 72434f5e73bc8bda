// What moving bytes takes on a machine: its disk, one that was measured, or what is assumed of one.
#pragma once

#include <optional>
#include <string>

#include "core/fusion/placement.hpp"
#include "core/machine/machine.hpp"

namespace tcsim::fusion {

struct DiskRequest {
  // As a person writes them: "2GB/s", "100us"; empty: the machine's.
  std::string read, write, transfer;
  struct Measured {
    BytesPerSecond read, write;
    Seconds transfer;
  };
  std::optional<Measured> measured;  // where the machine names no disk
};

struct DiskCosts {
  Costs costs;
  bool assumed = false;  // a rate that nobody gave
};

// Throws UsageError for what is no rate or time.
DiskCosts disk_costs(const Machine& machine, const DiskRequest& request);

}  // namespace tcsim::fusion
