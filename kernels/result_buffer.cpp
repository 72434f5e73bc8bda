#include "kernels/result_buffer.hpp"

#include <memory>
#include <numeric>
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
  const std::int64_t most = regions.most_results(type);
  const std::int64_t rows = std::min(most, path.extents[DimClass::m]) + path.mr;
  const std::int64_t columns = std::min(most, path.extents[DimClass::n]) + path.nr;
  const std::int64_t tables = rows + 2 * columns + 2 * most_moved;  // one grows
  return most * size_of(type) + before_results + tables * Bytes(sizeof(std::int64_t)) +
         most_moved * Bytes(64);
}

template <class T>
ResultBuffer<T>::ResultBuffer(const Plan& plan, std::int64_t lanes, Transpose<T> transpose)
    : plan_(plan),
      transpose_(transpose),
      lanes_(lanes),
      regions_(result_regions(plan.contraction(), plan.schedule().groups, plan.path(), lanes)) {
  if (!regions_.used()) return;
  rows_in_c_ = plan.offset_table(TensorId::C, DimClass::m);
  const DimClass along = regions_.direction == Direction::columns ? DimClass::n : DimClass::batch;
  if (regions_.direction != Direction::rows) {
    runs_ = Runs::of_neighbours(plan.offsets(TensorId::C, along));
  }
  const std::int64_t most = regions_.most_results(plan.contraction().type());
  // A kernel may look at those of a tile behind the region's last one.
  rows_.resize(static_cast<std::size_t>(std::min(most, plan.extent(DimClass::m)) + plan.mr()));
  std::iota(rows_.begin(), rows_.end(), std::int64_t{0});
  const Bytes results = most * Bytes(sizeof(T));
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
  region_ = region;
  const std::int64_t columns = region[DimClass::n].size, listed = columns + plan_.nr();
  const std::int64_t apart = buffer_column(region[DimClass::m].size, plan_.contraction().type());
  if (apart != std::exchange(to_next_column_, apart)) columns_.clear();
  while (std::ssize(columns_) < listed) columns_.push_back(std::ssize(columns_) * apart);
  to_next_place_ = apart * columns;
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
    return std::min(runs_[at], all.begin + all.size - at);
  };
  switch (regions_.direction) {
    case Direction::none:
      break;
    case Direction::columns:
      for (std::int64_t b = batch.begin; b < batch.begin + batch.size; ++b) {
        for (std::int64_t j = n.begin, count; j < n.begin + n.size; j += count) {
          count = run(n, j);
          move(place(b) + column(j), to_next_column_, m, count, place_in_c(b) + column_in_c(j),
               beta);
        }
      }
      break;
    case Direction::places:
      for (std::int64_t b = batch.begin, count; b < batch.begin + batch.size; b += count) {
        count = run(batch, b);
        for (std::int64_t j = n.begin; j < n.begin + n.size; ++j) {
          move(place(b) + column(j), to_next_place_, m, count, place_in_c(b) + column_in_c(j),
               beta);
        }
      }
      break;
    case Direction::rows:
      for (std::int64_t b = batch.begin; b < batch.begin + batch.size; ++b) {
        for (std::int64_t j = n.begin; j < n.begin + n.size; ++j) {
          move_rows(place(b) + column(j), place_in_c(b) + column_in_c(j), beta);
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
  const std::int64_t* const in_c = rows_in_c_ + rows.begin;
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
