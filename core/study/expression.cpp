#include "core/study/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr int deepest = 64;              // parentheses
constexpr std::size_t most_steps = 256;  // of one expression

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

}  // namespace

class ExpressionParser {
 public:
  using Step = Expression::Step;
  using Kind = Step::Kind;

  ExpressionParser(Expression& e) : e_(e), text_(e.text_) {}

  void parse() {
    sum(0);
    skip_blanks();
    if (const char op = comparison()) {
      sum(0);
      push({Kind::binary, 0, 0, op});
      e_.compares_ = true;
      skip_blanks();
    }
    if (at_ < text_.size()) fail(fmt::format("'{}' is not expected", text_[at_]));
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(fmt::format("'{}', column {}", text_, at_ + 1), problem,
                     "write something like L3.capacity >= 2 * L2.capacity");
  }

  void push(const Step& step) {
    if (e_.steps_.size() >= most_steps) fail("the expression is too long");
    e_.steps_.push_back(step);
  }

  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }

  bool take(std::string_view what) {
    skip_blanks();
    if (!text_.substr(at_).starts_with(what)) return false;
    at_ += what.size();
    return true;
  }

  char comparison() {
    if (take("<=")) return 'l';
    if (take(">=")) return 'g';
    if (take("==")) return '=';
    if (take("!=")) return '!';
    if (take("<")) return '<';
    if (take(">")) return '>';
    return 0;
  }

  void sum(int depth) {
    if (depth > deepest) fail("too many parentheses");
    product(depth);
    while (true) {
      const char op = take("+") ? '+' : take("-") ? '-' : '\0';
      if (op == 0) return;
      product(depth);
      push({Kind::binary, 0, 0, op});
    }
  }

  void product(int depth) {
    power(depth);
    while (true) {
      const char op = take("*") ? '*' : take("/") ? '/' : '\0';
      if (op == 0) return;
      power(depth);
      push({Kind::binary, 0, 0, op});
    }
  }

  void power(int depth) {
    if (depth > deepest) fail("too many parentheses");
    if (take("-")) {
      power(depth + 1);
      return push({Kind::function, 0, 0, 'n'});
    }
    atom(depth);
    if (!take("^")) return;
    power(depth + 1);
    push({Kind::binary, 0, 0, '^'});
  }

  void atom(int depth) {
    skip_blanks();
    if (at_ >= text_.size()) fail("something is missing at the end");
    const char c = text_[at_];
    if (take("(")) {
      sum(depth + 1);
      return close();
    }
    if (is_digit(c) || c == '.') return number();
    if (!is_letter(c)) fail(fmt::format("'{}' is not expected", c));
    const std::string name = word();
    if (!take("(")) return variable(name);
    const bool two = name == "min" || name == "max";
    if (!two && name != "log2" && name != "sqrt") {
      fail(fmt::format("there is no function '{}' (there are log2, sqrt, min, max)", name));
    }
    sum(depth + 1);
    if (two) {
      if (!take(",")) fail(fmt::format("{} needs two values with a comma between", name));
      sum(depth + 1);
    }
    close();
    push({two ? Kind::binary : Kind::function, 0, 0,
          name == "min"    ? 'm'
          : name == "max"  ? 'M'
          : name == "log2" ? 'L'
                           : 'S'});
  }

  void close() {
    if (!take(")")) fail("a ')' is missing");
  }

  std::string word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) {
      ++at_;
    }
    return std::string(text_.substr(begin, at_ - begin));
  }

  void variable(const std::string& name) {
    auto& all = e_.variables_;
    const auto found = std::find(all.begin(), all.end(), name);
    const auto i = static_cast<std::size_t>(found - all.begin());
    if (found == all.end()) all.push_back(name);
    push({Kind::variable, 0, i, 0});
  }

  void number() {
    const std::size_t begin = at_;
    double value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || !std::isfinite(value)) fail("this is no number");
    at_ = static_cast<std::size_t>(end - text_.data());
    const std::size_t unit_begin = at_;
    while (at_ < text_.size() && is_letter(text_[at_])) ++at_;
    std::string_view unit = text_.substr(unit_begin, at_ - unit_begin);
    if (unit == "mm" && at_ < text_.size() && text_[at_] == '2') ++at_, unit = "";
    for (std::string_view per : {"/s", "/cycle"}) {
      const std::size_t after = at_ + per.size();
      if (unit.empty() || !text_.substr(at_).starts_with(per)) continue;
      if (after < text_.size() && (is_letter(text_[after]) || is_digit(text_[after]))) continue;
      at_ = after;
      break;
    }
    if (unit.empty()) return push({Kind::number, value, 0, 0});
    with_unit(std::string(text_.substr(begin, at_ - begin)));
  }

  void with_unit(const std::string& text) {
    try {
      if (text.ends_with("/cycle") || text.ends_with("/s")) {
        const Bandwidth b = parse_bandwidth(text);
        push({Kind::number, b.value, 0, 0});
        if (b.unit == Bandwidth::Unit::bytes_per_second) return;
        variable("core.frequency");
        return push({Kind::binary, 0, 0, '*'});
      }
      push({Kind::number,
            text.ends_with("Hz") ? parse_frequency(text).value()
                                 : static_cast<double>(parse_bytes(text).value()),
            0, 0});
    } catch (const UsageError& e) {
      fail(e.what());
    }
  }

  Expression& e_;
  std::string_view text_;
  std::size_t at_ = 0;
};

Expression::Expression(std::string_view text) : text_(text) { ExpressionParser(*this).parse(); }

double Expression::value(const Lookup& lookup) const {
  std::vector<double> stack;
  for (const Step& s : steps_) {
    if (s.kind == Step::Kind::number) {
      stack.push_back(s.number);
    } else if (s.kind == Step::Kind::variable) {
      stack.push_back(lookup(variables_[s.variable]));
    } else if (s.kind == Step::Kind::function) {
      double& x = stack.back();
      x = s.op == 'n' ? -x : s.op == 'L' ? std::log2(x) : std::sqrt(x);
    } else {
      const double b = stack.back();
      stack.pop_back();
      double& a = stack.back();
      switch (s.op) {
        case '+':
          a += b;
          break;
        case '-':
          a -= b;
          break;
        case '*':
          a *= b;
          break;
        case '/':
          a /= b;
          break;
        case '^':
          a = std::pow(a, b);
          break;
        case 'm':
          a = std::min(a, b);
          break;
        case 'M':
          a = std::max(a, b);
          break;
        case '<':
          a = a < b ? 1 : 0;
          break;
        case 'l':
          a = a <= b ? 1 : 0;
          break;
        case '>':
          a = a > b ? 1 : 0;
          break;
        case 'g':
          a = a >= b ? 1 : 0;
          break;
        case '=':
          a = a == b ? 1 : 0;
          break;
        default:
          a = a != b && !std::isnan(a) && !std::isnan(b) ? 1 : 0;
      }
    }
  }
  return stack.back();
}

}  // namespace tcsim
