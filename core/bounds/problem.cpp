#include "core/bounds/problem.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace tcsim::bounds {
namespace {

using Access = Problem::Access;
using Statement = Problem::Statement;

Access access_of(const Program::Access& access) { return {index(access.tensor), access.axes}; }

std::vector<DimId> sorted(const std::set<DimId>& dims) { return {dims.begin(), dims.end()}; }

void add_dims(const Access& access, std::set<DimId>& dims) {
  for (const Affine& axis : access.axes) {
    for (const Affine::Term& term : axis.terms) dims.insert(term.dim);
  }
}

}  // namespace

Problem problem_of(const Program& program) {
  Problem p;
  p.name = program.name();
  for (const Program::Dim& d : program.dims()) {
    p.dims.push_back({d.name, "N_" + d.name, d.extent, false});
  }
  for (const Program::Tensor& t : program.tensors()) {
    p.arrays.push_back({t.name, t.role == Program::Role::intermediate});
  }
  for (const Program::Statement& s : program.statements()) {
    Statement statement{access_of(s.out), {}};
    for (const Program::Access& a : s.in) statement.in.push_back(access_of(a));
    p.statements.push_back(std::move(statement));
  }
  return p;
}

Problem problem_of(const Program& program, std::size_t statement) {
  return problem_of(problem_of(program), statement);
}

Problem problem_of(const Problem& problem, std::size_t statement) {
  const Statement& s = problem.statements.at(statement);
  std::set<DimId> dims;
  std::set<int> arrays;
  for (const Access& a : accesses_of(s)) {
    add_dims(a, dims);
    arrays.insert(a.array);
  }
  Problem part;
  part.name = problem.name;
  std::vector<int> dim_at(problem.dims.size()), array_at(problem.arrays.size());
  for (DimId d : dims) {
    dim_at[static_cast<std::size_t>(index(d))] = static_cast<int>(part.dims.size());
    part.dims.push_back(problem.dim(d));
  }
  for (int a : arrays) {
    array_at[static_cast<std::size_t>(a)] = static_cast<int>(part.arrays.size());
    part.arrays.push_back(problem.arrays[static_cast<std::size_t>(a)]);
  }
  const auto moved = [&](Access a) {
    a.array = array_at[static_cast<std::size_t>(a.array)];
    for (Affine& axis : a.axes) {
      for (Affine::Term& t : axis.terms) {
        t.dim = DimId{dim_at[static_cast<std::size_t>(index(t.dim))]};
      }
    }
    return a;
  };
  Statement only{moved(s.out), {}};
  for (const Access& a : s.in) only.in.push_back(moved(a));
  part.statements.push_back(std::move(only));
  return part;
}

std::vector<Access> accesses_of(const Statement& statement) {
  std::vector<Access> all{statement.out};
  all.insert(all.end(), statement.in.begin(), statement.in.end());
  return all;
}

std::vector<DimId> dims_of(const Access& access) {
  std::set<DimId> dims;
  add_dims(access, dims);
  return sorted(dims);
}

std::vector<DimId> dims_of(const Statement& statement) {
  std::set<DimId> dims;
  for (const Access& a : accesses_of(statement)) add_dims(a, dims);
  return sorted(dims);
}

std::vector<DimId> reductions_of(const Statement& statement) {
  const std::vector<DimId> kept = dims_of(statement.out);
  std::vector<DimId> reductions;
  for (DimId d : dims_of(statement)) {
    if (std::find(kept.begin(), kept.end(), d) == kept.end()) reductions.push_back(d);
  }
  return reductions;
}

std::vector<std::vector<std::size_t>> always_together(
    const std::vector<std::vector<Affine>>& accesses, const std::vector<DimId>& dims) {
  const auto is_one = [&](DimId d) { return std::find(dims.begin(), dims.end(), d) != dims.end(); };
  std::map<std::vector<bool>, std::size_t> group_of;  // by the accesses that have the dimension
  std::vector<std::vector<std::size_t>> groups;
  for (std::size_t d = 0; d < dims.size(); ++d) {
    std::vector<bool> has;
    bool alone = true;
    for (const std::vector<Affine>& access : accesses) {
      int indices = 0;
      for (const Affine& axis : access) {
        bool here = false, others = false;
        for (const Affine::Term& t : axis.terms) {
          here = here || t.dim == dims[d];
          others = others || (t.dim != dims[d] && is_one(t.dim));
        }
        if (!here) continue;
        ++indices;
        alone = alone && !others;
      }
      has.push_back(indices > 0);
      alone = alone && indices < 2;
    }
    std::size_t group = groups.size();
    if (alone) group = group_of.try_emplace(std::move(has), group).first->second;
    if (group == groups.size()) groups.emplace_back();
    groups[group].push_back(d);
  }
  return groups;
}

std::vector<std::vector<std::size_t>> always_together(const Statement& statement) {
  std::vector<std::vector<Affine>> accesses;
  for (const Access& a : accesses_of(statement)) accesses.push_back(a.axes);
  return always_together(accesses, dims_of(statement));
}

Values sizes_of(const Problem& problem) {
  Values values;
  for (const Problem::Dim& d : problem.dims) {
    if (d.extent) values[d.symbol] = *d.extent;
  }
  return values;
}

Expression runs_of(const Problem& problem, const Statement& statement) {
  Expression product = 1;
  for (DimId d : dims_of(statement)) product *= Expression::symbol(problem.dim(d).symbol);
  return product;
}

}  // namespace tcsim::bounds
