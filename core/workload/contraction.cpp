#include "core/workload/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

const char* to_text(ElementType t) { return t == ElementType::f64 ? "f64" : "f32"; }
const char* to_text(Layout l) {
  return std::array{"row-major", "column-major", "mixed"}[static_cast<std::size_t>(l)];
}
const char* to_text(TensorId t) { return std::array{"A", "B", "C"}[static_cast<std::size_t>(t)]; }
const char* to_text(DimClass c) {
  return std::array{"m", "n", "k", "batch"}[static_cast<std::size_t>(c)];
}

namespace {

constexpr std::int64_t max_bytes = std::int64_t{1} << 62;

DimClass class_of(bool in_a, bool in_b, bool in_c) {
  if (in_a && in_b && in_c) return DimClass::batch;
  if (in_a && in_c) return DimClass::m;
  if (in_b && in_c) return DimClass::n;
  return DimClass::k;
}

// Every axis a dimension.
std::array<IndexedTensor, 3> plain_tensors(const std::vector<Dimension>& dims,
                                           const std::array<std::vector<DimId>, 3>& tensors,
                                           Layout layout) {
  std::array<IndexedTensor, 3> all;
  for (TensorId t : all_tensors) {
    const auto i = static_cast<std::size_t>(index(t));
    all[i].name = to_text(t);
    for (DimId d : tensors[i]) {
      all[i].axes.push_back({{{d, 1}}});
      all[i].extents.push_back(dims[static_cast<std::size_t>(index(d))].extent);
    }
    all[i].order.resize(tensors[i].size());
    std::iota(all[i].order.begin(), all[i].order.end(), 0);
    if (layout == Layout::row_major) std::reverse(all[i].order.begin(), all[i].order.end());
  }
  return all;
}

std::optional<std::int64_t> places(const std::vector<Dimension>& dims, const Affine& affine) {
  return places_of(affine,
                   [&](DimId d) { return dims[static_cast<std::size_t>(index(d))].extent; });
}

// In written order.
std::vector<DimId> dims_in(const IndexedTensor& tensor) {
  std::vector<DimId> dims;
  for (const Affine& axis : tensor.axes) {
    for (const Affine::Term& term : axis.terms) dims.push_back(term.dim);
  }
  return dims;
}

// What all tensors have.
Layout layout_of(const std::array<IndexedTensor, 3>& tensors) {
  bool row_major = true, column_major = true;
  for (const IndexedTensor& t : tensors) {
    column_major &= std::is_sorted(t.order.begin(), t.order.end());
    row_major &= std::is_sorted(t.order.rbegin(), t.order.rend());
  }
  return row_major ? Layout::row_major : column_major ? Layout::column_major : Layout::mixed;
}

std::string to_text(const std::vector<Dimension>& dims, const Affine& affine) {
  std::string text;
  for (const Affine::Term& term : affine.terms) {
    if (!text.empty()) text += '+';
    if (term.coefficient != 1) text += fmt::format("{}*", term.coefficient);
    text += dims[static_cast<std::size_t>(index(term.dim))].name;
  }
  return text;
}

}  // namespace

Contraction::Contraction(std::string name, std::vector<Dimension> dims,
                         std::array<std::vector<DimId>, 3> tensors, Layout layout, ElementType type)
    : Contraction(std::move(name), dims, plain_tensors(dims, tensors, layout), type) {
  layout_ = layout;  // which tensors of one axis do not tell
}

Contraction::Contraction(std::string name, std::vector<Dimension> dims,
                         std::array<IndexedTensor, 3> tensors, ElementType type)
    : name_(std::move(name)),
      dims_(std::move(dims)),
      tensors_{std::move(tensors)},
      layout_(layout_of({tensors_[TensorId::A], tensors_[TensorId::B], tensors_[TensorId::C]})),
      type_(type) {
  for (const Dimension& d : dims_) {
    if (d.extent < 1) {
      throw UsageError(name_, fmt::format("size of index '{}' is {}", d.name, d.extent),
                       "give a size of at least 1");
    }
  }
  for (TensorId t : all_tensors) dims_of_[t] = dims_in(tensors_[t]);
  for (int i = 0; i < dim_count(); ++i) {
    ByTensor<bool> in{};
    for (TensorId t : all_tensors) {
      const auto n = std::count(dims_of_[t].begin(), dims_of_[t].end(), DimId{i});
      if (n > 1) {
        throw UsageError(
            name_,
            fmt::format("index '{}' is repeated in {}", dim(DimId{i}).name, tensors_[t].name),
            "a diagonal is not a contraction; give the second one a name of its own");
      }
      in[t] = n == 1;
    }
    if (in[TensorId::A] + in[TensorId::B] + in[TensorId::C] < 2) {
      throw UsageError(name_, fmt::format("index '{}' is in one tensor only", dim(DimId{i}).name),
                       "add it to another tensor or take it out");
    }
    classes_.push_back(class_of(in[TensorId::A], in[TensorId::B], in[TensorId::C]));
  }
  // "y+r", not "r+y": dimensions of the output first.
  for (TensorId t : all_tensors) {
    for (Affine& axis : tensors_[t].axes) {
      std::stable_partition(axis.terms.begin(), axis.terms.end(), [&](const Affine::Term& term) {
        return dim_class(term.dim) != DimClass::k;
      });
    }
    dims_of_[t] = dims_in(tensors_[t]);
  }
  const std::int64_t max_elements = (max_bytes - 1) / size_of(type_).value();
  for (TensorId t : all_tensors) {
    const IndexedTensor& tensor = tensors_[t];
    strides_[t].resize(dims_.size());
    plain_[t] = true;
    std::int64_t size = 1;
    for (int i : tensor.order) {
      const Affine& axis = tensor.axes[static_cast<std::size_t>(i)];
      const std::int64_t extent = tensor.extents[static_cast<std::size_t>(i)];
      const auto needed = places(dims_, axis);
      const bool alone = axis.terms.size() == 1 && axis.terms.front().coefficient == 1;
      if (axis.terms.empty() || axis.terms.size() > 2 || (t == TensorId::C && !alone)) {
        throw UsageError(
            name_, fmt::format("tensor {} is indexed by '{}'", tensor.name, to_text(dims_, axis)),
            t == TensorId::C ? "index what is written by dimensions alone"
                             : "give a dimension, or a sum of two");
      }
      if (!needed || *needed > extent) {
        throw UsageError(name_,
                         fmt::format("tensor {} has {} places along '{}'", tensor.name, extent,
                                     to_text(dims_, axis)),
                         needed ? fmt::format("it needs {}", *needed) : "use smaller sizes");
      }
      if (size > max_elements / extent) {
        throw UsageError(name_, fmt::format("tensor {} has 2^62 bytes or more", tensor.name),
                         "use smaller sizes");
      }
      std::vector<Affine::Term> terms = axis.terms;
      std::ranges::stable_sort(terms, [&](const Affine::Term& a, const Affine::Term& b) {
        if (a.coefficient != b.coefficient) return a.coefficient < b.coefficient;
        return dim(a.dim).extent > dim(b.dim).extent;
      });
      for (const Affine::Term& term : terms) {
        memory_order_[t].push_back(term.dim);
        if (!fastest_[t] && dim(term.dim).extent > 1) fastest_[t] = term.dim;
      }
      // An address within the tensor is below its size, and so is the stride of a dimension that
      // moves. One of extent 1 does not.
      for (const Affine::Term& term : axis.terms) {
        const std::int64_t coefficient = dim(term.dim).extent == 1 ? 1 : term.coefficient;
        strides_[t][static_cast<std::size_t>(index(term.dim))] = Elements(size * coefficient);
      }
      const auto moves = [&](const Affine::Term& term) { return dim(term.dim).extent > 1; };
      const auto moving = std::ranges::find_if(axis.terms, moves);
      const bool one = std::ranges::count_if(axis.terms, moves) <= 1 &&
                       (moving == axis.terms.end() || moving->coefficient == 1);
      plain_[t] &= one;
      dense_ &= extent == *needed;
      size *= extent;
    }
    sizes_[t] = Elements(size);
  }
}

Contraction Contraction::renamed(std::string name) const {
  Contraction c = *this;
  c.name_ = std::move(name);
  return c;
}

std::string Contraction::label() const {
  std::string s;
  if (is_plain() && dense_ && layout() != Layout::mixed) {
    for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
      if (t != TensorId::C) s += '-';
      for (DimId d : dims_of(t)) s += dim(d).name;
    }
    return s;
  }
  for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
    const IndexedTensor& tensor = tensors_[t];
    s += (t == TensorId::C ? "" : t == TensorId::A ? " += " : " * ") + tensor.name + '[';
    for (auto i = tensor.order.rbegin(); i != tensor.order.rend(); ++i) {
      const auto axis = static_cast<std::size_t>(*i);
      if (i != tensor.order.rbegin()) s += ',';
      s += to_text(dims_, tensor.axes[axis]);
      if (places(dims_, tensor.axes[axis]) != tensor.extents[axis]) {
        s += fmt::format(" of {}", tensor.extents[axis]);
      }
    }
    s += ']';
  }
  return s;
}

std::string Contraction::sizes() const {
  std::string s;
  for (const Dimension& d : dims_)
    s += fmt::format("{}{}={}", s.empty() ? "" : ",", d.name, d.extent);
  return s;
}

std::vector<DimId> Contraction::dims_of(DimClass c) const {
  std::vector<DimId> found;
  for (DimId d : dims_of(c == DimClass::k ? TensorId::A : TensorId::C)) {
    if (dim_class(d) == c) found.push_back(d);
  }
  return found;
}

double Contraction::used(TensorId t) const {
  double elements = 1;
  for (const Affine& axis : tensors_[t].axes) {
    const Affine::Term& a = axis.terms.front();
    const Affine::Term& b = axis.terms.back();
    const auto extent = [&](const Affine::Term& term) {
      return static_cast<double>(dim(term.dim).extent);
    };
    elements *= axis.terms.size() == 1
                    ? extent(a)
                    : different_values(a.coefficient, extent(a), b.coefficient, extent(b));
  }
  return elements;
}

Elements Contraction::extent(DimClass c) const {
  std::int64_t n = 1;
  for (DimId d : dims_of(c)) n *= dim(d).extent;
  return Elements(n);
}

double Contraction::flops() const {
  double f = 2;
  for (const Dimension& d : dims_) f *= static_cast<double>(d.extent);
  return f;
}

}  // namespace tcsim
