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
                         "only contractions, whose axes are single dimensions, are");
}

// The layout that all tensors have; none of two axes or more leaves it open.
Layout layout_of(const Program& program) {
  const Program::Tensor* row_major = nullptr;
  const Program::Tensor* column_major = nullptr;
  for (const Program::Tensor& t : program.tensors()) {
    if (t.extents.size() < 2) continue;
    if (t.order == row_major_order(t.extents.size())) {
      if (row_major == nullptr) row_major = &t;
    } else if (t.order == column_major_order(t.extents.size())) {
      if (column_major == nullptr) column_major = &t;
    } else {
      refuse(program,
             fmt::format("tensor {} is neither row- nor column-major: other orders are", t.name));
    }
  }
  if (row_major != nullptr && column_major != nullptr) {
    refuse(program, fmt::format("tensor {} is row-major and {} column-major: two layouts are",
                                row_major->name, column_major->name));
  }
  return column_major != nullptr ? Layout::column_major : Layout::row_major;
}

// The dimensions that index a tensor, each one once and as long as its axis.
std::vector<DimId> dims_of(const Program& program, const Program::Access& access) {
  const Program::Tensor& t = program.tensor(access.tensor);
  std::vector<DimId> dims;
  for (const Affine& affine : access.axes) {
    const auto& [d, coefficient] = affine.terms.front();
    const std::string index = to_text(program, affine);
    if (affine.terms.size() > 1) {
      refuse(program, fmt::format("tensor {} is indexed by {}: convolutions are", t.name, index));
    }
    if (coefficient != 1) {
      refuse(program, fmt::format("tensor {} is indexed by {}: strides are", t.name, index));
    }
    if (std::find(dims.begin(), dims.end(), d) != dims.end()) {
      refuse(program,
             fmt::format("tensor {} is indexed by {} twice: diagonals are", t.name, index));
    }
    const std::int64_t places = t.extents[dims.size()];
    if (places != program.dim(d).extent) {
      refuse(program,
             fmt::format("tensor {} has {} places along {}, which has {}: parts of tensors are",
                         t.name, places, index, program.dim(d).extent));
    }
    dims.push_back(d);
  }
  return dims;
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

void check_dims(const Program& program, const std::array<std::vector<DimId>, 3>& tensors) {
  for (TensorId t : {TensorId::A, TensorId::B}) {
    const auto i = static_cast<std::size_t>(index(t));
    if (!tensors[i].empty()) continue;
    refuse(program, fmt::format("tensor {} has no axis: scalars as inputs are",
                                program.tensor(accesses_of(program)[i]->tensor).name));
  }
  for (int i = 0; i < std::ssize(program.dims()); ++i) {
    const std::string& name = program.dim(DimId{i}).name;
    const auto in = std::count_if(tensors.begin(), tensors.end(), [&](const auto& dims) {
      return std::find(dims.begin(), dims.end(), DimId{i}) != dims.end();
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
  std::array<std::vector<DimId>, 3> tensors;
  const auto accesses = accesses_of(program);
  for (std::size_t t = 0; t < 3; ++t) tensors[t] = dims_of(program, *accesses[t]);
  check_dims(program, tensors);
  const Layout layout = layout_of(program);

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
  for (std::vector<DimId>& t : tensors) {
    for (DimId& d : t) d = renumbered[static_cast<std::size_t>(index(d))];
  }
  return Contraction(program.name(), std::move(dims), std::move(tensors), layout,
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
    Program::Tensor tensor;
    Program::Access access;
    tensor.name = to_text(id);
    tensor.type = contraction.type();
    tensor.role = id == TensorId::C ? Program::Role::output : Program::Role::input;
    for (DimId d : contraction.dims_of(id)) {
      tensor.extents.push_back(contraction.dim(d).extent);
      access.axes.push_back({{{d, 1}}});
    }
    const std::size_t axes = tensor.extents.size();
    tensor.order = contraction.layout() == Layout::row_major ? row_major_order(axes)
                                                             : column_major_order(axes);
    access.tensor = TensorIndex{index(id)};
    parts.tensors.push_back(std::move(tensor));
    accesses.push_back(std::move(access));
  }
  parts.statements.push_back({std::move(accesses[2]), {accesses[0], accesses[1]}});
  return Program(std::move(parts));
}

}  // namespace tcsim
