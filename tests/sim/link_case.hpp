// One link of one schedule on one machine: what the model says of it beside the simulation.
#pragma once

#include <cstddef>

#include "core/machine/toml.hpp"
#include "core/model/predict.hpp"
#include "core/plan/plan.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"
#include "sim/simulate.hpp"

namespace tcsim::test {

struct LinkCase {
  const char *label, *sizes;
  ElementType type;
  Layout layout;
  const char *machine, *schedule;
  std::size_t link;
};

// Predicted bytes over a link, as a share above the simulated ones.
inline double error_of(const LinkCase& at) {
  const Machine machine = find_machine(at.machine);
  const Contraction c = parse_contraction(at.label, parse_sizes(at.sizes), at.layout, at.type);
  const Schedule s = parse_schedule(at.schedule, c, "test");
  const auto bytes = [&](const Traffic& t) {
    return static_cast<double>(t.links[at.link].counted(machine.accounting).value());
  };
  return bytes(predict(c, s, machine).traffic) / bytes(simulate(Plan(c, s), machine).traffic) - 1;
}

}  // namespace tcsim::test
