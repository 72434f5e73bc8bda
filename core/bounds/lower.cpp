// Lower bounds as expressions.
#include "core/bounds/lower.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "core/bounds/strides.hpp"
#include "core/bounds/traffic.hpp"

namespace tcsim::bounds {
namespace {

using Access = Problem::Access;
using Statement = Problem::Statement;

// Choices of small dimensions are all looked at up to so many groups of them.
constexpr std::size_t most_groups = 8;
// Of more statements that share arrays only single ones are printed: families would be many.
constexpr std::size_t most_in_families = 4;

Expression symbol_of(const Problem& problem, DimId d) {
  return Expression::symbol(problem.dim(d).symbol);
}

// The bound with T = S / (sigma - 1): runs T / (most runs that touch S + T elements). The most runs
// have s_a T elements of an array a with the exponent s_a.
Expression loads_of(const Exponents& e, const Rational& sigma, const Problem& problem,
                    const Statement& statement, const Expression& runs) {
  const Expression T = Expression::symbol(capacity_symbol) / Expression(sigma - 1);
  std::map<int, Rational> share;
  const std::vector<Access> accesses = accesses_of(statement);
  for (std::size_t j = 0; j < accesses.size(); ++j) share[accesses[j].array] += e.access[j];
  Expression most = 1;
  for (const auto& [array, s] : share) most *= power(s == 0 ? Expression(1) : Expression(s) * T, s);
  const std::vector<DimId> dims = dims_of(statement);
  for (std::size_t d = 0; d < dims.size(); ++d) {
    most *= power(symbol_of(problem, dims[d]), e.dim[d]);
  }
  return runs * T / most;
}

// Each choice marks the dimensions that are small in it. Those that are said to be are always.
std::vector<std::vector<bool>> choices_of(const Problem& problem, const Statement& statement) {
  const std::vector<DimId> dims = dims_of(statement);
  std::vector<bool> said;
  for (DimId d : dims) said.push_back(problem.dim(d).small);
  const std::vector<std::vector<std::size_t>> groups = always_together(statement);
  const std::size_t chosen = std::min(groups.size(), most_groups);
  std::vector<std::vector<bool>> choices;
  for (std::size_t choice = 0; choice < std::size_t{1} << chosen; ++choice) {
    std::vector<bool> small = said;
    for (std::size_t g = 0; g < chosen; ++g) {
      for (std::size_t d : groups[g]) {
        if (choice >> g & 1) small[d] = true;
      }
    }
    if (std::find(choices.begin(), choices.end(), small) == choices.end()) {
      choices.push_back(std::move(small));
    }
  }
  return choices;
}

Rational sum_of(const std::vector<Rational>& numbers) {
  Rational sum = 0;
  for (const Rational& n : numbers) sum += n;
  return sum;
}

// The least sum over accesses; nothing if no exponents are known.
std::optional<Rational> least_sum(const ExponentSet& set, std::size_t accesses,
                                  const std::vector<bool>& small) {
  const std::vector<Rational> ones(accesses, Rational(1)), none(small.size(), Rational(0));
  const std::optional<Exponents> first = set.least(ones, none, small);
  if (!first) return {};
  return sum_of(first->access);
}

// With that sum, and then the least over small dimensions: vertices, and what is between them.
std::vector<Exponents> exponents_for(const ExponentSet& set, std::size_t accesses,
                                     const std::vector<bool>& small, const Rational& sigma) {
  // A dimension costs more than accesses can save.
  const std::vector<Rational> many(small.size(), Rational(1000));
  std::vector<Exponents> found;
  for (std::size_t j = 0; j < accesses; ++j) {
    std::vector<Rational> costs(accesses, Rational(0));
    costs[j] = 1;
    const std::optional<Exponents> e = set.least(costs, many, small, sigma);
    if (e && std::find(found.begin(), found.end(), *e) == found.end()) found.push_back(*e);
  }
  if (found.size() < 2) return found;
  Exponents middle = found[0];
  const auto add = [&](std::vector<Rational>& to, const std::vector<Rational>& from) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] += from[k];
  };
  for (std::size_t k = 1; k < found.size(); ++k) {
    add(middle.access, found[k].access);
    add(middle.dim, found[k].dim);
  }
  for (Rational& s : middle.access) s /= Rational(found.size());
  for (Rational& s : middle.dim) s /= Rational(found.size());
  found.push_back(std::move(middle));
  return found;
}

// A product of powers as logarithms: of its number, and of each symbol's exponent.
struct Product {
  Rational number;
  std::map<std::string, Rational> exponents;
};

Product product_of(const Expression& e) {
  Product p;
  const Expression::Term& term = e.terms().at(0);
  long double size = to_long_double(term.coefficient);
  for (const Expression::Factor& f : term.factors) {
    if (f.kind == Expression::Factor::Kind::symbol) {
      p.exponents[f.name] = f.exponent;
    } else {
      size *= std::pow(to_long_double(Rational(f.number)), to_long_double(f.exponent));
    }
  }
  p.number =
      Rational(static_cast<std::int64_t>(std::llround(std::log2(size) * (1 << 20))), 1 << 20);
  return p;
}

// One dimension for each index of the access: so many elements are touched at least.
void add_faces(const Problem& problem, const Access& access, std::vector<Expression>& faces) {
  std::vector<std::vector<DimId>> chosen{{}};
  for (const Affine& axis : access.axes) {
    std::vector<std::vector<DimId>> longer;
    for (const std::vector<DimId>& c : chosen) {
      for (const Affine::Term& t : axis.terms) {
        if (std::find(c.begin(), c.end(), t.dim) != c.end() || longer.size() > 64) continue;
        longer.push_back(c);
        longer.back().push_back(t.dim);
      }
    }
    if (longer.empty()) return;
    chosen = std::move(longer);
  }
  for (const std::vector<DimId>& c : chosen) {
    Expression face = 1;
    for (DimId d : c) face *= symbol_of(problem, d);
    faces.push_back(std::move(face));
  }
}

// Whether a mean of the others is at least as large wherever all sizes are at least 1.
bool is_exceeded(const Product& p, const std::vector<Product>& others) {
  std::set<std::string> symbols;
  for (const Product& o : others) {
    for (const auto& [name, exponent] : o.exponents) symbols.insert(name);
  }
  for (const auto& [name, exponent] : p.exponents) symbols.insert(name);
  LinearProgram program;
  program.costs.assign(others.size(), Rational(0));
  program.rows.push_back({std::vector<Rational>(others.size(), Rational(1)), 1});
  program.rows.push_back({std::vector<Rational>(others.size(), Rational(-1)), -1});
  const auto exponent_in = [](const Product& in, const std::string& name) {
    const auto at = in.exponents.find(name);
    return at == in.exponents.end() ? Rational(0) : at->second;
  };
  for (const std::string& name : symbols) {
    LinearProgram::Row row{{}, exponent_in(p, name)};
    for (const Product& o : others) row.a.push_back(exponent_in(o, name));
    program.rows.push_back(std::move(row));
  }
  LinearProgram::Row numbers{{}, p.number - Rational(1, 1 << 18)};
  for (const Product& o : others) numbers.a.push_back(o.number);
  program.rows.push_back(std::move(numbers));
  return solve(program).has_value();
}

// Without those that others exceed.
std::vector<Partition> needed(std::vector<Partition> all, const Problem& problem,
                              const Statement& statement) {
  std::vector<Expression> faces;
  for (const Access& a : accesses_of(statement)) {
    if (!problem.arrays[static_cast<std::size_t>(a.array)].starts_at_zero) {
      add_faces(problem, a, faces);
    }
  }
  std::vector<Product> fixed;
  for (const Expression& face : faces) fixed.push_back(product_of(face));
  for (std::size_t i = all.size(); i-- > 0;) {
    std::vector<Product> others = fixed;
    for (std::size_t k = 0; k < all.size(); ++k) {
      if (k != i) others.push_back(product_of(all[k].loads));
    }
    if (!others.empty() && is_exceeded(product_of(all[i].loads), others)) {
      all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
  return all;
}

// One for each power of S: the one that is the largest at the sizes.
void keep_largest(std::vector<Partition>& all, Values sizes) {
  sizes[capacity_symbol] = 1;
  for (std::size_t i = all.size(); i-- > 0;) {
    const bool exceeded = std::any_of(all.begin(), all.end(), [&](const Partition& other) {
      return &other != &all[i] && other.sigma == all[i].sigma &&
             other.loads.value(sizes) >= all[i].loads.value(sizes);
    });
    if (exceeded) all.erase(all.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

Partition partition_with(const Exponents& e, const Problem& problem, const Statement& statement,
                         const Expression& runs) {
  const Rational sigma = sum_of(e.access);
  return {e, false, sigma, loads_of(e, sigma, problem, statement, runs)};
}

// In parts of a box that has these runs.
std::vector<Partition> all_partitions(const Problem& problem, const Statement& statement,
                                      const Expression& runs) {
  const ExponentSet set(statement);
  std::vector<Partition> all;
  const std::size_t accesses = statement.in.size() + 1;
  // With a sum of at most 1 the compulsory traffic is no less, and so with more small dimensions.
  // More that do not lower the sum lead to means of what fewer lead to.
  std::vector<std::pair<std::vector<bool>, Rational>> seen;
  for (const std::vector<bool>& small : choices_of(problem, statement)) {
    std::optional<Rational> of_fewer;
    for (const auto& [fewer, sum] : seen) {
      bool has_all = true;
      for (std::size_t d = 0; d < small.size(); ++d) has_all = has_all && (small[d] || !fewer[d]);
      if (has_all && (!of_fewer || sum < *of_fewer)) of_fewer = sum;
    }
    if (of_fewer && *of_fewer <= 1) continue;
    const std::optional<Rational> sigma = least_sum(set, accesses, small);
    if (!sigma) break;
    if (of_fewer && *sigma == *of_fewer) continue;
    seen.emplace_back(small, *sigma);
    if (*sigma <= 1) continue;
    for (const Exponents& e : exponents_for(set, accesses, small, *sigma)) {
      const auto same = [&](const Partition& p) { return p.exponents == e; };
      if (std::any_of(all.begin(), all.end(), same)) continue;
      all.push_back(partition_with(e, problem, statement, runs));
    }
  }
  return all;
}

std::vector<Partition> partitions_of(const Problem& problem, const Statement& statement) {
  const auto split = split_strides(problem, statement);
  std::vector<Partition> all =
      all_partitions(split ? split->problem : problem, split ? split->statement() : statement,
                     runs_of(problem, statement));
  all = needed(std::move(all), problem, statement);
  if (split) {
    for (Partition& p : all) {
      p.strides_split = true;
      p.loads = with_extents(std::move(p.loads), *split);
    }
  }
  const Values sizes = sizes_of(problem);
  const auto is_known = [&](DimId d) { return problem.dim(d).extent.has_value(); };
  const std::vector<DimId> dims = dims_of(statement);
  if (std::all_of(dims.begin(), dims.end(), is_known)) keep_largest(all, sizes);
  return all;
}

// Of several statements, what their own bounds and first loads prove together.
class Families {
 public:
  Families(const Problem& problem, std::vector<std::vector<Partition>> partitions)
      : problem_(problem), partitions_(std::move(partitions)) {
    for (const Statement& s : problem.statements) arrays_.push_back(arrays_of(s));
  }

  // Loads of all; groups of statements that share nothing add up.
  Expression loads() const {
    Expression all;
    std::vector<bool> done(partitions_.size());
    for (std::size_t i = 0; i < partitions_.size(); ++i) {
      if (done[i]) continue;
      const Family group = group_of(i);
      for (std::size_t k : group) done[k] = true;
      all += loads_of_group(group);
    }
    return all;
  }

 private:
  using Family = std::vector<std::size_t>;

  bool has(std::size_t i, int array) const {
    return std::find(arrays_[i].begin(), arrays_[i].end(), array) != arrays_[i].end();
  }

  Family group_of(std::size_t i) const {
    Family group{i};
    for (std::size_t at = 0; at < group.size(); ++at) {
      for (std::size_t k = 0; k < partitions_.size(); ++k) {
        const auto shared = [&](int array) { return has(k, array); };
        if (std::any_of(arrays_[group[at]].begin(), arrays_[group[at]].end(), shared) &&
            std::find(group.begin(), group.end(), k) == group.end()) {
          group.push_back(k);
        }
      }
    }
    return group;
  }

  Expression loads_of_group(const Family& group) const {
    std::set<int> arrays;
    for (std::size_t i : group) arrays.insert(arrays_[i].begin(), arrays_[i].end());
    Expression compulsory;
    for (int array : arrays) compulsory += first_loads(problem_, array);
    std::vector<Expression> each{compulsory};
    std::vector<std::uint32_t> taken;  // sets, the largest first
    const std::uint32_t sets = 1u << (group.size() <= most_in_families ? group.size() : 0);
    for (std::uint32_t set = sets; set-- > 1;) {
      Family family;
      for (std::size_t at = 0; at < group.size(); ++at) {
        if (set >> at & 1) family.push_back(group[at]);
      }
      // One of them may be less than its first loads, so single ones are there too.
      const bool within = std::any_of(taken.begin(), taken.end(),
                                      [&](std::uint32_t t) { return (t & set) == set; });
      if (within && family.size() > 1) continue;
      if (add(family, arrays, each)) taken.push_back(set);
    }
    for (std::size_t i = 0; i < group.size() && sets == 1; ++i) add({group[i]}, arrays, each);
    return largest(each);
  }

  // What the family proves with parts of one size, where what each of its statements has alone
  // has an exponent of 1 at least; whether it proves anything.
  bool add(const Family& family, const std::set<int>& arrays, std::vector<Expression>& to) const {
    Expression rest;  // first loads of the other arrays, less what is made
    for (int array : arrays) {
      const bool own =
          std::any_of(family.begin(), family.end(), [&](std::size_t i) { return has(i, array); });
      rest += own ? -most_made(problem_, array) : first_loads(problem_, array);
    }
    const std::size_t before = to.size();
    for (const Partition& first : partitions_[family[0]]) {
      std::vector<Expression> sums{rest};
      for (std::size_t i : family) {
        std::vector<Expression> longer;
        for (const Partition& p : partitions_[i]) {
          if (p.sigma != first.sigma || (i == family[0] && &p != &first)) continue;
          if (family.size() > 1 && own_share(i, p, family) < 1) continue;
          for (const Expression& sum : sums) longer.push_back(sum + p.loads);
        }
        sums = std::move(longer);
      }
      to.insert(to.end(), sums.begin(), sums.end());
    }
    return to.size() > before;
  }

  // The exponents of arrays that no other statement of the family has.
  Rational own_share(std::size_t i, const Partition& p, const Family& family) const {
    const std::vector<Access> accesses = accesses_of(problem_.statements[i]);
    Rational share = 0;
    for (std::size_t j = 0; j < accesses.size(); ++j) {
      const bool common = std::any_of(family.begin(), family.end(), [&](std::size_t k) {
        return k != i && has(k, accesses[j].array);
      });
      if (!common) share += p.exponents.access[j];
    }
    return share;
  }

  const Problem& problem_;
  std::vector<std::vector<Partition>> partitions_;
  std::vector<std::vector<int>> arrays_;  // of each statement
};

}  // namespace

Partition partition_by(const Exponents& exponents, const Problem& problem,
                       const Statement& statement) {
  return partition_with(exponents, problem, statement, runs_of(problem, statement));
}

LowerBound lower_bound(const Problem& problem, Moves moves) {
  LowerBound bound;
  std::vector<std::vector<Partition>> partitions;
  for (const Statement& s : problem.statements) {
    bound.runs += runs_of(problem, s);
    partitions.push_back(partitions_of(problem, s));
  }
  if (partitions.size() == 1) bound.partitions = partitions[0];
  const Expression stores = moves == Moves::loads_and_stores ? stored(problem) : Expression();
  bound.compulsory = stores;
  for (int array = 0; array < static_cast<int>(problem.arrays.size()); ++array) {
    bound.compulsory += first_loads(problem, array);
  }
  bound.moves = Families(problem, std::move(partitions)).loads() + stores;
  return bound;
}

}  // namespace tcsim::bounds
