// A contraction of two tensors, C[..] = sum A[..] * B[..]: the workload of tcsim. It is an
// immutable value: named dimensions with extents, three tensors that they index, an element type
// and memory orders. Every dimension belongs to one class by the tensors that it indexes: m (A and
// C), n (B and C), k (A and B, summed), batch (all three).
//
// A convolution is one too: an axis of its image is indexed by a sum, such as 2*y + r. Each
// dimension still adds its own stride to an address, so classes, groups, packs and kernels are the
// same. What differs is how many elements a tile has: tiles of y and r overlap.
// (docs/design.md, "Dimension classes"; docs/convolutions.md, "Overlapping tiles").
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/units/enum_array.hpp"
#include "core/units/quantity.hpp"
#include "core/workload/affine.hpp"

namespace tcsim {

enum class ElementType { f32, f64 };
constexpr Bytes size_of(ElementType t) { return Bytes(t == ElementType::f64 ? 8 : 4); }

// row_major: a tensor's last axis has stride one; column_major: its first; mixed: tensors differ,
// or one has another order.
enum class Layout { row_major, column_major, mixed };

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
const char* to_text(Layout);       // "row-major", "column-major", "mixed"
const char* to_text(TensorId);     // "A", "B", "C"
const char* to_text(DimClass);     // "m", "n", "k", "batch"

struct Dimension {
  char name;            // a letter
  std::int64_t extent;  // >= 1
};

// How a tensor is indexed and where its elements lie.
struct IndexedTensor {
  std::string name;
  std::vector<Affine> axes;           // in written order; of one or two terms
  std::vector<std::int64_t> extents;  // of the axes: places, at least as many as the index reaches
  std::vector<int> order;             // the axes from stride one outward
};

class Contraction {
 public:
  // `tensors` are A, B and C. Throws UsageError with `name` as its place if a dimension appears in
  // fewer than two tensors or twice in one, an extent is below 1, an index reaches beyond its axis,
  // an axis of C is no dimension alone, a sum has more than two terms, or a tensor has 2^62 bytes
  // or more. Of an axis of C that is longer than its dimension, what lies behind is not written.
  Contraction(std::string name, std::vector<Dimension> dims, std::array<IndexedTensor, 3> tensors,
              ElementType type);
  // Every axis is a dimension; `tensors` lists those of A, B and C in written order, by their index
  // in `dims`.
  Contraction(std::string name, std::vector<Dimension> dims,
              std::array<std::vector<DimId>, 3> tensors, Layout layout, ElementType type);
  // The same by another name.
  Contraction renamed(std::string name) const;

  // How the user named it: "tccg:8", "abcd-aebf-dfce", "aebf,dfce->abcd".
  const std::string& name() const { return name_; }
  // TCCG form, output first: "abcd-aebf-dfce". Where that does not do, the statement with the axes
  // from the outermost to stride one: "O[n,k,y,x] += I[n,c,y+r,x+s] * W[k,c,r,s]", and "x+s of 60"
  // where an axis has more places than its index reaches. Enough, with the sizes, to say which it
  // is.
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

  const IndexedTensor& tensor(TensorId t) const { return tensors_[t]; }
  // Whether each axis of t is a dimension alone, dimensions of extent 1 left aside. Then tiles of t
  // are boxes whose elements are counted by products, also where t is a part of a larger tensor.
  bool is_plain(TensorId t) const { return plain_[t]; }
  bool is_plain() const {
    return plain_[TensorId::A] && plain_[TensorId::B] && plain_[TensorId::C];
  }

  // Those that index t, in written order.
  const std::vector<DimId>& dims_of(TensorId t) const { return dims_of_[t]; }
  // Distance between neighbours along d in t; 0 if d does not index t.
  Elements stride(TensorId t, DimId d) const {
    return strides_[t][static_cast<std::size_t>(index(d))];
  }
  // The dimensions of t from stride one outward; of one axis, the one with the smaller coefficient
  // first, then the larger one.
  const std::vector<DimId>& memory_order(TensorId t) const { return memory_order_[t]; }
  // The first of memory_order with an extent above 1, along which neighbours lie side by side if
  // any do; none for a tensor of one element.
  std::optional<DimId> fastest(TensorId t) const { return fastest_[t]; }

  Elements size(TensorId t) const { return sizes_[t]; }  // product of its axes' extents
  // How many elements of t are used: fewer where strides leave some out, or an axis is longer.
  double used(TensorId t) const;
  Elements extent(DimClass c) const;  // product of the extents of the class, 1 if it is empty
  double flops() const;               // 2 per multiply-add

 private:
  std::string name_;
  std::vector<Dimension> dims_;
  ByTensor<IndexedTensor> tensors_;
  Layout layout_;
  ElementType type_;
  std::vector<DimClass> classes_;
  ByTensor<std::vector<DimId>> dims_of_;
  ByTensor<std::vector<Elements>> strides_;
  ByTensor<std::vector<DimId>> memory_order_;
  ByTensor<std::optional<DimId>> fastest_{};
  ByTensor<Elements> sizes_{};
  ByTensor<bool> plain_{};
  bool dense_ = true;  // no axis has more places than its index reaches
};

}  // namespace tcsim
