// What a path keeps in memory, as a table: a row for each tensor, then one for the buffer of each
// Move, sorted by tensor. What is known of arrays stands in tables with the same rows, ByArray.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A row of the table. Those of the tensors come first and have names.
enum class ArrayId : int { A, B, C };
constexpr int index(ArrayId a) { return static_cast<int>(a); }
constexpr ArrayId array_of(TensorId t) { return ArrayId{index(t)}; }

// Rows 0, 1, ..., count - 1.
struct ArrayIds {
  struct Iterator {
    int row;
    constexpr ArrayId operator*() const { return ArrayId{row}; }
    constexpr Iterator& operator++() { return ++row, *this; }
    bool operator==(const Iterator&) const = default;
  };
  int count;
  constexpr Iterator begin() const { return {0}; }
  constexpr Iterator end() const { return {count}; }
};

// An entry for each row of a table, without memory of its own; max_arrays at most.
template <class T>
class ByArray {
 public:
  ByArray() {}  // no rows; not defaulted, so that {} does not write entries that mean nothing
  explicit ByArray(int rows, const T& value = T{}) : rows_(rows) { fill(value); }
  ByArray(const ByArray& o) { *this = o; }
  ByArray& operator=(const ByArray& o) {
    // A number that the compiler knows makes this a few instructions.
    if (o.rows_ > few) {
      values_ = o.values_;
    } else {
      std::copy_n(o.values_.begin(), few, values_.begin());
    }
    rows_ = o.rows_;
    return *this;
  }

  T& operator[](ArrayId a) { return assert(has(a)), values_[static_cast<std::size_t>(index(a))]; }
  const T& operator[](ArrayId a) const {
    return assert(has(a)), values_[static_cast<std::size_t>(index(a))];
  }

  int size() const { return rows_; }
  ArrayIds ids() const { return {rows_}; }
  void fill(const T& value) { std::fill(begin(), end(), value); }
  void push_back(const T& value) {
    assert(rows_ < static_cast<int>(max_arrays));
    values_[static_cast<std::size_t>(rows_++)] = value;
  }
  auto begin() { return values_.begin(); }
  auto end() { return values_.begin() + rows_; }
  auto begin() const { return values_.begin(); }
  auto end() const { return values_.begin() + rows_; }

  bool operator==(const ByArray& o) const { return std::equal(begin(), end(), o.begin(), o.end()); }

 private:
  static_assert(std::is_trivially_copyable_v<T>);
  static constexpr int few = 6;
  bool has(ArrayId a) const { return index(a) >= 0 && index(a) < rows_; }

  std::array<T, max_arrays> values_;  // those from rows_ on mean nothing
  int rows_ = 0;
};

// What a row stands for: a tensor, or the buffer into which a Move copies it.
struct Array {
  TensorId tensor = TensorId::A;
  std::optional<Move::Kind> made_by = {};  // none: the tensor itself
  bool operator==(const Array&) const = default;
};
std::string to_text(const Array&);  // "A", "packed A", "loaded A", "stored C"

// The columns and rows of printed results, whether a schedule has such an array or not.
inline constexpr std::array printed_arrays{Array{TensorId::A}, Array{TensorId::B},
                                           Array{TensorId::C}, Array{TensorId::A, Move::Kind::pack},
                                           Array{TensorId::B, Move::Kind::pack}};

class Arrays {
 public:
  Arrays();  // A, B and C
  // Of a path that has passed check().
  explicit Arrays(std::span<const Step> steps);

  int size() const { return rows_.size(); }
  ArrayIds ids() const { return rows_.ids(); }
  const Array& operator[](ArrayId a) const { return rows_[a]; }
  TensorId tensor_of(ArrayId a) const { return rows_[a].tensor; }
  bool is_buffer(ArrayId a) const { return index(a) >= static_cast<int>(all_tensors.size()); }
  // The step that makes a buffer, and the buffer that a Move makes.
  int depth_of(ArrayId buffer) const { return depths_[buffer]; }
  ArrayId made_at(int depth) const;

  bool operator==(const Arrays&) const = default;

 private:
  ByArray<Array> rows_;
  ByArray<int> depths_;  // -1: a tensor
};

// The sum over the rows of `arrays` that are such an array: what is printed of `values`.
template <class T>
T sum_of(const Arrays& arrays, const ByArray<T>& values, const Array& array) {
  T sum{};
  for (ArrayId a : arrays.ids()) {
    if (arrays[a] == array) sum += values[a];
  }
  return sum;
}

// The least multiple of `to` (>= 1) that is not below n.
constexpr std::int64_t round_up(std::int64_t n, std::int64_t to) { return (n + to - 1) / to * to; }

}  // namespace tcsim
