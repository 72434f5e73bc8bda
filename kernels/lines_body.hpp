// The one body of all products without sums, as microkernel_body.hpp is of the microkernels;
// include it only where that one may be.
#pragma once

#include <cstdint>

#include "kernels/lines.hpp"
#include "kernels/some_lanes.hpp"

namespace tcsim {
namespace {

// So many neighbours, and fewer at the end of a line: together, or one by one.
template <class T, int bytes>
struct LineVector {
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  using Some = SomeLanes<T, bytes>;
  static constexpr std::int64_t lanes = bytes / static_cast<std::int64_t>(sizeof(T));
  static Vector load(const T* from) { return *reinterpret_cast<const Stored*>(from); }
  static void store(T* to, Vector v) { *reinterpret_cast<Stored*>(to) = v; }
  static Vector load(const T* from, std::int64_t count) {
    if constexpr (Some::exist) {
      return Some(lanes - count).load(from);
    } else {
      Vector v{};
      for (std::int64_t i = 0; i < count; ++i) v[i] = from[i];
      return v;
    }
  }
  static void store(T* to, Vector v, std::int64_t count) {
    if constexpr (Some::exist) {
      Some(lanes - count).store(to, v);
    } else {
      for (std::int64_t i = 0; i < count; ++i) to[i] = v[i];
    }
  }
};

// A line in vectors. What is left of the last one goes through the same operations, so that no bit
// of a result depends on where its line begins. `count...`: of that one.
template <class T, int bytes, bool each, bool adds>
struct LineProduct {
  using V = LineVector<T, bytes>;
  using Vector = typename V::Vector;

  template <class... Count>
  [[gnu::always_inline]] void at(const T* left, const T* right, T* to, Count... count) const {
    Vector product = V::load(left, count...);
    if constexpr (each) {
      product *= V::load(right, count...);
    } else {
      product *= factor;
    }
    product *= alpha;
    asm("" : "+x"(product));  // it is rounded before C is added, wherever a line begins
    if constexpr (adds) product += beta * V::load(to, count...);
    V::store(to, product, count...);
  }

  Vector factor, alpha, beta;
};

template <class T, int bytes, bool each, bool adds>
[[gnu::always_inline]] inline void lines_of(const LineTask<T>& task) {
  using Product = LineProduct<T, bytes, each, adds>;
  constexpr std::int64_t lanes = Product::V::lanes;
  const typename Product::Vector none{};
  Product product{none, none + task.update.alpha, none + task.update.beta};
  // Copies of what stores to C might change, as far as the compiler knows.
  const std::int64_t columns = task.columns, pieces = task.pieces;
  const LineColumn<T>* const first_column = task.column;
  const LinePiece* const first_piece = task.piece;
  const T* const all_left = task.left;
  for (std::int64_t j = 0; j < columns; ++j) {
    const LineColumn<T> column = first_column[j];
    product.factor = none + *column.right;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const LinePiece piece = first_piece[p];
      const T* const left = all_left + piece.left;
      const T* const right = column.right + piece.right;
      T* const to = column.to + piece.to;
      std::int64_t i = 0;
      for (; i + lanes <= piece.count; i += lanes) {
        __builtin_prefetch(to + column.ahead + i, 0, 2);
        product.at(left + i, right + i, to + i);
      }
      __builtin_prefetch(to + column.ahead + piece.count - 1, 0, 2);
      if (i < piece.count) product.at(left + i, right + i, to + i, piece.count - i);
    }
  }
}

// As LinesCode.
template <class T, int bytes>
[[gnu::always_inline]] inline void multiply_lines(const LineTask<T>& task) {
  const bool adds = task.update.beta != 0;
  if (task.each) {
    adds ? lines_of<T, bytes, true, true>(task) : lines_of<T, bytes, true, false>(task);
  } else {
    adds ? lines_of<T, bytes, false, true>(task) : lines_of<T, bytes, false, false>(task);
  }
}

}  // namespace
}  // namespace tcsim
