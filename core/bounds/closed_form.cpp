#include "core/bounds/closed_form.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "core/bounds/permutations.hpp"
#include "core/bounds/tile_sizes.hpp"

namespace tcsim::bounds {

namespace {

// The sample: extents that are not small times this, so that they are much longer than sides, and
// a capacity whose sides are much longer than what is small.
constexpr std::int64_t long_beside_sides = 100'000;
constexpr double sample_capacity = 1e6;
// Extents that nobody knows.
constexpr std::int64_t sample_extent = 100, sample_small_extent = 3;
// Costs that differ by less are the same.
constexpr double same = 1e-9;

// Polynomials in the side, the constant first, of numbers or expressions.
template <class Number>
using Polynomial = std::vector<Number>;

template <class Number>
Polynomial<Number> times(const Polynomial<Number>& a, const Polynomial<Number>& b) {
  Polynomial<Number> result(a.size() + b.size() - 1, Number(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t j = 0; j < b.size(); ++j) result[i + j] += a[i] * b[j];
  }
  return result;
}

template <class Number>
void add_to(Polynomial<Number>& to, const Polynomial<Number>& more) {
  if (to.size() < more.size()) to.resize(more.size(), Number(0));
  for (std::size_t i = 0; i < more.size(); ++i) to[i] += more[i];
}

// An array's places along each axis, by dimension the range that is looked at.
template <class Number>
std::vector<Polynomial<Number>> axes_of(const Nest::Array& array,
                                        const std::vector<Polynomial<Number>>& ranges) {
  std::vector<Polynomial<Number>> axes;
  for (const Affine& axis : array.axes) {
    std::int64_t common = 0;
    for (const Affine::Term& t : axis.terms) common = std::gcd(common, t.coefficient);
    Polynomial<Number> sum{Number(1)};
    for (const Affine::Term& t : axis.terms) {
      const auto c = Number(static_cast<int>(t.coefficient / common));
      add_to(sum, times({c}, ranges[place(t.dim)]));
      sum[0] -= c;
    }
    axes.push_back(std::move(sum));
  }
  return axes;
}

template <class Number>
Polynomial<Number> size_polynomial(const Nest::Array& array,
                                   const std::vector<Polynomial<Number>>& ranges) {
  Polynomial<Number> all{Number(1)};
  for (const auto& axis : axes_of(array, ranges)) all = times(all, axis);
  return all;
}

// The loops outside what an array keeps: those that it is brought again for, and the one along
// which it slides.
struct Outside {
  std::vector<bool> visited, tiled;  // by dimension
};
Outside outside(const std::vector<DimId>& permutation, int level) {
  Outside result{std::vector<bool>(permutation.size()), std::vector<bool>(permutation.size())};
  const auto outer = permutation.size() + 1 - static_cast<std::size_t>(level);
  for (std::size_t i = 0; i < outer; ++i) {
    result.tiled[place(permutation[i])] = true;
    result.visited[place(permutation[i])] = i + 1 < outer;
  }
  return result;
}

template <class Number>
Polynomial<Number> range(TileKind kind, const Number& extent) {
  switch (kind) {
    case TileKind::one:
      return {Number(1)};
    case TileKind::side:
      return {Number(0), Number(1)};
    case TileKind::whole:
      break;
  }
  return {extent};
}

// A pattern at extents that are numbers or expressions.
template <class Number>
class PatternCost {
 public:
  PatternCost(const Nest& nest, const TilePattern& pattern, const std::vector<Number>& extents)
      : held_{Number(0)} {
    for (std::size_t a = 0; a < nest.arrays.size(); ++a) {
      const Outside o = outside(pattern.permutation, pattern.levels[a]);
      std::vector<Polynomial<Number>> held, moved;
      Moved m{Number(nest.arrays[a].weight), 0, {}};
      for (std::size_t d = 0; d < extents.size(); ++d) {
        const auto tile = range(pattern.tiles[d], extents[d]);
        held.push_back(o.tiled[d] ? tile : Polynomial<Number>{extents[d]});
        moved.push_back(o.visited[d] ? tile : Polynomial<Number>{extents[d]});
        if (!o.visited[d] || pattern.tiles[d] == TileKind::whole) continue;
        m.visits *= extents[d];
        if (pattern.tiles[d] == TileKind::side) ++m.over_side;
      }
      add_to(held_, size_polynomial(nest.arrays[a], held));
      m.axes = axes_of(nest.arrays[a], moved);
      moved_.push_back(std::move(m));
      if (nest.arrays[a].starts_at_zero) {
        moved_.push_back({Number(-1), 0, axes_of(nest.arrays[a], constants(extents))});
      }
    }
  }

  const Polynomial<Number>& held() const { return held_; }

  Number moved(const Number& side) const {
    Number sum(0);
    for (const Moved& m : moved_) {
      Number term = m.visits;
      for (int k = 0; k < m.over_side; ++k) term = term / side;
      for (const Polynomial<Number>& axis : m.axes) term *= together(at_side(axis, side));
      sum += term;
    }
    return sum;
  }

 private:
  struct Moved {
    Number visits;
    int over_side;  // power by which visits are divided
    std::vector<Polynomial<Number>> axes;
  };
  static Number at_side(const Polynomial<Number>& axis, const Number& side) {
    Number sum = axis[0];
    if (axis.size() > 1) sum += axis[1] * side;
    return sum;
  }
  // A sum that is read as one factor.
  static double together(double sum) { return sum; }
  static Expression together(const Expression& sum) { return kept(sum); }
  static std::vector<Polynomial<Number>> constants(const std::vector<Number>& extents) {
    std::vector<Polynomial<Number>> all;
    for (const Number& n : extents) all.push_back({n});
    return all;
  }

  Polynomial<Number> held_;
  std::vector<Moved> moved_;
};

// What fills the store; nothing where it does not, or the equation has another degree.
std::optional<double> filling_side(const Polynomial<double>& held, double capacity) {
  std::size_t degree = held.size() - 1;
  while (degree > 0 && held[degree] == 0) --degree;
  if (degree == 0 || degree > 2 || held[0] >= capacity) return {};
  if (degree == 1) return (capacity - held[0]) / held[1];
  const double half = held[1] / (2 * held[2]);
  return std::sqrt(half * half + (capacity - held[0]) / held[2]) - half;
}

std::optional<Expression> filling_side(const Polynomial<Expression>& held) {
  std::size_t degree = held.size() - 1;
  while (degree > 0 && held[degree].is_zero()) --degree;
  if (degree == 0 || degree > 2) return {};
  const Expression room = Expression::symbol(capacity_symbol) - held[0];
  if (degree == 1) return room / kept(held[1]);
  if (held[2].number()) {
    const Expression half = held[1] / (2 * held[2]);
    return sqrt(half * half + room / held[2]) - half;
  }
  return kept(sqrt(held[1] * held[1] + 4 * held[2] * room) - held[1]) / (2 * kept(held[2]));
}

// Extents of a fused nest in symbols.
std::vector<Expression> symbols_of(const Problem& problem, const std::vector<DimId>& dims,
                                   const FusedNest& nest) {
  std::vector<Expression> extents;
  for (const std::vector<DimId>& group : nest.dims) {
    Expression extent = 1;
    for (DimId d : group) extent *= Expression::symbol(problem.dim(dims[place(d)]).symbol);
    extents.push_back(extent);
  }
  return extents;
}

StatementNest sample_of(const Problem& problem, std::size_t statement, Moves moves) {
  Problem at_sample = problem;
  for (Problem::Dim& d : at_sample.dims) {
    d.extent =
        std::max<std::int64_t>(d.extent.value_or(d.small ? sample_small_extent : sample_extent), 2);
  }
  StatementNest nest = nest_of(at_sample, statement, moves);
  std::vector<bool> small = small_dims(nest.nest);
  for (std::size_t d = 0; d < small.size(); ++d) {
    if (!small[d] && !problem.dim(nest.dims[d]).small) nest.nest.extents[d] *= long_beside_sides;
  }
  return nest;
}

// How often the side is a factor of an array's tile.
int degree(const Nest::Array& array, const std::vector<TileKind>& tiles) {
  return static_cast<int>(
      std::count_if(array.axes.begin(), array.axes.end(), [&](const Affine& axis) {
        return std::any_of(axis.terms.begin(), axis.terms.end(), [&](const Affine::Term& t) {
          return tiles[place(t.dim)] == TileKind::side;
        });
      }));
}

// Patterns with these loops whose store may have a quadratic equation; visit(pattern). An array
// keeps as little as it can, or is whole. What is small has no side, and what is long is not whole
// in a tile.
template <class Visit>
void for_each_pattern(const Nest& nest, const std::vector<DimId>& order,
                      const std::vector<bool>& small, Visit&& visit) {
  TilePattern pattern{order, {}, std::vector<TileKind>(nest.extents.size())};
  const auto with_levels = [&](auto&& self, std::size_t a) -> void {
    if (a == nest.arrays.size()) return visit(pattern);
    const std::vector<int> levels = useful_levels(nest.arrays[a], order);
    for (int level : {levels.front(), levels.back()}) {
      if (level != levels.back() && degree(nest.arrays[a], pattern.tiles) > 2) continue;
      pattern.levels.push_back(level);
      self(self, a + 1);
      pattern.levels.pop_back();
      if (levels.size() == 1) break;
    }
  };
  const auto with_tiles = [&](auto&& self, std::size_t d) -> void {
    if (d == pattern.tiles.size()) return with_levels(with_levels, 0);
    for (TileKind kind : {TileKind::one, small[d] ? TileKind::whole : TileKind::side}) {
      pattern.tiles[d] = kind;
      self(self, d + 1);
    }
  };
  with_tiles(with_tiles, 0);
}

}  // namespace

bool ClosedForm::holds(const Values& values) const {
  const long double length = side.value(values);
  return length >= 1 && std::all_of(sides_of.begin(), sides_of.end(),
                                    [&](const Expression& n) { return length <= n.value(values); });
}

FusedNest fused_sample(const Problem& problem, std::size_t statement, Moves moves) {
  return fused(sample_of(problem, statement, moves).nest);
}

std::optional<ClosedForm> closed_form(const Problem& problem, std::size_t statement, Moves moves,
                                      const TilePattern& pattern) {
  const StatementNest at_sample = sample_of(problem, statement, moves);
  ClosedForm form{fused(at_sample.nest), pattern, {}, {}, {}, {}};
  const std::vector<Expression> extents = symbols_of(problem, at_sample.dims, form.nest);
  const PatternCost<Expression> cost(form.nest.nest, pattern, extents);
  const auto side = filling_side(cost.held());
  if (!side) return {};
  form.side = *side;
  form.moved_by_side = cost.moved(Expression::symbol(side_symbol));
  form.moved = form.moved_by_side.replaced(side_symbol, kept(*side));
  for (std::size_t d = 0; d < extents.size(); ++d) {
    if (pattern.tiles[d] == TileKind::side) form.sides_of.push_back(extents[d]);
  }
  return form;
}

std::optional<ClosedForm> closed_form(const Problem& problem, std::size_t statement, Moves moves) {
  const Nest nest = fused_sample(problem, statement, moves).nest;
  std::vector<double> extents(nest.extents.begin(), nest.extents.end());
  double least = std::numeric_limits<double>::infinity();
  std::optional<TilePattern> best;
  std::vector<bool> small(nest.extents.size());
  for (std::size_t d = 0; d < small.size(); ++d) small[d] = nest.extents[d] < long_beside_sides;
  for (const std::vector<DimId>& order : permutations(reuse_of(nest, small))) {
    for_each_pattern(nest, order, small, [&](const TilePattern& pattern) {
      const PatternCost<double> cost(nest, pattern, extents);
      const auto side = filling_side(cost.held(), sample_capacity);
      if (!side || *side < 1) return;
      for (std::size_t d = 0; d < extents.size(); ++d) {
        if (pattern.tiles[d] == TileKind::side && *side > extents[d]) return;
      }
      const double moved = cost.moved(*side);
      if (moved > least * (1 + same)) return;
      least = std::min(least, moved);
      best = pattern;
    });
  }
  if (!best) return {};
  return closed_form(problem, statement, moves, *best);
}

TilingExpressions tiling_expressions(const Problem& problem, std::size_t statement, Moves moves,
                                     const std::vector<DimId>& permutation,
                                     const std::vector<int>& levels) {
  const StatementNest nest = sample_of(problem, statement, moves);
  TilingExpressions result{0, 0};
  for (std::size_t a = 0; a < nest.nest.arrays.size(); ++a) {
    const Nest::Array& array = nest.nest.arrays[a];
    const Outside o = outside(permutation, levels[a]);
    std::vector<Polynomial<Expression>> held, moved, all;
    Expression visits = array.weight;
    for (std::size_t d = 0; d < nest.dims.size(); ++d) {
      const Problem::Dim& dim = problem.dim(nest.dims[d]);
      const Expression extent = Expression::symbol(dim.symbol);
      const Expression tile = Expression::symbol("T_" + dim.name);
      held.push_back({o.tiled[d] ? tile : extent});
      moved.push_back({o.visited[d] ? tile : extent});
      all.push_back({extent});
      if (o.visited[d]) visits = visits * extent / tile;
    }
    result.held += size_polynomial(array, held)[0];
    result.moved += visits * size_polynomial(array, moved)[0];
    if (array.starts_at_zero) result.moved -= size_polynomial(array, all)[0];
  }
  return result;
}

}  // namespace tcsim::bounds
