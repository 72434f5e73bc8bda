#include "core/workload/contraction_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

[[noreturn]] void refuse(const Program& program, const std::string& what) {
  throw UnsupportedError(program.name(), what + " not done yet",
                         "one statement that multiplies two tensors is");
}

void check_indices(const Program& program, const Program::Access& access) {
  const Program::Tensor& t = program.tensor(access.tensor);
  for (const Affine& affine : access.axes) {
    if (affine.terms.size() > 2) {
      refuse(program, fmt::format("tensor {} is indexed by {}: sums of three dimensions are",
                                  t.name, to_text(program, affine)));
    }
    for (const Affine::Term& term : affine.terms) {
      const auto has_it = [&](const Affine& other) {
        return &other != &affine &&
               std::ranges::any_of(other.terms, [&](const auto& o) { return o.dim == term.dim; });
      };
      if (std::ranges::any_of(access.axes, has_it)) {
        refuse(program, fmt::format("tensor {} is indexed by {} twice: diagonals are", t.name,
                                    program.dim(term.dim).name));
      }
    }
  }
}

// How the statement indexes a tensor, its dimensions by their numbers in the contraction.
IndexedTensor tensor_of(const Program& program, const Program::Access& access,
                        const std::vector<DimId>& renumbered) {
  const Program::Tensor& t = program.tensor(access.tensor);
  IndexedTensor tensor{t.name, {}, t.extents, t.order};
  for (const Affine& affine : access.axes) {
    Affine& axis = tensor.axes.emplace_back(affine);
    for (Affine::Term& term : axis.terms) {
      term.dim = renumbered[static_cast<std::size_t>(index(term.dim))];
    }
  }
  return tensor;
}

void check_statement(const Program& program) {
  if (program.statements().size() > 1) {
    refuse(program, fmt::format("it has {} statements: chains are", program.statements().size()));
  }
  const Program::Statement& s = program.statements().front();
  if (s.in.size() < 2) {
    refuse(program, fmt::format("{} alone is summed: statements of one input are",
                                to_text(program, s.in.front())));
  }
  if (s.in[0].tensor == s.in[1].tensor) {
    refuse(program, fmt::format("tensor {} is multiplied with itself: that is",
                                program.tensor(s.in[0].tensor).name));
  }
  for (const Program::Tensor& t : program.tensors()) {
    const Program::Tensor& first = program.tensors().front();
    if (t.type == first.type) continue;
    refuse(program, fmt::format("tensor {} is {} and {} {}: two types are", first.name,
                                to_text(first.type), t.name, to_text(t.type)));
  }
}

// A, B and C, as TensorId says.
std::array<const Program::Access*, 3> accesses_of(const Program& program) {
  const Program::Statement& s = program.statements().front();
  return {s.in.data(), s.in.data() + 1, &s.out};
}

void check_dims(const Program& program) {
  const auto accesses = accesses_of(program);
  const Program::Access& out = *accesses.back();
  for (std::size_t axis = 0; axis < out.axes.size(); ++axis) {
    const Program::Tensor& t = program.tensor(out.tensor);
    const Program::Dim& dim = program.dim(out.axes[axis].terms.front().dim);
    if (t.extents[axis] == dim.extent) continue;
    refuse(program,
           fmt::format("tensor {} has {} places along {}, which has {}: outputs of which a "
                       "part is written are",
                       t.name, t.extents[axis], dim.name, dim.extent));
  }
  for (TensorId t : {TensorId::A, TensorId::B}) {
    const Program::Access& access = *accesses[static_cast<std::size_t>(index(t))];
    if (!access.axes.empty()) continue;
    refuse(program, fmt::format("tensor {} has no axis: scalars as inputs are",
                                program.tensor(access.tensor).name));
  }
  for (int i = 0; i < std::ssize(program.dims()); ++i) {
    const std::string& name = program.dim(DimId{i}).name;
    const auto in = std::ranges::count_if(accesses, [&](const Program::Access* access) {
      return std::ranges::any_of(access->axes, [&](const Affine& axis) {
        return std::ranges::any_of(axis.terms, [&](const auto& t) { return t.dim == DimId{i}; });
      });
    });
    if (in < 2) {
      refuse(program, fmt::format("dimension {} is in one tensor only: such dimensions are", name));
    }
    if (name.size() > 1) {
      refuse(program,
             fmt::format("dimension {} has a name of several letters: such names are", name));
    }
  }
}

}  // namespace

Contraction contraction_of(const Program& program) {
  check_statement(program);
  const auto accesses = accesses_of(program);
  for (const Program::Access* access : accesses) check_indices(program, *access);
  check_dims(program);
  std::vector<int> order(program.dims().size());  // of the dimensions, by name
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return program.dim(DimId{a}).name < program.dim(DimId{b}).name; });
  std::vector<Dimension> dims;
  std::vector<DimId> renumbered(order.size());
  for (int d : order) {
    renumbered[static_cast<std::size_t>(d)] = DimId{static_cast<int>(dims.size())};
    dims.push_back({program.dim(DimId{d}).name[0], program.dim(DimId{d}).extent});
  }
  std::array<IndexedTensor, 3> tensors;
  for (std::size_t t = 0; t < 3; ++t) tensors[t] = tensor_of(program, *accesses[t], renumbered);
  return Contraction(program.name(), std::move(dims), std::move(tensors),
                     program.tensors().front().type);
}

Program program_of(const Contraction& contraction) {
  Program::Parts parts;
  parts.name = contraction.name();
  for (int i = 0; i < contraction.dim_count(); ++i) {
    const Dimension& d = contraction.dim(DimId{i});
    parts.dims.push_back({std::string(1, d.name), d.extent});
  }
  std::vector<Program::Access> accesses;
  for (TensorId id : all_tensors) {
    const IndexedTensor& t = contraction.tensor(id);
    parts.tensors.push_back({t.name, t.extents, t.order, contraction.type(),
                             id == TensorId::C ? Program::Role::output : Program::Role::input});
    accesses.push_back({TensorIndex{index(id)}, t.axes});
    for (Affine& axis : accesses.back().axes) {  // a program has terms in the order of dimensions
      std::ranges::sort(axis.terms, {}, [](const Affine::Term& term) { return index(term.dim); });
    }
  }
  parts.statements.push_back({std::move(accesses[2]), {accesses[0], accesses[1]}});
  return Program(std::move(parts));
}

}  // namespace tcsim
