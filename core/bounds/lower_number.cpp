// Lower bounds as numbers. docs/bounds.md, "The number", has the derivation.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <mutex>
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
// Sweeps of many capacities ask for the same ones again and again.
constexpr std::size_t most_remembered = 4096;
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
};

Point point_of(const Problem& problem, const Statement& statement, const Values& sizes) {
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
long double loads_with(const MostRuns& most, long double T, const Point& p, long double capacity) {
  const long double rate = most(capacity + T) / T;
  // The first part has r loads, a <= r < a + T for any a that is no more than all loads; it begins
  // in an empty memory and does no more than most(r). What it loads more than the rate says:
  const auto ahead = [&](long double r) { return r - most(r) / rate; };
  // It rises, then falls; the best a has the same on both ends.
  long double low = 0, high = std::max(0.0L, std::min(std::floor(p.first), 2 * capacity + T));
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
long double loads_by(const MostRuns& most, const Point& p, long double capacity) {
  if (!(most.sigma > 1)) return 0;
  const long double best = capacity / (most.sigma - 1);
  long double loads = 0;
  for (long double T : {std::floor(best), std::ceil(best)}) {
    loads = std::max(loads, loads_with(most, std::max(1.0L, T), p, capacity));
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
  Search(const Statement& statement, const Point& point)
      : groups_(groups_of(statement)), set_(fused(statement)), p_(fused(point)) {
    for (long double n : p_.extent) dim_costs_.push_back(rounded_log(n));
    small_.assign(p_.extent.size(), true);
  }

  // Good ones for about this capacity.
  std::vector<Exponents> near(long double capacity) const {
    std::vector<Exponents> found;
    for (long double times : part_sizes) {
      const std::optional<Exponents> best = best_for(times * capacity);
      if (!best) break;
      Exponents e = apart(*best);
      if (std::find(found.begin(), found.end(), e) == found.end()) found.push_back(std::move(e));
    }
    return found;
  }

 private:
  // Dimensions that are as one are searched as one: the first of each group, with all their places.
  Statement fused(Statement s) const {
    const std::vector<DimId> dims = dims_of(s);
    std::vector<DimId> gone;
    for (const auto& group : groups_) {
      for (std::size_t i = 1; i < group.size(); ++i) gone.push_back(dims[group[i]]);
    }
    const auto drop = [&](Problem::Access& a) {
      std::erase_if(a.axes, [&](const Affine& axis) {
        return axis.terms.size() == 1 &&
               std::find(gone.begin(), gone.end(), axis.terms[0].dim) != gone.end();
      });
    };
    drop(s.out);
    std::ranges::for_each(s.in, drop);
    return s;
  }
  Point fused(Point p) const {
    const std::vector<long double> extents = std::exchange(p.extent, {});
    for (const auto& group : groups_) {
      p.extent.push_back(1);
      for (std::size_t d : group) p.extent.back() *= extents[d];
    }
    return p;
  }
  Exponents apart(const Exponents& fused) const {
    Exponents e{fused.access, {}};
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (std::size_t d : groups_[g]) {
        e.dim.resize(std::max(e.dim.size(), d + 1));
        e.dim[d] = fused.dim[g];
      }
    }
    return e;
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

  std::vector<std::vector<std::size_t>> groups_;
  ExponentSet set_;
  Point p_;
  std::vector<Rational> dim_costs_;
  std::vector<bool> small_;
};

// The loads of one statement over the capacity. Not for several threads at a time.
class StatementLoads {
 public:
  StatementLoads(const Problem& problem, const Statement& statement, const Values& sizes,
                 const std::vector<Partition>& known)
      : p_(point_of(problem, statement, sizes)), search_(statement, p_) {
    for (const Partition& k : known) known_.push_back(candidate(k.exponents));
  }

  struct Proof {
    long double loads = 0;  // before rounding, with elements that are made
    const Exponents* exponents = nullptr;
  };
  Proof at(std::int64_t capacity) const {
    Proof best;
    const auto take = [&](const std::vector<Candidate>& candidates) {
      for (const Candidate& c : candidates) {
        const long double loads = loads_by(c.most, p_, static_cast<long double>(capacity));
        if (loads > best.loads) best = {loads, &c.exponents};
      }
    };
    int power = 0;
    while (capacity >> power > 1) ++power;
    take(known_);
    take(near_power(power));
    if (capacity != std::int64_t{1} << power) take(near_power(power + 1));
    return best;
  }

  const Point& point() const { return p_; }

 private:
  struct Candidate {
    Exponents exponents;
    MostRuns most;
  };
  Candidate candidate(const Exponents& e) const { return {e, most_runs(e, p_)}; }

  // Of the capacity 2^power.
  const std::vector<Candidate>& near_power(int power) const {
    const auto [at, fresh] = near_.try_emplace(power);
    if (fresh) {
      for (const Exponents& e : search_.near(std::ldexp(1.0L, power))) {
        at->second.push_back(candidate(e));
      }
    }
    return at->second;
  }

  const Point p_;
  const Search search_;
  std::vector<Candidate> known_;
  mutable std::map<int, std::vector<Candidate>> near_;
};

// The next whole number that is not below, after what rounding may have added.
long double whole(long double loads) {
  return std::max(0.0L, std::ceil(loads - std::abs(loads) * rounding));
}

void check_sizes(const Problem& problem, const Values& sizes) {
  for (const Problem::Dim& d : problem.dims) {
    const auto at = sizes.find(d.symbol);
    if (at == sizes.end()) throw UsageError(d.name, "has no extent", "give it a size");
    if (boost::multiprecision::denominator(at->second) != 1 || at->second < 1) {
      throw UsageError(d.name, "has no whole extent of at least 1", "give it one");
    }
  }
}

class Numbers {
 public:
  Numbers(const Problem& problem, const Values& sizes, const std::vector<Partition>& known) {
    check_sizes(problem, sizes);
    for (int array = 0; array < static_cast<int>(problem.arrays.size()); ++array) {
      first_.push_back(number_of(first_loads(problem, array), sizes));
    }
    stores_ = number_of(stored(problem), sizes);
    const bool alone = problem.statements.size() == 1;
    for (const Statement& s : problem.statements) {
      statements_.push_back(std::make_unique<StatementLoads>(
          problem, s, sizes, alone ? known : std::vector<Partition>()));
      own_.push_back(arrays_of(s));
      shares_.emplace_back();
      for (const Statement& other : problem.statements) {
        shares_.back().push_back(share_arrays(s, other));
      }
    }
  }

  LowerNumber at(Moves moves, std::int64_t capacity) const {
    if (capacity < 1) throw UsageError("capacity", "is below 1", "give it at least one element");
    const std::pair key(moves, capacity);
    const std::scoped_lock lock(mutex_);
    if (const auto known = remembered_.find(key); known != remembered_.end()) return known->second;
    LowerNumber number = number_at(moves, capacity);
    if (remembered_.size() < most_remembered) remembered_.emplace(key, number);
    return number;
  }

 private:
  LowerNumber number_at(Moves moves, std::int64_t capacity) const {
    LowerNumber result;
    for (long double first : first_) result.compulsory += first;
    // How much more than its elements' first loads each statement has.
    std::vector<long double> more;
    for (std::size_t i = 0; i < statements_.size(); ++i) {
      const StatementLoads::Proof proof = statements_[i]->at(capacity);
      long double loads = whole(proof.loads * (1 - rounding) - statements_[i]->point().made);
      for (int array : own_[i]) loads -= first_[static_cast<std::size_t>(array)];
      more.push_back(std::max(0.0L, loads));
      if (statements_.size() == 1 && more.back() > 0) result.exponents = *proof.exponents;
    }
    const long double stores = moves == Moves::loads_and_stores ? stores_ : 0;
    result.compulsory = whole(result.compulsory) + whole(stores);
    result.elements = result.compulsory + most_apart(more);
    return result;
  }

  // Of statements without a common array, the sum; of others, the best choice among them.
  long double most_apart(const std::vector<long double>& more) const {
    const std::size_t n = more.size();
    if (n > most_families) return *std::max_element(more.begin(), more.end());
    long double best = 0;
    for (std::size_t family = 1; family < (std::size_t{1} << n); ++family) {
      long double sum = 0;
      bool apart = true;
      for (std::size_t i = 0; i < n && apart; ++i) {
        if ((family >> i & 1) == 0) continue;
        sum += more[i];
        for (std::size_t k = 0; k < i && apart; ++k) {
          apart = (family >> k & 1) == 0 || !shares_[i][k];
        }
      }
      if (apart) best = std::max(best, sum);
    }
    return best;
  }

  std::vector<long double> first_;  // of each array
  long double stores_ = 0;
  std::vector<std::unique_ptr<StatementLoads>> statements_;
  std::vector<std::vector<int>> own_;      // arrays of each statement
  std::vector<std::vector<bool>> shares_;  // statements that have a common array
  mutable std::mutex mutex_;
  mutable std::map<std::pair<Moves, std::int64_t>, LowerNumber> remembered_;
};

}  // namespace

LowerCurve::LowerCurve(const Problem& problem, const Values& sizes,
                       const std::vector<Partition>& known)
    : number_([numbers = std::make_shared<const Numbers>(problem, sizes, known)](
                  Moves moves, std::int64_t capacity) { return numbers->at(moves, capacity); }) {}

LowerNumber lower_bound_at(const Problem& problem, Moves moves, std::int64_t capacity,
                           const Values& sizes, const std::vector<Partition>& known) {
  return LowerCurve(problem, sizes, known).at(moves, capacity);
}

long double loads_by(const Exponents& exponents, const Problem& problem, const Statement& statement,
                     std::int64_t capacity, const Values& sizes) {
  const Point p = point_of(problem, statement, sizes);
  return loads_by(most_runs(exponents, p), p, static_cast<long double>(capacity));
}

}  // namespace tcsim::bounds
