// The one body of all vector transposes, as microkernel_body.hpp is of the microkernels; include it
// only where that one may be.
#pragma once

#include <cstdint>

#include "kernels/microkernel.hpp"

namespace tcsim {
namespace {

// In every vector, the elements whose index has bit `distance` and those of the partner that has
// not change places. Once for each bit, that transposes a square.
template <int distance, int lanes, class Vector, class Mask, class Index>
[[gnu::always_inline]] inline void exchange(Vector* v) {
  Mask low = {}, high = {};
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) {
    low[i] = static_cast<Index>((i & distance) ? lanes + i - distance : i);
    high[i] = static_cast<Index>((i & distance) ? lanes + i : i + distance);
  }
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) {
    if (i & distance) continue;
    const Vector a = v[i], b = v[i + distance];
    v[i] = __builtin_shuffle(a, b, low);
    v[i + distance] = __builtin_shuffle(a, b, high);
  }
}

template <class T>
struct IndexOf;
template <>
struct IndexOf<double> {
  using Type = std::int64_t;
};
template <>
struct IndexOf<float> {
  using Type = std::int32_t;
};

// A square of as many rows and columns as a vector of `bytes` has lanes, through registers.
template <class T, int bytes>
[[gnu::always_inline]] inline void transpose_square(Rows<T> from, Rows<T> ahead, T* to,
                                                    const std::int64_t* columns) {
  using Index = typename IndexOf<T>::Type;
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef Index Mask __attribute__((vector_size(bytes)));
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  Vector v[lanes];
#pragma GCC unroll 16
  for (int r = 0; r < lanes; ++r) {
    v[r] = *reinterpret_cast<const Stored*>(from.first + from.offsets[r]);
    __builtin_prefetch(ahead.first + ahead.offsets[r], 0, 2);
  }
  exchange<1, lanes, Vector, Mask, Index>(v);
  if constexpr (lanes > 2) exchange<2, lanes, Vector, Mask, Index>(v);
  if constexpr (lanes > 4) exchange<4, lanes, Vector, Mask, Index>(v);
  if constexpr (lanes > 8) exchange<8, lanes, Vector, Mask, Index>(v);
#pragma GCC unroll 16
  for (int c = 0; c < lanes; ++c) *reinterpret_cast<Stored*>(to + columns[c]) = v[c];
}

// As Transpose. What is left of whole squares is done with vectors half as long, down to elements.
template <class T, int bytes>
[[gnu::always_inline]] inline void transpose(std::int64_t row_count, std::int64_t column_count,
                                             Rows<T> from, Rows<T> ahead, T* to,
                                             const std::int64_t* columns) {
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  const auto at = [](Rows<T> rows, std::int64_t r, std::int64_t c) {
    return Rows<T>{rows.first + c, rows.offsets + r};
  };
  if constexpr (bytes < 16) {
    for (std::int64_t r = 0; r < row_count; ++r) {
      const T* const row = from.first + from.offsets[r];
      for (std::int64_t c = 0; c < column_count; ++c) to[columns[c] + r] = row[c];
    }
  } else {
    const std::int64_t whole_rows = row_count / lanes * lanes;
    const std::int64_t whole_columns = column_count / lanes * lanes;
    for (std::int64_t r = 0; r < whole_rows; r += lanes) {
      for (std::int64_t c = 0; c < whole_columns; c += lanes) {
        transpose_square<T, bytes>(at(from, r, c), at(ahead, r, c), to + r, columns + c);
      }
    }
    if (whole_columns < column_count) {
      transpose<T, bytes / 2>(whole_rows, column_count - whole_columns, at(from, 0, whole_columns),
                              at(ahead, 0, whole_columns), to, columns + whole_columns);
    }
    if (whole_rows < row_count) {
      transpose<T, bytes / 2>(row_count - whole_rows, column_count, at(from, whole_rows, 0),
                              at(ahead, whole_rows, 0), to + whole_rows, columns);
    }
  }
}

}  // namespace
}  // namespace tcsim
