// The record that validate prints, and its three printers (docs/results.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/request.hpp"
#include "sim/neighbourhood.hpp"
#include "sim/validate.hpp"

namespace tcsim::cli {

struct Validation {
  std::vector<Contraction> workloads;  // all that were asked for
  Machine machine;
  ModelKind model = ModelKind::window;
  double limit = 0;                 // of |error|, as a fraction
  std::vector<Validated> complete;  // in the order of the workloads
  // Of random schedules, or of random contractions with chosen ones; none: nothing was drawn.
  std::optional<std::uint64_t> seed = {};
  bool drawn = false;                                // contractions were
  std::size_t neighbours = 0;                        // asked for of each choice
  std::map<std::string, Neighbourhood> beside = {};  // by workload, of those that are complete
  bool passed() const;                               // no error above the limit
};

void print(const Validation& validation, Format format, std::ostream& out);

}  // namespace tcsim::cli
