// The record that whatif prints about one workload, and its three printers (docs/results.md).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/advice.hpp"
#include "cli/format.hpp"
#include "core/explore/curve.hpp"
#include "core/machine/machine.hpp"
#include "core/study/worth.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::cli {

struct WhatIf {
  WhatIf(Contraction w, Machine m) : workload(std::move(w)), machine(std::move(m)) {}

  Contraction workload;
  Machine machine;
  bool fixed_schedule = false;
  std::vector<KnobRange> ranges;          // what varies: none, one or two
  CurvePoint base;                        // the machine as it is
  std::optional<Curve> curve;             // of one
  std::optional<Plane> plane;             // of two
  std::optional<Advice> advice;           // empty if it was interrupted before
  std::optional<CostModel> model;         // with --cost
  std::optional<DesignCost> cost;         // of the machine as it is, by that
  std::optional<PlaneCosts> plane_costs;  // of two knobs, by that
  bool wants_worth = false;               // --worth or --cost
  std::vector<Worth> worth;
  bool complete = true;
};

// The record (docs/results.md).
nlohmann::ordered_json json_of(const WhatIf& whatif);

// `suite`: of several workloads; tables then end with all of them together.
void print(const std::vector<WhatIf>& all, Format format, bool suite, std::ostream& out);
// The table of one workload, and of all together: sums of their times at every value.
void print_table(const WhatIf& whatif, std::ostream& out);
void print_total(const std::vector<WhatIf>& all, std::ostream& out);

}  // namespace tcsim::cli
