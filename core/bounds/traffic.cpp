#include "core/bounds/traffic.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/bounds/touched.hpp"

namespace tcsim::bounds {
namespace {

using Access = Problem::Access;
using Statement = Problem::Statement;

// All that any access touches is at least what each of them does.
Expression touched_of(const Problem& problem, const std::vector<Access>& accesses) {
  std::vector<Expression> each;
  for (const Access& a : accesses) each.push_back(touched(problem, a));
  return largest(each);
}

std::vector<Access> accesses_to(const Problem& problem, int array) {
  std::vector<Access> accesses;
  for (const Statement& s : problem.statements) {
    for (const Access& a : accesses_of(s)) {
      if (a.array == array) accesses.push_back(a);
    }
  }
  return accesses;
}

}  // namespace

std::vector<int> arrays_of(const Statement& statement) {
  std::set<int> arrays;
  for (const Access& a : accesses_of(statement)) arrays.insert(a.array);
  return {arrays.begin(), arrays.end()};
}

Expression first_loads(const Problem& problem, int array) {
  if (problem.arrays[static_cast<std::size_t>(array)].starts_at_zero) return 0;
  const std::vector<Access> accesses = accesses_to(problem, array);
  return accesses.empty() ? 0 : touched_of(problem, accesses);
}

Expression most_made(const Problem& problem, int array) {
  if (!problem.arrays[static_cast<std::size_t>(array)].starts_at_zero) return 0;
  const std::vector<Access> accesses = accesses_to(problem, array);
  if (accesses.empty()) return 0;
  // All are within the box of what each index reaches at most.
  Expression places = 1;
  for (std::size_t axis = 0; axis < accesses[0].axes.size(); ++axis) {
    std::vector<Expression> reaches;
    for (const Access& a : accesses) {
      Expression reach = 1;
      for (const Affine::Term& t : a.axes[axis].terms) {
        reach += t.coefficient * (Expression::symbol(problem.dim(t.dim).symbol) - 1);
      }
      reaches.push_back(std::move(reach));
    }
    places *= largest(reaches);
  }
  return places;
}

Expression stored(const Problem& problem) {
  Expression all;
  for (int array = 0; array < static_cast<int>(problem.arrays.size()); ++array) {
    std::vector<Access> writes;
    bool read_elsewhere = false;
    for (std::size_t s = 0; s < problem.statements.size(); ++s) {
      if (problem.statements[s].out.array == array) writes.push_back(problem.statements[s].out);
    }
    for (const Statement& s : problem.statements) {
      const bool reads =
          std::any_of(s.in.begin(), s.in.end(), [&](const Access& a) { return a.array == array; });
      read_elsewhere = read_elsewhere || (reads && s.out.array != array);
    }
    if (!writes.empty() && !read_elsewhere) all += touched_of(problem, writes);
  }
  return all;
}

}  // namespace tcsim::bounds
