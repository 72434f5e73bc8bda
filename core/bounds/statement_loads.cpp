#include "core/bounds/statement_loads.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "core/bounds/strides.hpp"
#include "core/bounds/traffic.hpp"

namespace tcsim::bounds {
namespace {

using Statement = Problem::Statement;

// So many are found besides the first.
constexpr int most_vertices = 6;
// A part touches so many times the capacity: sigma / (sigma - 1) for sigma from 11 / 10 to 5.
constexpr long double part_sizes[] = {1.25L, 1.5L, 2, 3, 5, 11};

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

ExponentBases bases_of(const Problem& problem, const Statement& statement, const Values& sizes) {
  ExponentBases bases;
  for (const Problem::Access& a : accesses_of(statement)) bases.array.push_back(a.array);
  for (DimId d : dims_of(statement)) {
    bases.extent.push_back(number_of(Expression::symbol(problem.dim(d).symbol), sizes));
  }
  return bases;
}

ExponentBases bases_of(const SplitStrides& split, const Values& sizes) {
  const Values all = with_extents(sizes, split);
  ExponentBases bases = bases_of(split.problem, split.statement(), all);
  const std::vector<DimId> dims = dims_of(split.statement());
  for (const SplitStrides::Part& part : split.parts) {
    const auto at = std::find(dims.begin(), dims.end(), part.quotient);
    const Integer n = numerator(sizes.at(split.problem.dim(part.of).symbol));
    const Integer places = n / part.stride, longer = n % part.stride;
    bases.strides.push_back({static_cast<std::size_t>(at - dims.begin()),
                             to_long_double(Rational(places)), to_long_double(Rational(longer)),
                             to_long_double(Rational(part.stride - longer))});
  }
  return bases;
}

}  // namespace

// The most runs that touch so many elements are, as a logarithm, convex in the exponents: for a few
// sizes of a part, a mean of the vertices to which the slope leads. Wherever it stops is proven.
class StatementLoads::Search {
 public:
  Search(const Statement& statement, const ExponentBases& bases)
      : groups_(always_together(statement)),
        set_(fused(statement)),
        bases_(bases),
        p_(fused(bases)) {
    for (long double n : p_.extent) dim_costs_.push_back(rounded_log(n));
    small_.assign(p_.extent.size(), true);
  }

  const ExponentBases& bases() const { return bases_; }

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
  ExponentBases fused(ExponentBases p) const {
    p.strides.clear();
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
      mean.improve([&](const Exponents& e) { return Candidate(e, p_).most(elements); });
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
  ExponentBases bases_, p_;  // of the statement, and with groups as one
  std::vector<Rational> dim_costs_;
  std::vector<bool> small_;
};

long double number_of(const Expression& e, const Values& sizes) {
  const std::optional<Rational> exact = e.exact(sizes);
  return exact ? to_long_double(*exact) : e.value(sizes);
}

Candidate::Candidate(Exponents e, const ExponentBases& bases) : exponents(std::move(e)) {
  // Accesses to one array share its elements.
  std::map<int, Rational> exact;
  Rational sum = 0;
  for (std::size_t j = 0; j < exponents.access.size(); ++j) {
    exact[bases.array[j]] += exponents.access[j];
    sum += exponents.access[j];
  }
  sigma = to_long_double(sum);
  // A product of powers is largest where the elements are split as the exponents are.
  for (const auto& [array, s] : exact) {
    share[array] = to_long_double(s);
    if (s != 0) factor *= std::pow(to_long_double(s / sum), to_long_double(s));
  }
  for (std::size_t d = 0; d < exponents.dim.size(); ++d) {
    factor *= std::pow(bases.extent[d], to_long_double(exponents.dim[d]));
  }
  // Each place of r has its own share of q, not the largest.
  for (const ExponentBases::Stride& stride : bases.strides) {
    const long double s = to_long_double(exponents.dim[stride.quotient]);
    const auto weight = [&](long double places) {
      return places == 0 ? 0 : std::pow(places, 1 - s);
    };
    const long double all = stride.longer * (stride.places + 1) + stride.shorter * stride.places;
    const long double weighted =
        stride.longer * weight(stride.places + 1) + stride.shorter * weight(stride.places);
    factor /= std::pow(bases.extent[stride.quotient], s);
    runs *= weighted / all;
  }
}

long double Candidate::most(long double elements) const {
  return factor * std::pow(elements, sigma);
}

long double PartBound::most(long double weight) const { return factor * std::pow(weight, sigma); }

namespace {

// With parts of T loads.
long double loads_with(std::span<const PartBound> bounds, long double T, long double first,
                       long double capacity) {
  long double loads = 0;
  std::vector<long double> rates;
  for (const PartBound& b : bounds) {
    rates.push_back(b.most(capacity + T) / T);
    loads += b.runs / rates.back();
  }
  // The first part has r loads, a <= r < a + T for any a that is no more than all loads; it begins
  // in an empty memory and does no more than most(r). What it loads more than the rate says:
  const auto ahead = [&](long double r) {
    long double least = r;
    for (std::size_t i = 0; i < bounds.size(); ++i) {
      least = std::min(least, r - bounds[i].most(r) / rates[i]);
    }
    return least;
  };
  // It rises, then falls; the best a has the same on both ends.
  long double low = 0, high = std::max(0.0L, std::min(std::floor(first), 2 * capacity + T));
  while (high - low >= 1) {
    const long double middle = std::floor((low + high + 1) / 2);
    if (middle <= low || middle > high) break;
    if (ahead(middle) <= ahead(middle + T)) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return loads + std::max(0.0L, std::min(ahead(low), ahead(low + T)));
}

}  // namespace

long double loads_together(std::span<const PartBound> bounds, long double first,
                           long double capacity) {
  long double loads = 0;
  for (const PartBound& b : bounds) {
    const long double best = capacity / (b.sigma - 1);
    for (long double T : {std::floor(best), std::ceil(best)}) {
      loads = std::max(loads, loads_with(bounds, std::max(1.0L, T), first, capacity));
    }
  }
  return loads;
}

StatementLoads::StatementLoads(const Problem& problem, const Statement& statement,
                               const Values& sizes, const std::vector<Partition>& known)
    : runs_(number_of(runs_of(problem, statement), sizes)), arrays_(arrays_of(statement)) {
  const ExponentBases bases = bases_of(problem, statement, sizes);
  searches_.push_back(std::make_unique<Search>(statement, bases));
  ExponentBases of_parts;
  if (const auto split = split_strides(problem, statement)) {
    of_parts = bases_of(*split, sizes);
    searches_.push_back(std::make_unique<Search>(split->statement(), of_parts));
  }
  for (const Partition& k : known) {
    known_.emplace_back(k.exponents, k.strides_split ? of_parts : bases);
  }
}

StatementLoads::~StatementLoads() = default;

std::optional<PartBound> StatementLoads::bound_by(const Candidate& candidate,
                                                  std::span<const long double> weights,
                                                  const std::vector<bool>& common) const {
  PartBound bound{&candidate.exponents, candidate.sigma, candidate.factor, runs_ * candidate.runs};
  long double own = 0;
  bool shares = false;
  for (int array : arrays_) {
    const auto at = static_cast<std::size_t>(array);
    const long double share = candidate.share.at(array);
    shares = shares || common[at];
    if (!common[at]) own += share;
    if (share == 0 || weights[at] == 1) continue;
    if (weights[at] == 0) return {};
    // Lighter elements: so many times as many for the same weight.
    bound.factor *= std::pow(weights[at], -share);
  }
  if (!(bound.sigma > 1) || (shares && own < 1)) return {};
  return bound;
}

std::optional<PartBound> StatementLoads::best(std::int64_t capacity,
                                              std::span<const long double> weights,
                                              const std::vector<bool>& common,
                                              std::span<const long double> first) const {
  long double known = 0, heaviest = 0;
  for (int array : arrays_) {
    const auto at = static_cast<std::size_t>(array);
    known += weights[at] * first[at];
    heaviest = std::max(heaviest, weights[at]);
  }
  std::optional<PartBound> best;
  long double most = 0;
  const auto take = [&](const std::vector<Candidate>& candidates) {
    for (const Candidate& c : candidates) {
      const auto bound = bound_by(c, weights, common);
      if (!bound) continue;
      const long double loads = loads_together(std::span(&*bound, 1), known,
                                               heaviest * static_cast<long double>(capacity));
      if (loads <= most) continue;
      most = loads;
      best = bound;
    }
  };
  int power = 0;
  while (capacity >> power > 1) ++power;
  take(known_);
  take(near_power(power));
  if (capacity != std::int64_t{1} << power) take(near_power(power + 1));
  return best;
}

const std::vector<Candidate>& StatementLoads::near_power(int power) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto at = near_.find(power); at != near_.end()) return at->second;
  }
  std::vector<Candidate> found;
  for (const auto& search : searches_) {
    for (Exponents& e : search->near(std::ldexp(1.0L, power))) {
      found.emplace_back(std::move(e), search->bases());
    }
  }
  const std::scoped_lock lock(mutex_);
  // Another thread may have been faster; it found the same.
  return near_.try_emplace(power, std::move(found)).first->second;
}

}  // namespace tcsim::bounds
