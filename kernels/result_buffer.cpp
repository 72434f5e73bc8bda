#include "kernels/result_buffer.hpp"

#include <memory>
#include <utility>

#include "core/units/divisor.hpp"
#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

using Direction = ResultRegions::Direction;

// Neighbours in C that are moved at a time, in whole vectors.
constexpr std::int64_t most_moved = 64;

// So that the first column may begin with a line.
constexpr Bytes before_results{64};

}  // namespace

Bytes result_buffer_memory(const ResultRegions& regions, const Path& path, ElementType type) {
  const std::int64_t m = path.extents[DimClass::m], n = path.extents[DimClass::n];
  const std::int64_t batch = path.extents[DimClass::batch];
  const std::int64_t tables = m + 2 * n + batch + 2 * most_moved;
  return regions.most_results(type) * size_of(type) + before_results +
         tables * Bytes(sizeof(std::int64_t)) + most_moved * Bytes(64);
}

template <class T>
ResultBuffer<T>::ResultBuffer(const Plan& plan, std::int64_t lanes, Transpose<T> transpose)
    : plan_(plan),
      transpose_(transpose),
      lanes_(lanes),
      regions_(result_regions(plan.contraction(), plan.schedule().groups, plan.path(), lanes)) {
  if (!regions_.used()) return;
  const DimClass along = regions_.direction == Direction::columns ? DimClass::n : DimClass::batch;
  if (regions_.direction != Direction::rows) {
    runs_ = contiguous_runs(plan.offsets(TensorId::C, along), plan.extent(along));
  }
  rows_.assign(static_cast<std::size_t>(plan.extent(DimClass::m)), 0);
  columns_.assign(static_cast<std::size_t>(plan.extent(DimClass::n)), 0);
  const Bytes results = regions_.most_results(plan.contraction().type()) * Bytes(sizeof(T));
  std::size_t room = static_cast<std::size_t>((results + before_results).value());
  memory_.resize(room / sizeof(T));
  void* first = memory_.data();
  buffer_ = static_cast<T*>(std::align(64, room - 64, first, room));
  apart_.resize(static_cast<std::size_t>(most_moved));
  sums_.resize(static_cast<std::size_t>(most_moved * lanes));
  for (std::int64_t r = 0; r < lanes; ++r) sums_begin_.push_back(r * most_moved);
}

template <class T>
void ResultBuffer<T>::begin(const Tile& region) {
  const Interval m = region[DimClass::m], n = region[DimClass::n];
  const Interval old_m = region_[DimClass::m], old_n = region_[DimClass::n];
  region_ = region;
  if (m != old_m) {
    for (std::int64_t i = 0; i < m.size; ++i) rows_[static_cast<std::size_t>(m.begin + i)] = i;
  }
  const std::int64_t to_next_column = buffer_column(m.size, plan_.contraction().type());
  if (n != old_n || to_next_column != to_next_column_) {
    to_next_column_ = to_next_column;
    for (std::int64_t j = 0; j < n.size; ++j) {
      columns_[static_cast<std::size_t>(n.begin + j)] = j * to_next_column;
    }
  }
  to_next_place_ = to_next_column_ * n.size;
}

template <class T>
void ResultBuffer<T>::end(T* c, T beta) {
  const Interval m = region_[DimClass::m], n = region_[DimClass::n],
                 batch = region_[DimClass::batch];
  const auto place_in_c = [&](std::int64_t b) {
    return c + plan_.offset(TensorId::C, DimClass::batch, b);
  };
  const auto column_in_c = [&](std::int64_t j) {
    return plan_.offset(TensorId::C, DimClass::n, j);
  };
  // Those of `all` that are neighbours in C from `at` on.
  const auto run = [&](Interval all, std::int64_t at) {
    return std::min(runs_[static_cast<std::size_t>(at)], all.begin + all.size - at);
  };
  switch (regions_.direction) {
    case Direction::none:
      break;
    case Direction::columns:
      for (std::int64_t b = batch.begin; b < batch.begin + batch.size; ++b) {
        for (std::int64_t j = n.begin, count; j < n.begin + n.size; j += count) {
          count = run(n, j);
          move(place(b) + columns()[j], to_next_column_, m, count, place_in_c(b) + column_in_c(j),
               beta);
        }
      }
      break;
    case Direction::places:
      for (std::int64_t b = batch.begin, count; b < batch.begin + batch.size; b += count) {
        count = run(batch, b);
        for (std::int64_t j = n.begin; j < n.begin + n.size; ++j) {
          move(place(b) + columns()[j], to_next_place_, m, count, place_in_c(b) + column_in_c(j),
               beta);
        }
      }
      break;
    case Direction::rows:
      for (std::int64_t b = batch.begin; b < batch.begin + batch.size; ++b) {
        for (std::int64_t j = n.begin; j < n.begin + n.size; ++j) {
          move_rows(place(b) + columns()[j], place_in_c(b) + column_in_c(j), beta);
        }
      }
  }
  write(std::exchange(asked_, {}), beta);
}

// The region's rows of a column, which begins at `from` and at `to`. Rows from a multiple of
// period * behind on are a matrix of `behind` lines of `period` rows, whose columns are neighbours
// in C; the region may begin and end within a line.
template <class T>
void ResultBuffer<T>::move_rows(const T* from, T* to, T beta) {
  const Interval m = region_[DimClass::m];
  const std::int64_t end = m.begin + m.size, period = regions_.period,
                     matrix = period * regions_.behind;
  for (std::int64_t first = m.begin / matrix * matrix; first < end; first += matrix) {
    const std::int64_t low = std::max(m.begin - first, std::int64_t{0});
    const std::int64_t high = std::min(end - first, matrix);
    const std::int64_t low_row = low % period, high_row = high % period;
    const auto part = [&](std::int64_t row, std::int64_t end_row) {
      if (row >= end_row) return;
      const std::int64_t line = low / period + (row < low_row ? 1 : 0);
      const std::int64_t end_line = high / period + (row < high_row ? 1 : 0);
      if (line >= end_line) return;
      const std::int64_t begin = first + line * period + row;
      move(from + (begin - m.begin), period, {begin, end_row - row}, end_line - line, to, beta);
    };
    part(0, std::min(low_row, high_row));
    part(std::min(low_row, high_row), std::max(low_row, high_row));
    part(std::max(low_row, high_row), period);
  }
}

// `count` neighbours in C of each of these rows, which follow one another in the buffer from `from`
// on, their neighbours each `apart` behind the one before. They are asked for now, and come when
// the next ones are: as many lines of C as can be are on their way while those before are written.
template <class T>
void ResultBuffer<T>::move(const T* from, std::int64_t apart, Interval rows, std::int64_t count,
                           T* to, T beta) {
  const std::int64_t* const in_c = plan_.offsets(TensorId::C, DimClass::m) + rows.begin;
  for (std::int64_t r = 0; r < rows.size; ++r) {
    T* const line = to + in_c[r];
    for (std::int64_t at = 0; at < count; at += line_elements<T>)
      __builtin_prefetch(line + at, 0, 2);
    __builtin_prefetch(line + count - 1, 0, 2);
  }
  write(std::exchange(asked_, {from, apart, rows.size, count, to, in_c}), beta);
}

template <class T>
void ResultBuffer<T>::write(const Piece& piece, T beta) {
  if (piece.rows == 0) return;
  if (piece.apart != apart_by_) {
    apart_by_ = piece.apart;
    for (std::int64_t i = 0; i < most_moved; ++i) {
      apart_[static_cast<std::size_t>(i)] = i * piece.apart;
    }
  }
  for (std::int64_t i = 0; i < piece.rows; i += lanes_) {
    const std::int64_t width = std::min(lanes_, piece.rows - i);
    for (std::int64_t at = 0; at < piece.count; at += most_moved) {
      const std::int64_t length = std::min(piece.count - at, most_moved);
      const Rows<T> lines{piece.from + i + at * piece.apart, apart_.data()};
      if (beta == 0) {
        transpose_(length, width, lines, lines, piece.to + at, piece.in_c + i);
        continue;
      }
      transpose_(length, width, lines, lines, sums_.data(), sums_begin_.data());
      for (std::int64_t r = 0; r < width; ++r) {
        T* const line = piece.to + at + piece.in_c[i + r];
        const T* const sum = sums_.data() + r * most_moved;
        for (std::int64_t p = 0; p < length; ++p) line[p] = beta * line[p] + sum[p];
      }
    }
  }
}

template class ResultBuffer<float>;
template class ResultBuffer<double>;

}  // namespace tcsim
