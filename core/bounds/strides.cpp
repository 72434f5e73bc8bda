#include "core/bounds/strides.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace tcsim::bounds {
namespace {

using Access = Problem::Access;
using Statement = Problem::Statement;

struct Stride {
  DimId of;
  std::int64_t stride;
};

// Of the index s x + h, in any multiple.
std::optional<Stride> stride_of(const Affine& axis) {
  if (axis.terms.size() != 2) return {};
  const bool last = axis.terms[1].coefficient < axis.terms[0].coefficient;
  const Affine::Term &h = axis.terms[last ? 1 : 0], &x = axis.terms[last ? 0 : 1];
  if (h.coefficient < 1 || x.coefficient == h.coefficient || x.coefficient % h.coefficient != 0) {
    return {};
  }
  return Stride{h.dim, x.coefficient / h.coefficient};
}

bool has(const Affine& axis, DimId d) {
  return std::any_of(axis.terms.begin(), axis.terms.end(),
                     [&](const Affine::Term& t) { return t.dim == d; });
}

// Where the dimension is in an index of its own everywhere but there.
bool can_be_split(const Statement& statement, const Affine& index, DimId d) {
  for (const Access& a : accesses_of(statement)) {
    for (const Affine& axis : a.axes) {
      if (has(axis, d) && axis.terms.size() > 1 && axis.terms != index.terms) return false;
    }
  }
  return true;
}

DimId add_dim(Problem& problem, const std::string& symbol) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(problem.dims.begin(), problem.dims.end(),
                       [&](const Problem::Dim& d) { return d.symbol == name; });
  };
  Problem::Dim dim;
  for (dim.symbol = symbol; is_taken(dim.symbol);) dim.symbol += '_';
  dim.name = dim.symbol;
  problem.dims.push_back(std::move(dim));
  return DimId{static_cast<int>(problem.dims.size()) - 1};
}

void split(Access& access, const SplitStrides::Part& part) {
  std::vector<Affine> axes;
  for (const Affine& axis : access.axes) {
    if (!has(axis, part.of)) {
      axes.push_back(axis);
      continue;
    }
    Affine quotient{{{part.quotient, 1}}};
    for (const Affine::Term& t : axis.terms) {
      if (t.dim != part.of) quotient.terms.push_back({t.dim, 1});
    }
    axes.push_back(std::move(quotient));
    axes.push_back({{{part.rest, 1}}});
  }
  access.axes = std::move(axes);
}

}  // namespace

std::optional<SplitStrides> split_strides(const Problem& problem, const Statement& statement) {
  SplitStrides result{problem, {}};
  result.problem.statements = {statement};
  for (const Access& a : accesses_of(statement)) {
    for (const Affine& axis : a.axes) {
      const std::optional<Stride> found = stride_of(axis);
      Statement& s = result.problem.statements[0];
      if (!found || !can_be_split(s, axis, found->of)) continue;
      const std::vector<DimId> left = dims_of(s);
      if (std::find(left.begin(), left.end(), found->of) == left.end()) continue;
      const Problem::Dim dim = problem.dim(found->of);
      SplitStrides::Part part{found->of, {}, {}, found->stride};
      for (auto [to, more] : {std::pair{&part.quotient, "_by"}, {&part.rest, "_mod"}}) {
        *to = add_dim(result.problem, dim.symbol + more);
        result.problem.dims.back().small = dim.small;
      }
      split(s.out, part);
      for (Access& in : s.in) split(in, part);
      result.parts.push_back(part);
    }
  }
  if (result.parts.empty()) return {};
  return result;
}

Expression with_extents(Expression e, const SplitStrides& split) {
  for (const SplitStrides::Part& part : split.parts) {
    const Expression n = Expression::symbol(split.problem.dim(part.of).symbol);
    e = e.replaced(split.problem.dim(part.quotient).symbol,
                   kept((n + part.stride - 1) / part.stride));
    e = e.replaced(split.problem.dim(part.rest).symbol, part.stride);
  }
  return e;
}

Values with_extents(Values sizes, const SplitStrides& split) {
  for (const SplitStrides::Part& part : split.parts) {
    const Integer n = numerator(sizes.at(split.problem.dim(part.of).symbol));
    const Integer stride = part.stride;
    sizes[split.problem.dim(part.quotient).symbol] = Rational((n + stride - 1) / stride);
    sizes[split.problem.dim(part.rest).symbol] = Rational(std::min(n, stride));
  }
  return sizes;
}

}  // namespace tcsim::bounds
