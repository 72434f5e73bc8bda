// What hardware costs, as data: area and standing power of the core and of every level, energy per
// byte over a level's link and per multiply-add, and a price made of them. A model is a TOML file
// (data/costs/*.toml) or the table [cost] of a study:
//
//     name = "45nm"
//     source = "where the figures come from"
//     price = "0.1 * area"                 # in any currency; may use area
//     [core]
//     area = 4                             # mm2: a number or a formula
//     fma = "20 * (element / 8) ^ 2"       # pJ of one multiply-add of elements of so many bytes
//     power = 0.5                          # W, as long as the work takes
//     [[level]]
//     name = "caches"                      # a level, or all caches that have no entry of their own
//     area = { formula = "0.2 + 4.8 * capacity / 1MiB", source = "..." }
//     energy = { capacity = ["32KiB", "1MiB"], value = [2.5, 12.5] }   # pJ per byte, interpolated
//     power = "0.05 * capacity / 1MiB"
//
// Formulas know capacity, ways, line, sets, bandwidth and shared_by of their level, or of the core
// frequency, vector_bits, vector_registers, fma_per_cycle, cores and element. Tables are straight
// lines between logarithms of capacity and of value, and go on beyond their ends.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/study/expression.hpp"
#include "core/units/quantity.hpp"

namespace tcsim {

class CostRule {
 public:
  explicit CostRule(Expression formula) : formula_(std::move(formula)) {}
  // Pairs of capacity and value, ascending in capacity, all above 0; at least one.
  explicit CostRule(std::vector<std::pair<double, double>> table) : table_(std::move(table)) {}

  double value(const Expression::Lookup& lookup) const;
  std::string text() const;  // enough to tell two rules apart
  const std::optional<Expression>& formula() const { return formula_; }

  std::string source;  // of this rule alone

 private:
  std::optional<Expression> formula_;
  std::vector<std::pair<double, double>> table_;
};

struct CostModel {
  // "area", "energy" (pJ per byte), "fma" (pJ), "power" (W), whichever are known.
  using Rules = std::map<std::string, CostRule>;

  std::string name, source;
  Rules core;
  std::vector<std::pair<std::string, Rules>> levels;
  std::optional<CostRule> price;

  // The core, then the machine's levels from the innermost outward.
  struct Part {
    std::string name;
    std::optional<double> area;  // mm2; empty without a rule
    double power = 0;            // W; 0 without one
  };
  std::vector<Part> parts(const Machine& machine) const;

  // mm2; empty unless the core or any level has a rule for it. Memory and disk count only where
  // they have one.
  std::optional<double> area(const Machine& machine) const;
  std::optional<double> cost(const Machine& machine) const;  // empty without a price
  double power(const Machine& machine) const;                // W; 0 where nothing is known
  // J of one multiply-add; 0 where nothing is known.
  double fma_energy(const Machine& machine, Bytes element) const;
  // The machine with the model's energy per byte wherever it has a rule.
  Machine with_energy(Machine machine) const;

  // The rules of a level: its own, or those of "caches". Null if there are none.
  const Rules* rules_of(const Level& level) const;
  std::string text() const;  // all of it, canonical: what a study's identity is made of
};

// Throws InputError with file, line and column.
CostModel parse_cost_model(std::string_view toml, const std::string& place);

// A number of a machine by name, as constraints know it: LEVEL.{capacity, ways, line, sets,
// bandwidth, latency, shared_by}, core.{frequency, vector_bits, vector_registers, fma_per_cycle,
// cores}. Sizes in bytes, bandwidths in bytes per second. Empty if there is no such number.
std::optional<double> quantity(const Machine& machine, std::string_view name);
std::vector<std::string> quantities(const Machine& machine);  // all names

}  // namespace tcsim
