#include "core/bounds/traffic.hpp"

#include <algorithm>
#include <map>
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

// The places within which the access stays.
Expression places(const Problem& problem, const Access& access) {
  Expression product = 1;
  for (const Affine& axis : access.axes) {
    Expression reach = 1;
    for (const Affine::Term& t : axis.terms) {
      reach += t.coefficient * (Expression::symbol(problem.dim(t.dim).symbol) - 1);
    }
    product *= reach;
  }
  return product;
}

}  // namespace

std::vector<int> arrays_of(const Statement& statement) {
  std::set<int> arrays;
  for (const Access& a : accesses_of(statement)) arrays.insert(a.array);
  return {arrays.begin(), arrays.end()};
}

bool share_arrays(const Statement& a, const Statement& b) {
  const std::vector<int> of_a = arrays_of(a), of_b = arrays_of(b);
  return std::any_of(of_a.begin(), of_a.end(),
                     [&](int x) { return std::find(of_b.begin(), of_b.end(), x) != of_b.end(); });
}

Expression first_loads(const Problem& problem, int array) {
  if (problem.arrays[static_cast<std::size_t>(array)].starts_at_zero) return 0;
  std::vector<Access> accesses;
  for (const Statement& s : problem.statements) {
    for (const Access& a : accesses_of(s)) {
      if (a.array == array) accesses.push_back(a);
    }
  }
  return accesses.empty() ? 0 : touched_of(problem, accesses);
}

Expression most_made(const Problem& problem, const Statement& statement) {
  Expression made;
  for (int array : arrays_of(statement)) {
    if (!problem.arrays[static_cast<std::size_t>(array)].starts_at_zero) continue;
    for (const Access& a : accesses_of(statement)) {
      if (a.array == array) made += places(problem, a);
    }
  }
  return made;
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

std::vector<std::vector<std::size_t>> groups_of(const Problem::Statement& statement) {
  const std::vector<Problem::Access> accesses = accesses_of(statement);
  const std::vector<DimId> dims = dims_of(statement);
  std::map<std::vector<bool>, std::size_t> place;
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::vector<bool> is_in;
    bool alone = true;
    for (const Problem::Access& a : accesses) {
      bool here = false;
      for (const Affine& axis : a.axes) {
        for (const Affine::Term& t : axis.terms) {
          if (t.dim != dims[d]) continue;
          alone = alone && !here && axis.terms.size() == 1;
          here = true;
        }
      }
      is_in.push_back(here);
    }
    const auto [at, fresh] = place.emplace(std::move(is_in), groups.size());
    if (alone && !fresh) {
      groups[at->second].push_back(d);
    } else {
      if (!alone && fresh) place.erase(at);
      groups.push_back({d});
    }
  }
  return groups;
}

}  // namespace tcsim::bounds
