// A contraction of two tensors, C[..] = sum A[..] * B[..]: the workload of tcsim. It is an
// immutable value: named dimensions with extents, three tensors that index them, an element type
// and a memory layout. Every dimension belongs to one class by the tensors that it indexes:
// m (A and C), n (B and C), k (A and B, summed), batch (all three). Traffic depends on tile sizes
// only through the products within a class (docs/design.md, "Dimension classes").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units/enum_array.hpp"
#include "core/units/quantity.hpp"

namespace tcsim {

enum class ElementType { f32, f64 };
constexpr Bytes size_of(ElementType t) { return Bytes(t == ElementType::f64 ? 8 : 4); }

// row_major: a tensor's last index has stride one; column_major: its first.
enum class Layout { row_major, column_major };

enum class TensorId : int { A, B, C };
constexpr int index(TensorId t) { return static_cast<int>(t); }
inline constexpr std::array all_tensors{TensorId::A, TensorId::B, TensorId::C};

// Which tensors a dimension indexes.
enum class DimClass : int { m, n, k, batch };
constexpr int index(DimClass c) { return static_cast<int>(c); }
inline constexpr std::array all_dim_classes{DimClass::m, DimClass::n, DimClass::k, DimClass::batch};

// Tables with an entry for each.
template <class T>
using ByTensor = EnumArray<TensorId, T, 3>;
template <class T>
using ByGroup = EnumArray<DimClass, T, 4>;

const char* to_text(ElementType);  // "f32", "f64"
const char* to_text(Layout);       // "row-major", "column-major"
const char* to_text(TensorId);     // "A", "B", "C"
const char* to_text(DimClass);     // "m", "n", "k", "batch"

struct Dimension {
  char name;            // a letter
  std::int64_t extent;  // >= 1
};

class Contraction {
 public:
  // `tensors` lists the dimensions of A, B and C in written order, by their index in `dims`.
  // Throws UsageError with `name` as its place if a dimension appears in fewer than two tensors
  // or twice in one, an extent is below 1, or a tensor has 2^62 bytes or more.
  Contraction(std::string name, std::vector<Dimension> dims,
              std::array<std::vector<DimId>, 3> tensors, Layout layout, ElementType type);

  // How the user named it: "tccg:8", "abcd-aebf-dfce", "aebf,dfce->abcd".
  const std::string& name() const { return name_; }
  // TCCG form, output first: "abcd-aebf-dfce". Enough, with the sizes, to say which it is.
  std::string label() const;
  // "a=72,b=72,..." in the order of the dimensions.
  std::string sizes() const;

  Layout layout() const { return layout_; }
  ElementType type() const { return type_; }

  int dim_count() const { return static_cast<int>(dims_.size()); }
  const Dimension& dim(DimId d) const { return dims_[static_cast<std::size_t>(index(d))]; }
  DimClass dim_class(DimId d) const { return classes_[static_cast<std::size_t>(index(d))]; }
  // Dimensions of a class, in the order in which they appear in C (for k: in A).
  std::vector<DimId> dims_of(DimClass c) const;

  const std::vector<DimId>& dims_of(TensorId t) const { return tensors_[t]; }
  // Distance between neighbours along d in t; 0 if d does not index t.
  Elements stride(TensorId t, DimId d) const {
    return strides_[t][static_cast<std::size_t>(index(d))];
  }
  // The dimensions of t from stride one outward.
  std::vector<DimId> memory_order(TensorId t) const;
  // The dimension along which neighbours lie side by side: the first of memory_order with an extent
  // above 1; none for a tensor of one element.
  std::optional<DimId> fastest(TensorId t) const;

  Elements size(TensorId t) const;    // product of its extents
  Elements extent(DimClass c) const;  // product of the extents of the class, 1 if it is empty
  double flops() const;               // 2 per multiply-add

 private:
  std::string name_;
  std::vector<Dimension> dims_;
  ByTensor<std::vector<DimId>> tensors_;
  Layout layout_;
  ElementType type_;
  std::vector<DimClass> classes_;
  ByTensor<std::vector<Elements>> strides_;
};

}  // namespace tcsim
