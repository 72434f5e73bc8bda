#include "core/bounds/nest.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"

namespace tcsim::bounds {

namespace {

int weight_of_output(Moves moves) { return moves == Moves::loads_and_stores ? 2 : 1; }

}  // namespace

StatementNest nest_of(const Problem& problem, std::size_t statement, Moves moves) {
  const Problem::Statement& s = problem.statements[statement];
  StatementNest result;
  result.dims = dims_of(s);
  std::vector<int> renumbered(problem.dims.size(), -1);
  for (std::size_t d = 0; d < result.dims.size(); ++d) {
    const Problem::Dim& dim = problem.dim(result.dims[d]);
    if (!dim.extent) {
      throw UsageError(problem.name, "the extent of " + dim.name + " is not known",
                       "say it, as in " + dim.name + "=64");
    }
    renumbered[place(result.dims[d])] = static_cast<int>(d);
    result.nest.extents.push_back(*dim.extent);
  }
  for (const Problem::Access& access : accesses_of(s)) {
    const Problem::Array& read = problem.arrays[static_cast<std::size_t>(access.array)];
    const bool is_output = result.nest.arrays.empty();
    Nest::Array array{read.name, access.axes, is_output ? weight_of_output(moves) : 1,
                      is_output && read.starts_at_zero};
    for (Affine& axis : array.axes) {
      for (Affine::Term& term : axis.terms) term.dim = DimId{renumbered[place(term.dim)]};
    }
    result.nest.arrays.push_back(std::move(array));
  }
  return result;
}

Nest nest_of(const Contraction& contraction, Moves moves) {
  Nest nest;
  for (int d = 0; d < contraction.dim_count(); ++d) {
    nest.extents.push_back(contraction.dim(DimId{d}).extent);
  }
  for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
    const IndexedTensor& tensor = contraction.tensor(t);
    nest.arrays.push_back(
        {tensor.name, tensor.axes, t == TensorId::C ? weight_of_output(moves) : 1, false});
  }
  return nest;
}

FusedNest fused(const Nest& nest) {
  std::vector<std::vector<Affine>> accesses;
  for (const Nest::Array& array : nest.arrays) accesses.push_back(array.axes);
  std::vector<DimId> dims;
  for (std::size_t d = 0; d < nest.extents.size(); ++d) {
    if (nest.extents[d] > 1) dims.push_back(DimId{static_cast<int>(d)});
  }
  FusedNest result;
  std::vector<int> to(nest.extents.size(), -1);  // dimension of the result
  for (const std::vector<std::size_t>& group : always_together(accesses, dims)) {
    std::int64_t product = 1;
    result.dims.emplace_back();
    for (std::size_t d : group) {
      const std::int64_t extent = nest.extents[place(dims[d])];
      product = product > most_extent / extent ? most_extent : product * extent;
      to[place(dims[d])] = static_cast<int>(result.dims.size()) - 1;
      result.dims.back().push_back(dims[d]);
    }
    result.nest.extents.push_back(product);
  }
  for (const Nest::Array& array : nest.arrays) {
    Nest::Array next{array.name, {}, array.weight, array.starts_at_zero};
    std::vector<bool> has(result.dims.size());
    for (const Affine& axis : array.axes) {
      Affine kept;
      for (const Affine::Term& term : axis.terms) {
        const int target = to[place(term.dim)];
        if (target >= 0) kept.terms.push_back({DimId{target}, term.coefficient});
      }
      // An axis of one dimension has each element once whatever its coefficient, but where the
      // dimension is in another axis too.
      if (kept.terms.empty()) continue;
      const auto target = static_cast<std::size_t>(index(kept.terms.front().dim));
      const bool fusible = result.dims[target].size() > 1;
      if (fusible && has[target]) continue;
      if (fusible) kept.terms.front().coefficient = 1;
      if (fusible) has[target] = true;
      next.axes.push_back(kept);
    }
    result.nest.arrays.push_back(std::move(next));
  }
  return result;
}

double iterations(const Nest& nest) {
  double all = 1;
  for (std::int64_t extent : nest.extents) all *= static_cast<double>(extent);
  return all;
}

}  // namespace tcsim::bounds
