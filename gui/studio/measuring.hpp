// How the window measures this machine.
#pragma once

#include "kernels/overhead.hpp"
#include "microbench/host.hpp"

namespace tcsim::gui {

// Quick, with what a core that runs tcsim's kernels loses.
inline ProbeOptions quickProbe(std::stop_token stop) {
  ProbeOptions probe;
  probe.quick = true;
  probe.stop = std::move(stop);
  probe.refine = [](Machine& machine, const ProbeOptions& part) {
    measure_overhead(machine, {part.quick, part.progress, part.stop});
  };
  return probe;
}

}  // namespace tcsim::gui
