// How expressions are written. The three notations differ in their signs alone; one walk writes
// all.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/bounds/expression.hpp"

namespace tcsim::bounds {
namespace {

namespace mp = boost::multiprecision;

using Factor = Expression::Factor;
using Term = Expression::Term;

enum class Notation { text, latex, python };

std::string written(const Expression& e, Notation notation);

std::string symbol_text(const std::string& name, Notation notation) {
  if (notation != Notation::latex) return name;
  const std::size_t bar = name.find('_');
  const std::string head = name.substr(0, bar);
  std::string text = head.size() > 1 ? "\\mathit{" + head + "}" : head;
  if (bar == std::string::npos) return text;
  std::string index;
  for (char c : name.substr(bar + 1)) index += c == '_' ? std::string("\\_") : std::string(1, c);
  return text + "_{" + index + "}";
}

std::string in_brackets(const std::string& text, Notation notation) {
  return notation == Notation::latex ? "\\left(" + text + "\\right)" : "(" + text + ")";
}

std::string base_text(const Factor& f, Notation notation) {
  switch (f.kind) {
    case Factor::Kind::number:
      return f.number.str();
    case Factor::Kind::symbol:
      return symbol_text(f.name, notation);
    case Factor::Kind::sum:
      return written(f.parts[0], notation);
    case Factor::Kind::largest:
    case Factor::Kind::smallest:
      break;
  }
  std::string list;
  for (const Expression& part : f.parts) {
    list += (list.empty() ? "" : ", ") + written(part, notation);
  }
  const std::string name = f.kind == Factor::Kind::largest ? "max" : "min";
  return (notation == Notation::latex ? "\\" : "") + name + in_brackets(list, notation);
}

// base^exponent, the exponent being above 0.
std::string power_text(const Factor& f, const Rational& exponent, Notation notation) {
  const std::string base = base_text(f, notation);
  const bool is_sum = f.kind == Factor::Kind::sum;
  if (exponent == 1) return is_sum ? in_brackets(base, notation) : base;
  const bool is_root = exponent == Rational(1, 2);
  if (is_root && notation == Notation::text) return "sqrt(" + base + ")";
  if (is_root && notation == Notation::latex) return "\\sqrt{" + base + "}";
  const std::string closed = is_sum ? in_brackets(base, notation) : base;
  const std::string above = exponent.str();
  if (notation == Notation::latex) return closed + "^{" + above + "}";
  const bool whole = mp::denominator(exponent) == 1;
  return closed + (notation == Notation::python ? "**" : "^") + (whole ? above : "(" + above + ")");
}

std::string product_text(const std::vector<std::string>& factors, Notation notation) {
  std::string text;
  for (const std::string& f : factors) {
    text += (text.empty() ? "" : notation == Notation::python ? "*" : " ") + f;
  }
  return text.empty() ? "1" : text;
}

// Without the sign of its coefficient.
std::string term_text(const Term& term, Notation notation) {
  const Rational size = mp::abs(term.coefficient);
  std::vector<std::string> above, below;
  if (mp::numerator(size) != 1) above.push_back(mp::numerator(size).str());
  if (mp::denominator(size) != 1) below.push_back(mp::denominator(size).str());
  const auto is_above = [](const Factor& f) { return f.exponent > 0; };
  const auto tops = std::count_if(term.factors.begin(), term.factors.end(), is_above);
  const auto bottoms = std::ssize(term.factors) - tops;
  for (const Factor& f : term.factors) {
    std::vector<std::string>& side = is_above(f) ? above : below;
    // Alone on its side of a fraction's line, a sum needs no brackets.
    const bool alone = notation == Notation::latex && f.kind == Factor::Kind::sum && bottoms > 0 &&
                       side.empty() && (is_above(f) ? tops : bottoms) == 1 &&
                       mp::abs(f.exponent) == 1;
    side.push_back(alone ? base_text(f, notation) : power_text(f, mp::abs(f.exponent), notation));
  }
  const std::string top = product_text(above, notation);
  if (below.empty()) return top;
  const std::string bottom = product_text(below, notation);
  if (notation == Notation::latex) return "\\frac{" + top + "}{" + bottom + "}";
  const std::string slash = notation == Notation::python ? "/" : " / ";
  return top + slash + (below.size() > 1 ? "(" + bottom + ")" : bottom);
}

std::string written(const Expression& e, Notation notation) {
  std::string text;
  for (const Term& t : e.terms()) {
    const bool minus = t.coefficient < 0;
    if (text.empty()) {
      text = minus ? "-" : "";
    } else {
      text += minus ? " - " : " + ";
    }
    text += term_text(t, notation);
  }
  return text.empty() ? "0" : text;
}

}  // namespace

std::string to_text(const Expression& expression) { return written(expression, Notation::text); }
std::string to_latex(const Expression& expression) { return written(expression, Notation::latex); }
std::string to_python(const Expression& expression) {
  return written(expression, Notation::python);
}

}  // namespace tcsim::bounds
