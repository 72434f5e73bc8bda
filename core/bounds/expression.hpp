// Symbolic bounds: sums of products of powers, such as 2 N_i N_j N_k / (sqrt(S + 1) - 1) + N_i N_j.
//
// Own type, because GiNaC is GPL-2 or later and orders terms by address, and because the theory
// needs little: monomials with rational exponents, roots and quotients of sums of them, the
// largest or smallest of several. Numbers are exact (Boost.Multiprecision).
//
// Every symbol stands for a positive number, and so does a sum under a root: (x^2)^(1/2) is x.
// Terms and factors have an order of their own, the same on every run.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tcsim::bounds {

using Integer = boost::multiprecision::cpp_int;
using Rational = boost::multiprecision::cpp_rational;

// What symbols stand for.
using Values = std::map<std::string, Rational, std::less<>>;

// A value in normal form: numbers are gathered, like terms added, like factors multiplied. Sums
// are multiplied out, except those that are kept(), are divided by another or have a power that is
// not 1 to 4.
class Expression {
 public:
  struct Factor;
  struct Term;

  Expression();  // 0
  Expression(int number);
  Expression(std::int64_t number);
  Expression(const Rational& number);
  Expression(const Expression&);
  Expression(Expression&&) noexcept;
  Expression& operator=(const Expression&);
  Expression& operator=(Expression&&) noexcept;
  ~Expression();
  // An identifier.
  static Expression symbol(std::string name);
  // Their sum.
  static Expression of(std::vector<Term> terms);

  const std::vector<Term>& terms() const { return terms_; }
  bool is_zero() const;
  // The number that it is, where it is one and rational.
  std::optional<Rational> number() const;
  std::set<std::string> symbols() const;

  Expression& operator+=(const Expression& other);
  Expression& operator-=(const Expression& other);
  Expression& operator*=(const Expression& other);
  Expression operator-() const;

  // With an expression in a symbol's place.
  Expression replaced(std::string_view symbol, const Expression& by) const;

  // Exactly, where all roots are rational; nothing otherwise, and where something is divided by 0.
  // Throws UsageError for a symbol without a value.
  std::optional<Rational> exact(const Values& values) const;
  // With a relative error of a few 2^-60 for each operation; not a number or infinite where it is
  // not defined. Throws UsageError for a symbol without a value.
  long double value(const Values& values) const;

 private:
  std::vector<Term> terms_;
};

// What has a power in a product.
struct Expression::Factor {
  enum class Kind {
    number,    // an integer above 1, with an exponent between 0 and 1
    symbol,    //
    sum,       // parts has one expression
    largest,   // of parts
    smallest,  // of parts
  };
  Kind kind = Kind::symbol;
  Integer number;
  std::string name;
  std::vector<Expression> parts;
  Rational exponent = 1;
};

// coefficient x product of factors; the coefficient is not 0.
struct Expression::Term {
  Rational coefficient;
  std::vector<Factor> factors;  // in their order, each base once
};

Expression operator+(Expression a, const Expression& b);
Expression operator-(Expression a, const Expression& b);
Expression operator*(Expression a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);

// Whether the normal forms are the same; expressions that differ may still be equal as functions.
bool operator==(const Expression& a, const Expression& b);

// Throws std::domain_error for a negative power of 0 and a broken power of a negative number.
Expression power(const Expression& base, const Rational& exponent);
Expression sqrt(const Expression& base);
// The sum as one factor, not multiplied out.
Expression kept(const Expression& sum);
// Of at least one; what is there twice is there once.
Expression largest(const std::vector<Expression>& parts);
Expression smallest(const std::vector<Expression>& parts);

// "2 N_i N_j N_k / sqrt(S) + N_i N_j"
std::string to_text(const Expression& expression);
// "\frac{2 N_{i} N_{j} N_{k}}{\sqrt{S}} + N_{i} N_{j}"
std::string to_latex(const Expression& expression);
// "2*N_i*N_j*N_k/S**(1/2) + N_i*N_j"
std::string to_python(const Expression& expression);

long double to_long_double(const Rational& number);

}  // namespace tcsim::bounds
