// The one body of all vector transposes, as microkernel_body.hpp is of the microkernels; include it
// only where that one may be.
#pragma once

#include <cstdint>

#include "kernels/microkernel.hpp"
#include "kernels/some_lanes.hpp"

namespace tcsim {
namespace {

// In every vector, the elements whose index has bit `distance` and those of the partner that has
// not change places. Once for each bit, that transposes a square; of fewer vectors than lanes, the
// squares side by side in them.
template <int distance, int vectors, int lanes, class Vector, class Mask, class Index>
[[gnu::always_inline]] inline void exchange(Vector* v) {
  Mask low = {}, high = {};
#pragma GCC unroll 16
  for (int i = 0; i < lanes; ++i) {
    low[i] = static_cast<Index>((i & distance) ? lanes + i - distance : i);
    high[i] = static_cast<Index>((i & distance) ? lanes + i : i + distance);
  }
#pragma GCC unroll 16
  for (int i = 0; i < vectors; ++i) {
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

template <class T, int vectors, int lanes, class Vector, class Mask>
[[gnu::always_inline]] inline void transpose_squares(Vector* v) {
  using Index = typename IndexOf<T>::Type;
  exchange<1, vectors, lanes, Vector, Mask, Index>(v);
  if constexpr (vectors > 2) exchange<2, vectors, lanes, Vector, Mask, Index>(v);
  if constexpr (vectors > 4) exchange<4, vectors, lanes, Vector, Mask, Index>(v);
  if constexpr (vectors > 8) exchange<8, vectors, lanes, Vector, Mask, Index>(v);
}

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
  transpose_squares<T, lanes, lanes, Vector, Mask>(v);
#pragma GCC unroll 16
  for (int c = 0; c < lanes; ++c) *reinterpret_cast<Stored*>(to + columns[c]) = v[c];
}

template <class T>
[[gnu::always_inline]] inline void transpose_elements(std::int64_t row_count,
                                                      std::int64_t column_count, Rows<T> from,
                                                      T* to, const std::int64_t* columns) {
  for (std::int64_t r = 0; r < row_count; ++r) {
    const T* const row = from.first + from.offsets[r];
    for (std::int64_t c = 0; c < column_count; ++c) to[columns[c] + r] = row[c];
  }
}

// Two rows of f32: four columns at a time, of which a vector has two in the end.
[[gnu::always_inline]] inline void transpose_pair(std::int64_t column_count, Rows<float> from,
                                                  Rows<float> ahead, float* to,
                                                  const std::int64_t* columns) {
  typedef float Vector __attribute__((vector_size(16)));
  typedef std::int32_t Mask __attribute__((vector_size(16)));
  typedef float Stored __attribute__((vector_size(16), aligned(sizeof(float)), may_alias));
  typedef double Two __attribute__((vector_size(16)));
  typedef double StoredTwo __attribute__((aligned(sizeof(float)), may_alias));
  const auto place = [](Rows<float> rows, std::int64_t r, std::int64_t c) {
    return rows.first + rows.offsets[r] + c;
  };
  const std::int64_t whole = column_count / 4 * 4;
  for (std::int64_t c = 0; c < whole; c += 4) {
    const Vector a = *reinterpret_cast<const Stored*>(place(from, 0, c));
    const Vector b = *reinterpret_cast<const Stored*>(place(from, 1, c));
    for (std::int64_t r = 0; r < 2; ++r) __builtin_prefetch(place(ahead, r, c), 0, 2);
    const Two low = reinterpret_cast<Two>(__builtin_shuffle(a, b, Mask{0, 4, 1, 5}));
    const Two high = reinterpret_cast<Two>(__builtin_shuffle(a, b, Mask{2, 6, 3, 7}));
    *reinterpret_cast<StoredTwo*>(to + columns[c]) = low[0];
    *reinterpret_cast<StoredTwo*>(to + columns[c + 1]) = low[1];
    *reinterpret_cast<StoredTwo*>(to + columns[c + 2]) = high[0];
    *reinterpret_cast<StoredTwo*>(to + columns[c + 3]) = high[1];
  }
  transpose_elements(2, column_count - whole, Rows<float>{from.first + whole, from.offsets}, to,
                     columns + whole);
}

#if defined(__AVX512F__)
// What fills no square, with masks. Of up to half as many rows as a vector has lanes, two columns
// are in one vector in the end; of up to half as many columns, two rows are in the beginning.
template <class T, bool few_rows, bool few_columns>
[[gnu::always_inline]] inline void transpose_part(int row_count, int column_count, Rows<T> from,
                                                  Rows<T> ahead, T* to,
                                                  const std::int64_t* columns) {
  using Lanes = SomeLanes<T, 64>;
  using Index = typename IndexOf<T>::Type;
  typedef Index Mask __attribute__((vector_size(64)));
  constexpr int lanes = 64 / sizeof(T), half = lanes / 2;
  constexpr int vectors = few_rows || few_columns ? half : lanes;
  // Beyond the last row it is read again.
  const auto row = [&](Rows<T> rows, int r) {
    return rows.first + rows.offsets[r < row_count ? r : row_count - 1];
  };
  const Lanes in_row(lanes - column_count), in_column(lanes - row_count);
  typename Lanes::Vector v[vectors];
#pragma GCC unroll 16
  for (int r = 0; r < vectors; ++r) {
    v[r] = in_row.load(row(from, r));
    __builtin_prefetch(row(ahead, r), 0, 2);
    if constexpr (!few_rows && few_columns) {
      v[r] = in_row.load_behind(v[r], row(from, r + half));
      __builtin_prefetch(row(ahead, r + half), 0, 2);
    }
  }
  transpose_squares<T, vectors, lanes, typename Lanes::Vector, Mask>(v);
#pragma GCC unroll 16
  for (int c = 0; c < vectors; ++c) {
    if (c >= column_count) break;
    in_column.store(to + columns[c], v[c]);
  }
  if constexpr (few_rows && !few_columns) {
#pragma GCC unroll 16
    for (int c = 0; c < half; ++c) {
      if (c + half >= column_count) break;
      in_column.store_behind(to + columns[c + half], v[c]);
    }
  }
}

// As Transpose, of one vector's worth of rows and columns at most.
template <class T>
[[gnu::always_inline]] inline void transpose_some(std::int64_t row_count, std::int64_t column_count,
                                                  Rows<T> from, Rows<T> ahead, T* to,
                                                  const std::int64_t* columns) {
  constexpr std::int64_t half = 32 / sizeof(T);
  const int r = static_cast<int>(row_count), c = static_cast<int>(column_count);
  if (r * c <= half) return transpose_elements(row_count, column_count, from, to, columns);
  if (r <= half && c <= half) return transpose_part<T, true, true>(r, c, from, ahead, to, columns);
  if (r <= half) return transpose_part<T, true, false>(r, c, from, ahead, to, columns);
  if (c <= half) return transpose_part<T, false, true>(r, c, from, ahead, to, columns);
  transpose_part<T, false, false>(r, c, from, ahead, to, columns);
}
#endif

// As Transpose. What is left of whole squares is done with masks, or with vectors half as long,
// down to elements.
template <class T, int bytes>
[[gnu::always_inline]] inline void transpose(std::int64_t row_count, std::int64_t column_count,
                                             Rows<T> from, Rows<T> ahead, T* to,
                                             const std::int64_t* columns) {
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  const auto at = [](Rows<T> rows, std::int64_t r, std::int64_t c) {
    return Rows<T>{rows.first + c, rows.offsets + r};
  };
  if constexpr (bytes < 16) {
    transpose_elements(row_count, column_count, from, to, columns);
  } else {
    const std::int64_t whole_rows = row_count / lanes * lanes;
    const std::int64_t whole_columns = column_count / lanes * lanes;
    for (std::int64_t r = 0; r < whole_rows; r += lanes) {
      for (std::int64_t c = 0; c < whole_columns; c += lanes) {
        transpose_square<T, bytes>(at(from, r, c), at(ahead, r, c), to + r, columns + c);
      }
    }
    if constexpr (SomeLanes<T, bytes>::masks) {
      for (std::int64_t r = 0; r < row_count; r += lanes) {
        const std::int64_t rows = r < whole_rows ? lanes : row_count - r;
        for (std::int64_t c = r < whole_rows ? whole_columns : 0; c < column_count; c += lanes) {
          const std::int64_t some = c < whole_columns ? lanes : column_count - c;
          transpose_some(rows, some, at(from, r, c), at(ahead, r, c), to + r, columns + c);
        }
      }
    } else {
      if (whole_columns < column_count) {
        transpose<T, bytes / 2>(whole_rows, column_count - whole_columns,
                                at(from, 0, whole_columns), at(ahead, 0, whole_columns), to,
                                columns + whole_columns);
      }
      std::int64_t row = whole_rows;
      if constexpr (sizeof(T) == 4 && bytes == 16) {
        if (row_count - row >= 2) {
          transpose_pair(column_count, at(from, row, 0), at(ahead, row, 0), to + row, columns);
          row += 2;
        }
      }
      if (row < row_count) {
        transpose<T, bytes / 2>(row_count - row, column_count, at(from, row, 0), at(ahead, row, 0),
                                to + row, columns);
      }
    }
  }
}

}  // namespace
}  // namespace tcsim
