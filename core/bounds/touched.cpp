#include "core/bounds/touched.hpp"

#include <algorithm>
#include <numeric>
#include <set>

namespace tcsim::bounds {

Expression different_values(const Problem& problem, const std::vector<Affine::Term>& terms) {
  const auto extent = [&](const Affine::Term& t) {
    return Expression::symbol(problem.dim(t.dim).symbol);
  };
  const auto only_ones = [](const Affine::Term& t) { return t.coefficient == 1; };
  if (terms.empty()) return 1;
  if (terms.size() == 1) return extent(terms[0]);
  if (terms.size() > 2 || std::all_of(terms.begin(), terms.end(), only_ones)) {
    // One step of each dimension after the other, from the least value to the largest.
    Expression places = 1;
    for (const Affine::Term& t : terms) places += extent(t) - 1;
    return places;
  }
  const std::int64_t divisor = std::gcd(terms[0].coefficient, terms[1].coefficient);
  const std::int64_t a = terms[0].coefficient / divisor, b = terms[1].coefficient / divisor;
  const Expression m = extent(terms[0]), n = extent(terms[1]);
  if (a == 1 && b == 1) return m + n - 1;
  // With a step of 1 the second product is the smaller of what both cases give.
  if (a == 1) return smallest({m * n, m + b * (n - 1)});
  if (b == 1) return smallest({m * n, n + a * (m - 1)});
  return m * n - largest({m - b, 0}) * largest({n - a, 0});
}

Expression touched(const Problem& problem, const Problem::Access& access) {
  std::vector<Affine> axes = access.axes;
  std::stable_sort(axes.begin(), axes.end(), [](const Affine& a, const Affine& b) {
    return a.terms.size() < b.terms.size();
  });
  // Places of an axis that differ by dimensions of no axis before it: for each place before it,
  // all of these are there.
  std::set<DimId> before;
  Expression elements = 1;
  for (const Affine& axis : axes) {
    std::vector<Affine::Term> fresh;
    for (const Affine::Term& t : axis.terms) {
      if (before.insert(t.dim).second) fresh.push_back(t);
    }
    elements *= kept(different_values(problem, fresh));
  }
  return elements;
}

}  // namespace tcsim::bounds
