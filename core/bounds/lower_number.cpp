// Lower bounds as numbers. docs/bounds.md, "The number", has the derivation.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "core/bounds/lower.hpp"
#include "core/bounds/traffic.hpp"
#include "core/error.hpp"

namespace tcsim::bounds {
namespace {

using Statement = Problem::Statement;

// What some hundred operations in long double can be wrong by, relatively, with much to spare.
constexpr long double rounding = 1e-15L;
// So many are found besides the first.
constexpr int most_vertices = 6;
// A part touches so many times the capacity: sigma / (sigma - 1) for sigma from 11 / 10 to 5.
constexpr long double part_sizes[] = {1.25L, 1.5L, 2, 3, 5, 11};
// Families of statements are looked through up to so many.
constexpr std::size_t most_families = 12;

long double number_of(const Expression& e, const Values& sizes) {
  const std::optional<Rational> exact = e.exact(sizes);
  return exact ? to_long_double(*exact) : e.value(sizes);
}

// A statement at its sizes.
struct Point {
  std::vector<int> array;           // of each access
  std::vector<long double> extent;  // of each dimension
  long double runs = 1;
  long double first = 0;  // elements that are loaded at least once
  long double made = 0;   // at most so many elements are made
  long double capacity = 1;
};

Point point_of(const Problem& problem, const Statement& statement, std::int64_t capacity,
               const Values& sizes) {
  Point p;
  for (const Problem::Access& a : accesses_of(statement)) p.array.push_back(a.array);
  for (DimId d : dims_of(statement)) {
    p.extent.push_back(number_of(Expression::symbol(problem.dim(d).symbol), sizes));
    p.runs *= p.extent.back();
  }
  Problem alone = problem;
  alone.statements = {statement};
  for (int array : arrays_of(statement)) {
    p.first += number_of(first_loads(alone, array), sizes);
  }
  p.made = number_of(most_made(problem, statement), sizes);
  p.capacity = static_cast<long double>(capacity);
  return p;
}

// The most runs that touch no more than so many elements: elements^sigma x factor.
struct MostRuns {
  long double sigma = 0, factor = 1;
  long double operator()(long double elements) const { return factor * std::pow(elements, sigma); }
};

MostRuns most_runs(const Exponents& e, const Point& p) {
  // Accesses to one array share its elements.
  std::map<int, Rational> share;
  Rational sigma = 0;
  for (std::size_t j = 0; j < e.access.size(); ++j) {
    share[p.array[j]] += e.access[j];
    sigma += e.access[j];
  }
  MostRuns most;
  most.sigma = to_long_double(sigma);
  // A product of powers is largest where the elements are split as the exponents are.
  for (const auto& [array, s] : share) {
    if (s != 0) most.factor *= std::pow(to_long_double(s / sigma), to_long_double(s));
  }
  for (std::size_t d = 0; d < e.dim.size(); ++d) {
    most.factor *= std::pow(p.extent[d], to_long_double(e.dim[d]));
  }
  return most;
}

// With parts of T loads, before rounding.
long double loads_with(const MostRuns& most, long double T, const Point& p) {
  const long double rate = most(p.capacity + T) / T;
  // The first part has r loads, a <= r < a + T for any a that is no more than all loads; it begins
  // in an empty memory and does no more than most(r). What it loads more than the rate says:
  const auto ahead = [&](long double r) { return r - most(r) / rate; };
  // It rises, then falls; the best a has the same on both ends.
  long double low = 0, high = std::max(0.0L, std::min(std::floor(p.first), 2 * p.capacity + T));
  while (high - low >= 1) {
    const long double middle = std::floor((low + high + 1) / 2);
    if (middle <= low || middle > high) break;
    if (ahead(middle) <= ahead(middle + T)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  const long double gain = std::max(0.0L, std::min(ahead(low), ahead(low + T)));
  return p.runs / rate + gain;
}

// Of loads and elements that are made.
long double loads_by(const Exponents& e, const Point& p) {
  const MostRuns most = most_runs(e, p);
  if (!(most.sigma > 1)) return 0;
  const long double best = p.capacity / (most.sigma - 1);
  long double loads = 0;
  for (long double T : {std::floor(best), std::ceil(best)}) {
    loads = std::max(loads, loads_with(most, std::max(1.0L, T), p));
  }
  return loads;
}

Rational rounded_log(long double value) {
  return Rational(static_cast<std::int64_t>(std::llround(std::log2(std::max(1.0L, value)) * 4096)),
                  4096);
}

// A mean of exponents with whole weights, which is of the same convex set.
class Mean {
 public:
  explicit Mean(Exponents vertex) { add(std::move(vertex)), weights_[0] = parts; }

  // With the weight 0.
  void add(Exponents vertex) {
    vertices_.push_back(std::move(vertex));
    weights_.push_back(0);
  }
  bool has(const Exponents& vertex) const {
    return std::find(vertices_.begin(), vertices_.end(), vertex) != vertices_.end();
  }

  Exponents exponents() const {
    Exponents e{std::vector<Rational>(vertices_[0].access.size(), Rational(0)),
                std::vector<Rational>(vertices_[0].dim.size(), Rational(0))};
    const auto add = [](std::vector<Rational>& to, const std::vector<Rational>& from,
                        const Rational& share) {
      for (std::size_t k = 0; k < to.size(); ++k) to[k] += share * from[k];
    };
    for (std::size_t v = 0; v < vertices_.size(); ++v) {
      if (weights_[v] == 0) continue;
      add(e.access, vertices_[v].access, Rational(weights_[v], parts));
      add(e.dim, vertices_[v].dim, Rational(weights_[v], parts));
    }
    return e;
  }

  // Moves weight between two vertices for as long as `value`, of exponents, falls.
  template <class F>
  void improve(F&& value) {
    long double least = value(exponents());
    for (bool better = true; better;) {
      better = false;
      for (std::size_t from = 0; from < vertices_.size(); ++from) {
        for (std::size_t to = 0; to < vertices_.size(); ++to) {
          for (int step : {parts / 4, 1}) {
            while (from != to && weights_[from] >= step) {
              weights_[from] -= step, weights_[to] += step;
              const long double now = value(exponents());
              if (now < least * (1 - rounding)) {
                least = now;
                better = true;
              } else {
                weights_[from] += step, weights_[to] -= step;
                break;
              }
            }
          }
        }
      }
    }
  }

 private:
  static constexpr int parts = 24;  // a number with many divisors, for means of two or three
  std::vector<Exponents> vertices_;
  std::vector<int> weights_;
};

// The most runs that touch so many elements are, as a logarithm, convex in the exponents: for a few
// sizes of a part, a mean of the vertices to which the slope leads. Wherever it stops is proven.
class Search {
 public:
  Search(const Statement& statement, const Point& point) : set_(statement), p_(point) {
    for (long double n : p_.extent) dim_costs_.push_back(rounded_log(n));
    small_.assign(p_.extent.size(), true);
  }

  void run(const std::vector<Partition>& known) {
    for (const Partition& k : known) take(k.exponents);
    for (long double times : part_sizes) {
      const std::optional<Exponents> at = best_for(times * p_.capacity);
      if (!at) return;
      take(*at);
    }
  }

  long double loads() const { return loads_; }
  const std::optional<Exponents>& exponents() const { return best_; }

 private:
  void take(const Exponents& e) {
    const long double loads = loads_by(e, p_);
    if (loads <= loads_) return;
    loads_ = loads;
    best_ = e;
  }

  // Those with the least most_runs() of so many elements.
  std::optional<Exponents> best_for(long double elements) const {
    const std::vector<Rational> equal(p_.array.size(), rounded_log(elements));
    const std::optional<Exponents> first = set_.least(equal, dim_costs_, small_);
    if (!first) return {};
    Mean mean(*first);
    for (int i = 0; i < most_vertices; ++i) {
      const std::optional<Exponents> to =
          set_.least(costs_at(mean.exponents(), elements), dim_costs_, small_);
      if (!to || mean.has(*to)) break;
      mean.add(*to);
      mean.improve([&](const Exponents& e) { return most_runs(e, p_)(elements); });
    }
    return mean.exponents();
  }

  // How much more runs another exponent allows: the logarithm of its array's elements.
  std::vector<Rational> costs_at(const Exponents& e, long double elements) const {
    std::map<int, long double> share;
    long double sigma = 0;
    for (std::size_t j = 0; j < e.access.size(); ++j) {
      share[p_.array[j]] += to_long_double(e.access[j]);
      sigma += to_long_double(e.access[j]);
    }
    std::vector<Rational> costs;
    for (int array : p_.array) {
      costs.push_back(rounded_log(sigma > 0 ? elements * share[array] / sigma : elements));
    }
    return costs;
  }

  ExponentSet set_;
  const Point& p_;
  std::vector<Rational> dim_costs_;
  std::vector<bool> small_;
  long double loads_ = 0;
  std::optional<Exponents> best_;
};

// The next whole number that is not below, after what rounding may have added.
long double whole(long double loads) {
  return std::max(0.0L, std::ceil(loads - std::abs(loads) * rounding));
}

void check(const Problem& problem, std::int64_t capacity, const Values& sizes) {
  if (capacity < 1) {
    throw UsageError("capacity", "is below 1", "give it at least one element");
  }
  for (const Problem::Dim& d : problem.dims) {
    const auto at = sizes.find(d.symbol);
    if (at == sizes.end()) throw UsageError(d.name, "has no extent", "give it a size");
    if (boost::multiprecision::denominator(at->second) != 1 || at->second < 1) {
      throw UsageError(d.name, "has no whole extent of at least 1", "give it one");
    }
  }
}

}  // namespace

long double loads_by(const Exponents& exponents, const Problem& problem, const Statement& statement,
                     std::int64_t capacity, const Values& sizes) {
  return loads_by(exponents, point_of(problem, statement, capacity, sizes));
}

LowerNumber lower_bound_at(const Problem& problem, Moves moves, std::int64_t capacity,
                           const Values& sizes, const std::vector<Partition>& known) {
  check(problem, capacity, sizes);
  const std::size_t n = problem.statements.size();
  LowerNumber result;
  std::vector<long double> first;
  for (int array = 0; array < static_cast<int>(problem.arrays.size()); ++array) {
    first.push_back(number_of(first_loads(problem, array), sizes));
    result.compulsory += first.back();
  }
  // How much more than its elements' first loads each statement has.
  std::vector<long double> more;
  for (const Statement& s : problem.statements) {
    const Point p = point_of(problem, s, capacity, sizes);
    Search search(s, p);
    search.run(n == 1 ? known : std::vector<Partition>());
    long double loads = whole(search.loads() * (1 - rounding) - p.made);
    for (int array : arrays_of(s)) loads -= first[static_cast<std::size_t>(array)];
    more.push_back(std::max(0.0L, loads));
    if (n == 1 && more.back() > 0) result.exponents = search.exponents();
  }
  // Of statements without a common array, the sum; of others, the best choice among them.
  long double best = 0;
  if (n <= most_families) {
    for (std::size_t family = 1; family < (std::size_t{1} << n); ++family) {
      long double sum = 0;
      bool apart = true;
      for (std::size_t i = 0; i < n && apart; ++i) {
        if ((family >> i & 1) == 0) continue;
        sum += more[i];
        for (std::size_t k = 0; k < i && apart; ++k) {
          apart =
              (family >> k & 1) == 0 || !share_arrays(problem.statements[i], problem.statements[k]);
        }
      }
      if (apart) best = std::max(best, sum);
    }
  } else {
    best = *std::max_element(more.begin(), more.end());
  }
  const long double stores =
      moves == Moves::loads_and_stores ? number_of(stored(problem), sizes) : 0;
  result.compulsory = whole(result.compulsory) + whole(stores);
  result.elements = result.compulsory + best;
  return result;
}

}  // namespace tcsim::bounds
