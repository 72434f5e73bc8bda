// acmtc-sc19, Table 2, column L3, "computation": the lines that a computation has to load once.
#include <gtest/gtest.h>

#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/optimize/optimize.hpp"
#include "core/plan/plan.hpp"
#include "core/workload/suite.hpp"
#include "sim/simulate.hpp"

namespace tcsim {
namespace {

// Lines of the three tensors that come from memory, on an i7-6700K whose L3 is 1 GiB: packing and
// computing go over them as often as they like, memory gives each line once.
Lines lines_from_memory(std::size_t workload) {
  const Contraction c = find_suite("tccg").workloads[workload - 1];
  const Machine m = find_machine("i7-6700k");
  const Schedule s = optimize(c, m).schedule;
  const Machine large = override_knob(m, "L3.capacity=1GiB").machine;
  const LinkTraffic link = simulate(Plan(c, s), large, {.threads = 2}).traffic.links.at(3);
  Bytes in;
  for (Phase p : all_phases) {
    for (ArrayId a : {ArrayId::A, ArrayId::B, ArrayId::C}) in += link.at(p, a).in;
  }
  return Lines(in / Bytes(64));
}

TEST(Table_2, Abcdef_degb_gfac_loads_4755456_lines) {
  EXPECT_EQ(lines_from_memory(29), Lines(4755456));
}

TEST(Table_2, Abcd_ea_ebcd_loads_6719112_lines) {
  EXPECT_EQ(lines_from_memory(18), Lines(6719112));
}

}  // namespace
}  // namespace tcsim
