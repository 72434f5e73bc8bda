#include "kernels/columns.hpp"

#include <algorithm>

#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

// Whether each of `outer` begins behind all of `inner` at the one before it, so that a loop over
// `inner` inside one over `outer` goes on in memory. Both are sorted.
template <class Outer, class Inner>
bool goes_on(const std::vector<Outer>& outer, const std::vector<Inner>& inner) {
  const std::int64_t span = inner.back().begin - inner.front().begin;
  for (std::size_t i = 1; i < outer.size(); ++i) {
    if (outer[i].begin - outer[i - 1].begin < span) return false;
  }
  return true;
}

template <class Listed>
void sort_by_memory(std::vector<Listed>& listed) {
  if (!std::ranges::is_sorted(listed, {}, &Listed::begin)) {
    std::ranges::sort(listed, {}, &Listed::begin);
  }
}

}  // namespace

template <class T>
ColumnPacker<T>::ColumnPacker(const Plan& plan, const PackPlan& pack, const std::int64_t* columns)
    : pack_(pack),
      rows_(plan.offsets(pack.tensor, pack.rows)),
      row_table_(plan.offset_table(pack.tensor, pack.rows)),
      ks_(plan.offsets(pack.tensor, DimClass::k)),
      k_runs_(Runs::of_neighbours(ks_)),
      columns_(columns),
      transpose_(transpose_code<T>()) {}

template <class T>
void ColumnPacker<T>::list(const Tile& tile) {
  const Interval rows = tile[pack_.rows], ks = tile[DimClass::k];
  runs_.clear();
  for (std::int64_t k = 0, size; k < ks.size; k += size) {
    size = std::min({k_runs_[ks.begin + k], ks.size - k, pack_.columns_left(tile, k)});
    runs_.push_back({k, size, ks_[ks.begin + k]});
  }
  row_pieces_.clear();
  for (std::int64_t row = 0, size; row < rows.size; row += size) {
    size = std::min({line_elements<T>, pack_.panel - row % pack_.panel, rows.size - row});
    row_pieces_.push_back({row, size, rows_[rows.begin + row]});
  }
  sort_by_memory(runs_);
  sort_by_memory(row_pieces_);
}

template <class T>
bool ColumnPacker<T>::choose_order() {
  runs_outside_ = goes_on(runs_, row_pieces_);
  return runs_outside_ || goes_on(row_pieces_, runs_);
}

// To the next step; false behind the last one.
template <class T>
bool ColumnPacker<T>::advance(Place& place) const {
  place.column += line_elements<T>;
  if (place.column < run_at(place).size) return true;
  place.column = 0;
  if (++place.inner < (runs_outside_ ? row_pieces_.size() : runs_.size())) return true;
  place.inner = 0;
  return ++place.outer < (runs_outside_ ? runs_.size() : row_pieces_.size());
}

template <class T>
Rows<T> ColumnPacker<T>::source(const Place& place) const {
  return {tensor_ + run_at(place).begin + place.column,
          row_table_ + first_row_ + row_piece_at(place).row};
}

template <class T>
bool ColumnPacker<T>::operator()(const Tile& tile, const T* tensor, T* buffer) {
  list(tile);
  if (!choose_order()) return false;
  tensor_ = tensor;
  first_row_ = tile[pack_.rows].begin;
  const std::int64_t elements =
      row_pieces_.front().size * std::min(line_elements<T>, runs_.front().size);
  Place place, ahead;
  bool more = true;
  for (std::int64_t lead = 0; more && lead < elements_ahead<T>; lead += elements) {
    more = advance(ahead);
  }
  T* to = buffer;
  do {
    const Run& run = run_at(place);
    const RowPiece& rows = row_piece_at(place);
    if (place.column == 0) {
      to = buffer + pack_.offset(tile, rows.row, run.k) + rows.row % pack_.panel;
    }
    const Rows<T> from = source(place);
    const bool ask = more && row_piece_at(ahead).size >= rows.size;
    transpose_(rows.size, std::min(line_elements<T>, run.size - place.column), from,
               ask ? source(ahead) : from, to + place.column * pack_.panel, columns_);
    if (more) more = advance(ahead);
  } while (advance(place));
  pad(tile, buffer);
  return true;
}

// Zeros behind the last rows.
template <class T>
void ColumnPacker<T>::pad(const Tile& tile, T* buffer) const {
  const std::int64_t size = tile[pack_.rows].size, last = size % pack_.panel;
  if (last == 0) return;
  for (const Run& run : runs_) {
    T* column = buffer + pack_.offset(tile, size - last, run.k);
    for (std::int64_t c = 0; c < run.size; ++c, column += pack_.panel) {
      std::fill(column + last, column + pack_.panel, T{0});
    }
  }
}

template class ColumnPacker<float>;
template class ColumnPacker<double>;

}  // namespace tcsim
