// Tables of energy and area that Accelergy makes and Timeloop reads and writes
// (timeloop-mapper.ERT.yaml, timeloop-mapper.ART.yaml) as a cost model (core/study/cost.hpp):
//
//     ERT: { version: 0.4, tables: [ { name: system.L2[1..4], actions: [
//       { name: read, arguments: {}, energy: 32.3 }, { name: write, ... }, { name: leak, ... } ] }
//       ] }
//     ART: { version: 0.4, tables: [ { name: system.L2[1..4], area: 429751.9 } ] }
//
// Energies are pJ of one action, leaks pJ of one cycle, areas um2 of one of its instances; [1..4]
// are four of them. The tables do not say how many bytes an action moves: the request does.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/units/quantity.hpp"

namespace tcsim {

// Which component stands for a part of the machine.
struct CostComponent {
  std::string part;           // a level's name, or "core": the one that computes
  std::string name;           // "shared_glb", or all of it: "system_top_level.shared_glb"
  std::optional<Bytes> word;  // of one read or write; the level's line otherwise
};

// "L3=shared_glb:8B", "core=mac". Throws UsageError, at `place`.
CostComponent parse_cost_component(const std::string& text, const std::string& place);

struct CostTables {
  std::string text, place;  // of a file
};

struct ImportedCosts {
  std::string toml;                  // of a cost model
  std::vector<std::string> ignored;  // components that stand for nothing
  std::vector<std::string> notes;    // what was taken, and parts that have none
};

// Whether the text is such a table.
bool is_accelergy(std::string_view text);

// Parts without a CostComponent are matched by name: a level's, "DRAM" for memory, "mac" or "fma"
// for the core. Energy per byte is the mean of a read's and a write's. Throws InputError with the
// file's line where the text is damaged, and UsageError where a component is not there or nothing
// matches.
ImportedCosts import_accelergy(const std::vector<CostTables>& tables, const Machine& machine,
                               const std::vector<CostComponent>& components,
                               const std::string& name);

}  // namespace tcsim
