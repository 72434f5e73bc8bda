#include "core/bounds/expression.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"

namespace tcsim::bounds {

namespace mp = boost::multiprecision;

using Factor = Expression::Factor;
using Term = Expression::Term;
using Kind = Factor::Kind;

namespace {

// Beyond it a number's power is no number of use.
constexpr int most_power = 4096;
// Sums with a whole power up to it are multiplied out.
constexpr int most_expanded = 4;
// Numbers under a root lose their prime factors up to here; what is left stays whole.
constexpr std::uint32_t most_prime = 1 << 16;

Integer floor_of(const Rational& r) {
  Integer quotient, rest;
  mp::divide_qr(mp::numerator(r), mp::denominator(r), quotient, rest);
  return rest < 0 ? Integer(quotient - 1) : quotient;
}

bool is_whole(const Rational& r) { return mp::denominator(r) == 1; }

template <class T>
int compare_values(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

int compare(const Expression& a, const Expression& b);

int compare_bases(const Factor& a, const Factor& b) {
  if (int c = compare_values(a.kind, b.kind)) return c;
  if (int c = compare_values(a.number, b.number)) return c;
  if (int c = a.name.compare(b.name)) return c;
  if (int c = compare_values(a.parts.size(), b.parts.size())) return c;
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    if (int c = compare(a.parts[i], b.parts[i])) return c;
  }
  return 0;
}

Rational degree(const Term& term);

// How fast it grows with all symbols.
Rational degree(const Factor& factor) {
  if (factor.kind == Kind::number) return 0;
  if (factor.kind == Kind::symbol) return factor.exponent;
  Rational most = 0;
  for (const Expression& part : factor.parts) {
    if (!part.is_zero()) most = std::max(most, degree(part.terms()[0]));
  }
  return most * factor.exponent;
}

Rational degree(const Term& term) {
  Rational sum = 0;
  for (const Factor& f : term.factors) sum += degree(f);
  return sum;
}

// Like terms are equal. Higher degrees come first.
int compare_products(const Term& a, const Term& b) {
  if (int c = compare_values(degree(b), degree(a))) return c;
  const std::size_t both = std::min(a.factors.size(), b.factors.size());
  for (std::size_t i = 0; i < both; ++i) {
    if (int c = compare_bases(a.factors[i], b.factors[i])) return c;
    if (int c = compare_values(b.factors[i].exponent, a.factors[i].exponent)) return c;
  }
  return compare_values(b.factors.size(), a.factors.size());
}

int compare(const Expression& a, const Expression& b) {
  const std::size_t both = std::min(a.terms().size(), b.terms().size());
  for (std::size_t i = 0; i < both; ++i) {
    if (int c = compare_products(a.terms()[i], b.terms()[i])) return c;
    if (int c = compare_values(a.terms()[i].coefficient, b.terms()[i].coefficient)) return c;
  }
  return compare_values(a.terms().size(), b.terms().size());
}

std::vector<Term> gathered(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(),
            [](const Term& a, const Term& b) { return compare_products(a, b) < 0; });
  std::vector<Term> sum;
  for (Term& t : terms) {
    if (!sum.empty() && compare_products(sum.back(), t) == 0) {
      sum.back().coefficient += t.coefficient;
    } else {
      sum.push_back(std::move(t));
    }
  }
  std::erase_if(sum, [](const Term& t) { return t.coefficient == 0; });
  return sum;
}

Rational whole_power(const Rational& base, const Integer& exponent) {
  if (mp::abs(exponent) > most_power) throw std::domain_error("a power of a number is too large");
  const unsigned n = static_cast<unsigned>(mp::abs(exponent));
  const Integer top = mp::pow(mp::numerator(base), n), bottom = mp::pow(mp::denominator(base), n);
  return exponent < 0 ? Rational(bottom, top) : Rational(top, bottom);
}

// Multiplies the term by base^exponent, where an equal base may be there already.
void multiply(Term& term, Factor factor) {
  const auto at =
      std::lower_bound(term.factors.begin(), term.factors.end(), factor,
                       [](const Factor& a, const Factor& b) { return compare_bases(a, b) < 0; });
  const bool there = at != term.factors.end() && compare_bases(*at, factor) == 0;
  if (there) factor.exponent += at->exponent;
  if (factor.kind == Kind::number) {
    const Integer whole = floor_of(factor.exponent);
    term.coefficient *= whole_power(Rational(factor.number), whole);
    factor.exponent -= whole;
  }
  if (there && factor.exponent == 0) {
    term.factors.erase(at);
  } else if (there) {
    at->exponent = factor.exponent;
  } else if (factor.exponent != 0) {
    term.factors.insert(at, std::move(factor));
  }
}

// Multiplies by number^exponent.
void multiply_root(Term& term, Integer number, const Rational& exponent) {
  const auto take = [&](const Integer& base, unsigned times) {
    Factor f;
    f.kind = Kind::number;
    f.number = base;
    f.exponent = exponent * times;
    multiply(term, std::move(f));
  };
  for (std::uint32_t p = 2; p <= most_prime && Integer(p) * p <= number; ++p) {
    unsigned times = 0;
    while (number % p == 0) number /= p, ++times;
    if (times != 0) take(p, times);
  }
  if (number != 1) take(number, 1);
}

Term power_of(const Term& base, const Rational& exponent) {
  Term result{1, {}};
  if (is_whole(exponent)) {
    result.coefficient = whole_power(base.coefficient, mp::numerator(exponent));
  } else {
    if (base.coefficient < 0) throw std::domain_error("a broken power of a negative number");
    multiply_root(result, mp::numerator(base.coefficient), exponent);
    multiply_root(result, mp::denominator(base.coefficient), -exponent);
  }
  for (Factor f : base.factors) {
    f.exponent *= exponent;
    multiply(result, std::move(f));
  }
  return result;
}

// The largest number that leaves whole coefficients without a common divisor.
Rational content(const Expression& sum) {
  Integer divisor = 0, multiple = 1;
  for (const Term& t : sum.terms()) {
    divisor = mp::gcd(divisor, mp::numerator(t.coefficient));
    multiple = mp::lcm(multiple, mp::denominator(t.coefficient));
  }
  return Rational(divisor, multiple);
}

Expression power_of_sum(const Expression& sum, const Rational& exponent) {
  const Rational divisor = content(sum);
  Term result = power_of(Term{divisor, {}}, exponent);
  Factor f;
  f.kind = Kind::sum;
  f.parts = {sum * Expression(1 / divisor)};
  f.exponent = exponent;
  multiply(result, std::move(f));
  return Expression::of({std::move(result)});
}

Expression extreme(Kind kind, const std::vector<Expression>& parts) {
  std::vector<Expression> different;
  const auto add = [&](const Expression& e) {
    if (std::find(different.begin(), different.end(), e) == different.end()) different.push_back(e);
  };
  for (const Expression& e : parts) {
    const bool same = e.terms().size() == 1 && e.terms()[0].coefficient == 1 &&
                      e.terms()[0].factors.size() == 1 && e.terms()[0].factors[0].kind == kind &&
                      e.terms()[0].factors[0].exponent == 1;
    if (!same) {
      add(e);
    } else {
      for (const Expression& inner : e.terms()[0].factors[0].parts) add(inner);
    }
  }
  if (different.empty()) throw std::logic_error("the largest of nothing");
  if (different.size() == 1) return different[0];
  Factor f;
  f.kind = kind;
  f.parts = std::move(different);
  return Expression::of({Term{1, {std::move(f)}}});
}

const Rational& value_of(const std::string& name, const Values& values) {
  const auto at = values.find(name);
  if (at == values.end()) throw UsageError(name, "has no value", "give it a size");
  return at->second;
}

// The n-th root of a number that is at least 0, where it is rational.
std::optional<Integer> root(const Integer& number, unsigned n) {
  if (n == 1 || number <= 1) return number;
  Integer low = 1, high = Integer(1) << (mp::msb(number) / n + 1);
  while (low < high) {
    const Integer middle = (low + high + 1) / 2;
    if (mp::pow(middle, n) <= number) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  if (mp::pow(low, n) != number) return {};
  return low;
}

std::optional<Rational> exact_power(const Rational& base, const Rational& exponent) {
  if (base == 0 && exponent < 0) return {};
  Rational rooted = base;
  if (!is_whole(exponent)) {
    if (base < 0 || mp::denominator(exponent) > most_power) return {};
    const unsigned n = static_cast<unsigned>(mp::denominator(exponent));
    const auto top = root(mp::numerator(base), n), bottom = root(mp::denominator(base), n);
    if (!top || !bottom) return {};
    rooted = Rational(*top, *bottom);
  }
  return whole_power(rooted, mp::numerator(exponent));
}

std::optional<Rational> exact_base(const Factor& f, const Values& values) {
  if (f.kind == Kind::number) return Rational(f.number);
  if (f.kind == Kind::symbol) return value_of(f.name, values);
  std::optional<Rational> best;
  for (const Expression& part : f.parts) {
    const std::optional<Rational> value = part.exact(values);
    if (!value) return {};
    const bool better = !best || (f.kind == Kind::largest ? *best < *value : *value < *best);
    if (better) best = value;
  }
  return best;
}

long double base_value(const Factor& f, const Values& values) {
  if (f.kind == Kind::number) return to_long_double(Rational(f.number));
  if (f.kind == Kind::symbol) return to_long_double(value_of(f.name, values));
  long double best = f.parts[0].value(values);
  for (const Expression& part : f.parts) {
    const long double value = part.value(values);
    if (f.kind == Kind::largest ? best < value : value < best) best = value;
    if (std::isnan(value)) return value;
  }
  return best;
}

long double power_value(long double base, const Rational& exponent) {
  if (exponent == 1) return base;
  if (exponent == -1) return 1 / base;
  if (exponent == Rational(1, 2)) return std::sqrt(base);
  if (exponent == Rational(-1, 2)) return 1 / std::sqrt(base);
  return std::pow(base, to_long_double(exponent));
}

void add_symbols(const Expression& e, std::set<std::string>& names) {
  for (const Term& t : e.terms()) {
    for (const Factor& f : t.factors) {
      if (f.kind == Kind::symbol) names.insert(f.name);
      for (const Expression& part : f.parts) add_symbols(part, names);
    }
  }
}

}  // namespace

Expression::Expression() = default;
Expression::Expression(const Expression&) = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(const Expression&) = default;
Expression& Expression::operator=(Expression&&) noexcept = default;
Expression::~Expression() = default;
Expression::Expression(int number) : Expression(Rational(number)) {}
Expression::Expression(std::int64_t number) : Expression(Rational(number)) {}

Expression::Expression(const Rational& number) {
  if (number != 0) terms_.push_back({number, {}});
}

Expression Expression::symbol(std::string name) {
  Factor f;
  f.name = std::move(name);
  return Expression::of({Term{1, {std::move(f)}}});
}

Expression Expression::of(std::vector<Term> terms) {
  Expression e;
  e.terms_ = gathered(std::move(terms));
  return e;
}

bool Expression::is_zero() const { return terms_.empty(); }

std::optional<Rational> Expression::number() const {
  if (terms_.empty()) return Rational(0);
  if (terms_.size() > 1 || !terms_[0].factors.empty()) return {};
  return terms_[0].coefficient;
}

std::set<std::string> Expression::symbols() const {
  std::set<std::string> names;
  add_symbols(*this, names);
  return names;
}

Expression& Expression::operator+=(const Expression& other) {
  std::vector<Term> all = terms_;
  all.insert(all.end(), other.terms_.begin(), other.terms_.end());
  terms_ = gathered(std::move(all));
  return *this;
}

Expression& Expression::operator-=(const Expression& other) { return *this += -other; }

Expression& Expression::operator*=(const Expression& other) {
  std::vector<Term> all;
  for (const Term& a : terms_) {
    for (const Term& b : other.terms_) {
      Term product = a;
      product.coefficient *= b.coefficient;
      for (const Factor& f : b.factors) multiply(product, f);
      all.push_back(std::move(product));
    }
  }
  terms_ = gathered(std::move(all));
  return *this;
}

Expression Expression::operator-() const {
  Expression e = *this;
  for (Term& t : e.terms_) t.coefficient = -t.coefficient;
  return e;
}

Expression operator+(Expression a, const Expression& b) { return a += b; }
Expression operator-(Expression a, const Expression& b) { return a -= b; }
Expression operator*(Expression a, const Expression& b) { return a *= b; }

Expression operator/(const Expression& a, const Expression& b) {
  return (b.terms().size() > 1 ? kept(a) : a) * power(b, -1);
}

bool operator==(const Expression& a, const Expression& b) { return compare(a, b) == 0; }

Expression power(const Expression& base, const Rational& exponent) {
  if (exponent == 0) return 1;
  if (exponent == 1) return base;
  if (base.is_zero()) {
    if (exponent < 0) throw std::domain_error("a division by 0");
    return 0;
  }
  if (base.terms().size() > 1) {
    if (!is_whole(exponent) || exponent < 0 || exponent > most_expanded) {
      return power_of_sum(base, exponent);
    }
    Expression product = base;
    for (int i = 1; i < exponent; ++i) product *= base;
    return product;
  }
  return Expression::of({power_of(base.terms()[0], exponent)});
}

Expression sqrt(const Expression& base) { return power(base, Rational(1, 2)); }

Expression kept(const Expression& sum) {
  return sum.terms().size() > 1 ? power_of_sum(sum, 1) : sum;
}

Expression largest(const std::vector<Expression>& parts) { return extreme(Kind::largest, parts); }
Expression smallest(const std::vector<Expression>& parts) { return extreme(Kind::smallest, parts); }

Expression Expression::replaced(std::string_view symbol, const Expression& by) const {
  Expression sum;
  for (const Term& t : terms_) {
    Expression product = t.coefficient;
    for (const Factor& f : t.factors) {
      Expression base;
      if (f.kind == Kind::number) {
        base = Rational(f.number);
      } else if (f.kind == Kind::symbol) {
        base = f.name == symbol ? by : Expression::symbol(f.name);
      } else {
        std::vector<Expression> parts;
        for (const Expression& part : f.parts) parts.push_back(part.replaced(symbol, by));
        base = f.kind == Kind::sum ? kept(parts[0]) : extreme(f.kind, parts);
      }
      product *= power(base, f.exponent);
    }
    sum += product;
  }
  return sum;
}

std::optional<Rational> Expression::exact(const Values& values) const {
  Rational sum = 0;
  for (const Term& t : terms_) {
    Rational product = t.coefficient;
    for (const Factor& f : t.factors) {
      const std::optional<Rational> base = exact_base(f, values);
      if (!base) return {};
      const std::optional<Rational> factor = exact_power(*base, f.exponent);
      if (!factor) return {};
      product *= *factor;
    }
    sum += product;
  }
  return sum;
}

long double Expression::value(const Values& values) const {
  long double sum = 0;
  for (const Term& t : terms_) {
    long double product = to_long_double(t.coefficient);
    for (const Factor& f : t.factors) product *= power_value(base_value(f, values), f.exponent);
    sum += product;
  }
  return sum;
}

long double to_long_double(const Rational& number) {
  return mp::numerator(number).convert_to<long double>() /
         mp::denominator(number).convert_to<long double>();
}

}  // namespace tcsim::bounds
