// What differs between two machines, figure by figure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"

namespace tcsim {

struct Difference {
  std::string figure;  // as a knob names it where there is one: "L3.capacity"; "L3.capacity origin"
  std::string a, b;    // as a machine file writes it, "-" where the machine has none
  std::optional<double> factor;  // b over a, of two numbers
  bool changes_results = false;  // as content_hash() has it

  bool operator==(const Difference&) const = default;
};

// Levels and TLBs are matched by name, series by what they measured. A figure's origin and source
// count as a difference of their own that changes no result. Empty exactly if the machines are
// equal.
std::vector<Difference> differences(const Machine& a, const Machine& b);

}  // namespace tcsim
