#include "kernels/strips.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

// Lines of each row that are asked for before they are read. Source: measured with kernels/ on one
// core of an AMD EPYC (Zen 4; docs/history/executor.md, "Streams").
constexpr std::int64_t lines_ahead = 32;

// Up to a line of elements, by two moves that may overlap instead of a loop.
template <std::int64_t bytes>
[[gnu::always_inline]] inline void move_both_ends(const std::byte* from, std::int64_t count,
                                                  std::byte* to) {
  std::byte head[bytes], tail[bytes];
  std::memcpy(head, from, bytes);
  std::memcpy(tail, from + count - bytes, bytes);
  std::memcpy(to, head, bytes);
  std::memcpy(to + count - bytes, tail, bytes);
}

template <class T>
[[gnu::always_inline]] inline void copy_few(const T* from, std::int64_t count, T* to) {
  const auto* const source = reinterpret_cast<const std::byte*>(from);
  auto* const place = reinterpret_cast<std::byte*>(to);
  const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
  if (bytes >= 32) {
    move_both_ends<32>(source, bytes, place);
  } else if (bytes >= 16) {
    move_both_ends<16>(source, bytes, place);
  } else if (bytes >= 8) {
    move_both_ends<8>(source, bytes, place);
  } else {
    *to = *from;
  }
}

}  // namespace

template <class T>
StripPacker<T>::StripPacker(const Plan& plan, const PackPlan& pack)
    : plan_(plan),
      pack_(pack),
      all_rows_(plan.offsets(pack.tensor, pack.rows)),
      row_table_(plan.offset_table(pack.tensor, pack.rows)),
      ks_(plan.offsets(pack.tensor, DimClass::k)),
      transpose_(transpose_code<T>()),
      panels_apart_(pack.apart / pack.panel),
      rest_apart_(pack.apart % pack.panel),
      most_strips_(std::min(pack.strips, plan.extent(pack.rows) / pack.apart)),
      square_(static_cast<std::size_t>(most_strips_ * line_elements<T>)) {
  for (std::int64_t s = 0; s < most_strips_; ++s) square_columns_.push_back(s * line_elements<T>);
}

template <class T>
void StripPacker<T>::operator()(const Tile& tile, const T* tensor, T* buffer) {
  tile_ = tile;
  tensor_ = tensor;
  buffer_ = buffer;
  list_runs();
  const Interval rows = tile[pack_.rows];
  const std::int64_t last = (rows.begin + rows.size - 1) / pack_.apart;
  // Strips that the tile cuts are taken alone, since the others are faster without them.
  for (std::int64_t strip = rows.begin / pack_.apart; strip <= last; strip += strips_) {
    const bool cut = strip * pack_.apart < rows.begin;
    strips_ = cut ? 1 : neighbours(strip);
    // A strip may be longer than the tile.
    const std::int64_t end = std::min(pack_.apart, rows.begin + rows.size - strip * pack_.apart);
    std::int64_t q =
        cut ? (rows.begin - strip * pack_.apart) / line_elements<T> * line_elements<T> : 0;
    for (; q < end; q += line_elements<T>) {
      rows_ = std::min(line_elements<T>, pack_.apart - q);
      first_row_ = strip * pack_.apart + q;
      list_parts(first_row_ - rows.begin);
      const std::int64_t next = q + rows_ < end           ? first_row_ + rows_
                                : strip + strips_ <= last ? (strip + strips_) * pack_.apart
                                                          : first_row_;
      rows_ahead_ = row_table_ + std::min(next, plan_.extent(pack_.rows) - rows_);
      for (std::size_t r = 0; r < runs_.size(); ++r) {
        fill(runs_[r], panel_places_.data() + static_cast<std::int64_t>(r) * panels_);
      }
    }
  }
  if (const std::int64_t over = rows.size % pack_.panel; over != 0) {
    for (std::size_t r = 0; r < runs_.size(); ++r) {
      T* column = buffer_ + panel_places_[(r + 1) * static_cast<std::size_t>(panels_) - 1];
      for (std::int64_t k = runs_[r].begin; k < runs_[r].end; ++k, column += pack_.panel) {
        std::fill(column + over, column + pack_.panel, T{0});
      }
    }
  }
}

// How many strips from this one on lie side by side, all but the first one whole.
template <class T>
std::int64_t StripPacker<T>::neighbours(std::int64_t strip) const {
  const std::int64_t first = all_rows_[strip * pack_.apart];
  std::int64_t count = 1;
  const Interval rows = tile_[pack_.rows];
  while (count < most_strips_ && (strip + count + 1) * pack_.apart <= rows.begin + rows.size &&
         all_rows_[(strip + count) * pack_.apart] == first + count) {
    ++count;
  }
  return count;
}

// Those of a tile as large as the one before are where they were.
template <class T>
void StripPacker<T>::list_runs() {
  const Interval ks = tile_[DimClass::k];
  const Listed wanted{tile_[pack_.rows].size, ks, pack_.place_of(tile_)};
  if (std::exchange(listed_, wanted) == wanted) return;
  panels_ = (tile_[pack_.rows].size + pack_.panel - 1) / pack_.panel;
  runs_.clear();
  panel_places_.clear();
  for (std::int64_t k = 0; k < ks.size;) {
    for (std::int64_t p = 0; p < panels_; ++p) {
      panel_places_.push_back(pack_.offset(tile_, p * pack_.panel, k));
    }
    const std::int64_t end = k + pack_.columns_left(tile_, k);
    runs_.push_back({ks.begin + k, ks.begin + end});
    k = end;
  }
}

// `first_row`: of the first strip, counted from the beginning of the tile, where it may not be yet.
template <class T>
void StripPacker<T>::list_parts(std::int64_t first_row) {
  const std::int64_t size = tile_[pack_.rows].size;
  parts_.clear();
  whole_ = true;
  // Where a strip begins. One that begins in front of the tile is alone. To divide for each would
  // take longer than to move its rows where there is but one column.
  struct Place {
    std::int64_t panel, row;
  };
  const auto after = [&](Place at, std::int64_t rows) {
    at.row += rows;
    return at.row < pack_.panel ? at : Place{at.panel + 1, at.row - pack_.panel};
  };
  const std::int64_t begin = std::max<std::int64_t>(first_row, 0);
  Place first{begin / pack_.panel, begin % pack_.panel};
  for (std::int64_t strip = 0; strip < strips_; ++strip, first_row += pack_.apart) {
    Place at = first;
    for (std::int64_t row = std::max<std::int64_t>(0, -first_row), rows; row < rows_; row += rows) {
      if (first_row + row >= size) break;
      rows = std::min({rows_ - row, pack_.panel - at.row, size - first_row - row});
      parts_.push_back({strip, row, rows, at.panel, at.row});
      at = after(at, rows);
    }
    whole_ &= !parts_.empty() && parts_.back().strip == strip && parts_.back().rows == rows_;
    first = after({first.panel + panels_apart_, first.row}, rest_apart_);
  }
}

template <class T>
void StripPacker<T>::fill(const Run& run, const std::int64_t* panels) {
  const Interval ks = tile_[DimClass::k];
  const std::int64_t columns_ahead =
      std::max<std::int64_t>(1, lines_ahead * line_elements<T> / strips_);
  if (whole_) {
    places_.clear();
    for (const Part& part : parts_) places_.push_back(panels[part.panel] + part.place);
  }
  T* to = buffer_;
  for (std::int64_t k = run.begin; k < run.end; ++k, to += pack_.panel) {
    const Rows<T> from{tensor_ + ks_[k], row_table_ + first_row_};
    Rows<T> ahead = from;
    if (const std::int64_t later = k + columns_ahead; later < ks.begin + ks.size) {
      ahead.first = tensor_ + ks_[later];
    } else {
      ahead = {tensor_ + ks_[ks.begin + (later - ks.begin) % ks.size], rows_ahead_};
    }
    if (whole_) {
      transpose_(rows_, strips_, from, ahead, to, places_.data());
      continue;
    }
    transpose_(rows_, strips_, from, ahead, square_.data(), square_columns_.data());
    for (const Part& part : parts_) {
      copy_few(square_.data() + part.strip * line_elements<T> + part.row, part.rows,
               to + panels[part.panel] + part.place);
    }
  }
}

template class StripPacker<float>;
template class StripPacker<double>;

}  // namespace tcsim
