// Arithmetic in study files: constraints between knobs ("L3.capacity >= 2 * L2.capacity") and
// formulas of cost models ("0.3 + 4.8 * capacity / 1MiB").
//
// Numbers may carry a unit: sizes (64KiB), frequencies (2.4GHz), bandwidths (20GB/s, 6B/cycle) and
// mm2. Sizes count in bytes, frequencies in Hz, bandwidths in bytes per second; one in bytes per
// cycle is multiplied by the variable core.frequency. Operators by precedence: comparison (< <= >
// >= == !=, at most one, outermost), + -, * /, ^ (to the right), parentheses; functions log2, sqrt,
// min, max.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace tcsim {

class Expression {
 public:
  // Throws UsageError that names the column (from 1).
  explicit Expression(std::string_view text);

  const std::string& text() const { return text_; }
  // Names such as "L3.capacity", each once, in the order of the text.
  const std::vector<std::string>& variables() const { return variables_; }
  bool compares() const { return compares_; }

  using Lookup = std::function<double(const std::string& variable)>;
  // Of a comparison 1 where it holds, 0 where it does not. What is undefined, such as a root of a
  // negative number, is not a number; a comparison with it does not hold.
  double value(const Lookup& lookup) const;

 private:
  friend class ExpressionParser;
  struct Step {
    enum class Kind { number, variable, binary, function } kind;
    double number = 0;
    std::size_t variable = 0;
    char op = 0;  // + - * / ^, comparisons < l > g = !, functions L (log2) S (sqrt) m M n (minus)
  };
  std::string text_;
  std::vector<Step> steps_;  // in reverse Polish order
  std::vector<std::string> variables_;
  bool compares_ = false;
};

}  // namespace tcsim
