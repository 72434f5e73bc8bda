#include "core/bounds/nest.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace tcsim::bounds {

namespace {

int weight_of_output(Moves moves) { return moves == Moves::loads_and_stores ? 2 : 1; }

// For each array the axis that the dimension has to itself, -1 where it is not in the array;
// nothing where it shares one or is in several.
std::optional<std::vector<int>> own_axes(const Nest& nest, DimId d) {
  std::vector<int> own;
  for (const Nest::Array& array : nest.arrays) {
    int axis = -1;
    for (std::size_t i = 0; i < array.axes.size(); ++i) {
      const std::vector<Affine::Term>& terms = array.axes[i].terms;
      if (std::none_of(terms.begin(), terms.end(), [&](const auto& t) { return t.dim == d; })) {
        continue;
      }
      const bool alone = std::all_of(terms.begin(), terms.end(), [&](const auto& t) {
        return t.dim == d || nest.extents[place(t.dim)] == 1;
      });
      if (axis >= 0 || !alone) return {};
      axis = static_cast<int>(i);
    }
    own.push_back(axis < 0 ? -1 : 0);
  }
  return own;
}

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
  FusedNest result;
  std::vector<int> to(nest.extents.size(), -1);  // dimension of the result
  std::map<std::vector<int>, int> found;         // by the arrays that have it as an axis
  for (std::size_t d = 0; d < nest.extents.size(); ++d) {
    if (nest.extents[d] == 1) continue;
    const DimId dim{static_cast<int>(d)};
    const auto own = own_axes(nest, dim);
    int target = static_cast<int>(result.dims.size());
    if (own) target = found.try_emplace(*own, target).first->second;
    if (target == static_cast<int>(result.dims.size())) {
      result.dims.emplace_back();
      result.nest.extents.push_back(1);
    }
    to[d] = target;
    result.dims[static_cast<std::size_t>(target)].push_back(dim);
    std::int64_t& product = result.nest.extents[static_cast<std::size_t>(target)];
    if (product > most_extent / nest.extents[d]) {
      product = most_extent;
    } else {
      product *= nest.extents[d];
    }
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
