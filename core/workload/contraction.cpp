#include "core/workload/contraction.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"

namespace tcsim {

const char* to_text(ElementType t) { return t == ElementType::f64 ? "f64" : "f32"; }
const char* to_text(Layout l) { return l == Layout::row_major ? "row-major" : "column-major"; }
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

}  // namespace

Contraction::Contraction(std::string name, std::vector<Dimension> dims,
                         std::array<std::vector<DimId>, 3> tensors, Layout layout, ElementType type)
    : name_(std::move(name)),
      dims_(std::move(dims)),
      tensors_{std::move(tensors)},
      layout_(layout),
      type_(type) {
  for (const Dimension& d : dims_) {
    if (d.extent < 1) {
      throw UsageError(name_, fmt::format("size of index '{}' is {}", d.name, d.extent),
                       "give a size of at least 1");
    }
  }
  for (int i = 0; i < dim_count(); ++i) {
    ByTensor<bool> in{};
    for (TensorId t : all_tensors) {
      const auto n = std::count(tensors_[t].begin(), tensors_[t].end(), DimId{i});
      if (n > 1) {
        throw UsageError(
            name_, fmt::format("index '{}' is repeated in {}", dim(DimId{i}).name, to_text(t)),
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
  const std::int64_t max_elements = (max_bytes - 1) / size_of(type_).value();
  for (TensorId t : all_tensors) {
    std::vector<Elements> strides(dims_.size());
    std::int64_t size = 1;
    for (DimId d : memory_order(t)) {
      strides[static_cast<std::size_t>(index(d))] = Elements(size);
      if (size > max_elements / dim(d).extent) {
        throw UsageError(name_, fmt::format("tensor {} has 2^62 bytes or more", to_text(t)),
                         "use smaller sizes");
      }
      size *= dim(d).extent;
    }
    strides_[t] = std::move(strides);
  }
}

std::string Contraction::label() const {
  std::string s;
  for (TensorId t : {TensorId::C, TensorId::A, TensorId::B}) {
    if (t != TensorId::C) s += '-';
    for (DimId d : dims_of(t)) s += dim(d).name;
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

std::vector<DimId> Contraction::memory_order(TensorId t) const {
  std::vector<DimId> order = tensors_[t];
  if (layout_ == Layout::row_major) std::reverse(order.begin(), order.end());
  return order;
}

std::optional<DimId> Contraction::fastest(TensorId t) const {
  for (DimId d : memory_order(t)) {
    if (dim(d).extent > 1) return d;
  }
  return {};
}

Elements Contraction::size(TensorId t) const {
  std::int64_t n = 1;
  for (DimId d : dims_of(t)) n *= dim(d).extent;
  return Elements(n);
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
