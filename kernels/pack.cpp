#include "kernels/pack.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>

#include "kernels/alike.hpp"
#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

// Calls use(count) with the number of rows of a micropanel as a constant where kernels often have
// it, so that a column is a few vector moves and not a call.
template <class Use>
[[gnu::always_inline]] inline void with_constant(std::int64_t rows, Use&& use) {
  const auto known = [&]<int... count>(std::integer_sequence<int, count...>) {
    return ((rows == count && (use(std::integral_constant<std::int64_t, count>()), true)) || ...);
  };
  if (!known(std::integer_sequence<int, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 24, 32, 48>())) use(rows);
}

template <class T, class Count>
[[gnu::always_inline]] inline void copy(const T* from, Count count, T* to) {
  if constexpr (std::is_same_v<Count, std::int64_t>) {
    std::copy_n(from, count, to);
  } else {
    std::memcpy(to, from, count * sizeof(T));
  }
}

template <class T>
[[gnu::always_inline]] inline void fetch_lines(const T* from, std::int64_t count) {
  asm volatile("");  // GCC 12 drops calls of a function that does nothing but prefetch
  for (std::int64_t i = 0; i < count; i += line_elements<T>) __builtin_prefetch(from + i, 0, 2);
}

// Elements of an operand that is copied place by place. Source: chosen, so that the list of places
// stays in a first cache beside the operand.
constexpr std::int64_t most_gathered = 2048;

// Neighbours along k from which on columns are transposed. Source: chosen.
constexpr std::int64_t least_columns = 4;

}  // namespace

template <class T>
Packer<T>::Packer(const Plan& plan, const PackPlan& pack)
    : plan_(plan),
      pack_(pack),
      rows_(plan.offsets(pack.tensor, pack.rows)),
      ks_(plan.offsets(pack.tensor, DimClass::k)),
      row_table_(plan.offset_table(pack.tensor, pack.rows)),
      k_table_(plan.offset_table(pack.tensor, DimClass::k)),
      row_runs_(Runs::of_neighbours(rows_)),
      k_runs_(Runs::of_neighbours(ks_)),
      batch_runs_(pack.places > 1 ? Runs::of_neighbours(plan.offsets(pack.tensor, DimClass::batch))
                                  : Runs()),
      transpose_(transpose_code<T>()),
      gather_(gather_code<T>()) {
  rows_apart_ = row_runs_.longest() == 1;
  has_columns_ = k_runs_.longest() >= least_columns;
  for (std::int64_t p = 0; p < line_elements<T>; ++p) panel_columns_.push_back(p * pack.panel);
  if (pack.along_rows && pack.apart > 1) strips_.emplace(plan, pack);
  if (!pack.along_rows && pack.apart == 1 && pack.panel > 1 && rows_apart_ && has_columns_) {
    in_columns_.emplace(plan, pack, panel_columns_.data());
  }
  const std::int64_t reach = rows_[plan.extent(pack.rows) - 1] + ks_[plan.extent(DimClass::k) - 1];
  if (pack.place <= most_gathered && reach <= std::numeric_limits<std::int32_t>::max()) {
    list_places();
  }
}

template <class T>
void Packer<T>::list_places() {
  const Tile all = plan_.all();
  std::int64_t end = 0;
  for_each_block(pack_, all, [&](std::span<const PackBlock> blocks) {
    for (const PackBlock& b : blocks) {
      end = std::max(end, b.destination + b.k_size * pack_.panel);
    }
  });
  if (end > pack_.place) return;  // it is never packed as a whole
  constexpr std::int32_t nothing = -1;
  from_.assign(static_cast<std::size_t>(end), nothing);
  for_each_block(pack_, all, [this](std::span<const PackBlock> blocks) {
    for (const PackBlock& b : blocks) {
      for (std::int64_t k = 0; k < b.k_size; ++k) {
        for (std::int64_t row = 0; row < b.rows; ++row) {
          from_[static_cast<std::size_t>(b.destination + k * pack_.panel + row)] =
              static_cast<std::int32_t>(rows_[b.row + row] + ks_[b.k + k]);
        }
      }
    }
  });
  for (std::size_t i = 0; i < from_.size(); ++i) {
    if (from_[i] != nothing) continue;
    from_[i] = 0;
    padding_.push_back(static_cast<std::int32_t>(i));
  }
}

template <class T>
bool Packer<T>::is_whole(const Tile& tile) const {
  const auto all = [&](DimClass g) { return tile[g].size == plan_.extent(g); };
  return !from_.empty() && all(pack_.rows) && all(DimClass::k);
}

template <class T>
void Packer<T>::gather(T* buffer) const {
  gather_(tensor_, from_.data(), std::ssize(from_), buffer);
  for (const std::int32_t place : padding_) buffer[place] = 0;
}

template <class T>
void Packer<T>::operator()(const Tile& tile, const T* tensor, T* buffer) {
  const Interval batch = tile[DimClass::batch];
  if (pack_.places == 1) {
    return pack_place(tile, tensor + plan_.source_of(pack_, tile), buffer);
  }
  Tile part = tile;
  for (std::int64_t b = 0, count; b < batch.size; b += count) {
    part[DimClass::batch] = {batch.begin + b, 1};
    count = std::min(batch_runs_[batch.begin + b], batch.size - b);
    tensor_ = tensor + plan_.source_of(pack_, part);
    if (count >= least_columns) {
      pack_places(part, count, buffer);
    } else {
      count = 1;
      pack_place(part, tensor_, buffer);
    }
  }
}

// Neighbours in the tensor are places of the batch: each row of a block has some side by side, or
// each place along k where it has one row, so those and places change places.
template <class T>
void Packer<T>::pack_places(const Tile& tile, std::int64_t count, T* buffer) {
  places_.clear();
  for (std::int64_t b = 0; b < count; ++b) {
    Tile place = tile;
    place[DimClass::batch].begin += b;
    places_.push_back(pack_.place_of(place) - pack_.place_of(tile));
  }
  // Asks for lines that come so many steps later.
  const auto change = [&](Rows<T> rows, std::int64_t size, std::int64_t later, T* to) {
    constexpr std::int64_t step = line_elements<T>;
    for (std::int64_t r = 0; r < size; r += step, rows.offsets += step) {
      const bool more = r + (later + 1) * step <= size;
      transpose_(std::min(step, size - r), count, rows,
                 more ? Rows<T>{rows.first, rows.offsets + later * step} : rows, to + r,
                 places_.data());
    }
  };
  for_each_block(pack_, tile, [&](std::span<const PackBlock> blocks) {
    for (const PackBlock& b : blocks) {
      if (pack_.panel == 1) {  // which runs along k
        change({tensor_ + rows_[b.row], k_table_ + b.k}, b.k_size, 4, buffer + b.destination);
        continue;
      }
      for (std::int64_t k = 0; k < b.k_size; ++k) {
        T* const to = buffer + b.destination + k * pack_.panel;
        change({tensor_ + ks_[b.k + k], row_table_ + b.row}, b.rows, 1, to);
        for (const std::int64_t place : places_) {
          std::fill(to + place + b.rows, to + place + pack_.panel, T{0});
        }
      }
    }
  });
}

template <class T>
void Packer<T>::pack_place(const Tile& tile, const T* tensor, T* buffer) {
  tensor_ = tensor;
  if (is_whole(tile)) return gather(buffer + pack_.place_of(tile));
  if (strips_) return (*strips_)(tile, tensor_, buffer);
  if (in_columns_ && (*in_columns_)(tile, tensor_, buffer)) return;
  if (pack_.panel == 1 && !pack_.along_rows) {
    buffer_ = buffer;
    return copy_lines(tile);
  }
  buffer_ = buffer + pack_.place_of(tile);
  if (!is_listed(tile)) list(tile);
  first_row_ = tile[pack_.rows].begin;
  first_k_ = tile[DimClass::k].begin;
  Place place, ahead;
  std::int64_t lead = 0;  // elements from one to the other
  while (place.piece < pieces_.size()) {
    while (lead < elements_ahead<T> && ahead.piece < pieces_.size()) {
      if (pieces_[ahead.piece].kind == Kind::rows) fetch_rows(ahead);
      lead += advance(ahead);
    }
    fill(place, ahead);
    lead -= advance(place);
  }
  pad();
}

// Whether the tile has as many places as the one that is listed, and they lie alike.
template <class T>
bool Packer<T>::is_listed(const Tile& tile) const {
  const auto alike = [&](const std::int64_t* table, DimClass g) {
    return lie_alike(table, tile[g], listed_[g]);
  };
  return !pieces_.empty() && alike(k_table_, DimClass::k) && alike(row_table_, pack_.rows);
}

template <class T>
void Packer<T>::list(const Tile& tile) {
  // In the first place of the batch, from which that of a tile is a shift.
  listed_ = tile;
  listed_[DimClass::batch] = {0, 1};
  pieces_.clear();
  blocks_.clear();
  destinations_.clear();
  to_pad_.clear();
  for_each_block(pack_, listed_, [this](std::span<const PackBlock> blocks) {
    for (const PackBlock& b : blocks) {
      if (b.rows < pack_.panel) to_pad_.push_back({b.destination, b.rows, b.k_size});
    }
    while (blocks.size() > 1) {
      const bool rows = pack_.apart == 1 || rows_are_neighbours(blocks.front());
      const auto count = rows ? blocks.size() : side_by_side(blocks);
      list(rows ? Kind::rows : Kind::side_by_side, blocks.first(count));
      blocks = blocks.subspan(count);
    }
    if (!blocks.empty()) list_runs(blocks.front());
  });
  // In the order of memory. Where the dimension behind k's is not the first of the rows, what comes
  // next in memory is some micropanels further.
  const bool transposes =
      std::ranges::any_of(pieces_, [](const Piece& p) { return p.kind != Kind::rows; });
  if (transposes && !std::ranges::is_sorted(pieces_, {}, &Piece::begin)) {
    std::ranges::sort(pieces_, {}, &Piece::begin);
  }
}

template <class T>
bool Packer<T>::rows_are_neighbours(const PackBlock& block) const {
  return row_runs_[block.row] >= block.rows;
}

// A block by itself, cut where its columns are no longer neighbours.
template <class T>
void Packer<T>::list_runs(PackBlock block) {
  if (!has_columns_ || rows_are_neighbours(block)) return list(Kind::rows, {&block, 1});
  const auto run_at = [&](std::int64_t k, std::int64_t most) { return std::min(k_runs_[k], most); };
  for (std::int64_t left = block.k_size, size; left > 0; left -= size) {
    size = run_at(block.k, left);
    const bool columns = size >= least_columns;
    while (!columns && size < left && run_at(block.k + size, left - size) < least_columns) {
      size += run_at(block.k + size, left - size);
    }
    const PackBlock part{block.row, block.rows, block.k, size, block.destination};
    list(columns ? Kind::columns : Kind::rows, {&part, 1});
    block.k += size;
    block.destination += size * pack_.panel;
  }
}

template <class T>
void Packer<T>::list(Kind kind, std::span<const PackBlock> blocks) {
  const PackBlock& first = blocks.front();
  const std::int64_t row_begin = listed_[pack_.rows].begin, k_begin = listed_[DimClass::k].begin;
  const std::size_t at = kind == Kind::rows ? blocks_.size() : destinations_.size();
  const std::int64_t step = kind == Kind::rows ? first.rows : line_elements<T>;
  for (std::int64_t row = 0; row < first.rows; row += step) {
    pieces_.push_back({kind, at, blocks.size(), row, first.row - row_begin + row,
                       std::min(step, first.rows - row), first.k - k_begin, first.k_size,
                       rows_[first.row + row] + ks_[first.k]});
  }
  for (const PackBlock& b : blocks) {
    if (kind == Kind::rows) {
      blocks_.push_back({b.row - row_begin, b.rows, b.k - k_begin, rows_[b.row] - rows_[row_begin],
                         b.destination, rows_are_neighbours(b)});
    } else {
      destinations_.push_back(b.destination);
    }
  }
}

// How many of the blocks, from the first on, lie side by side in memory, row by row and column by
// column. Those have the same rows, differ by whole strips along k, and their first places along k
// are neighbours.
template <class T>
std::size_t Packer<T>::side_by_side(std::span<const PackBlock> blocks) const {
  const PackBlock& first = blocks.front();
  const std::int64_t place = first.k % pack_.apart;
  if (place + first.k_size > pack_.apart) return 1;
  std::size_t count = 1;
  while (count < blocks.size() && blocks[count].row == first.row &&
         blocks[count].k % pack_.apart == place &&
         ks_[blocks[count].k] == ks_[first.k] + static_cast<std::int64_t>(count)) {
    ++count;
  }
  return count;
}

template <class T>
std::int64_t Packer<T>::columns_at(const Place& place) const {
  const Piece& piece = pieces_[place.piece];
  if (piece.kind == Kind::side_by_side) return 1;
  return std::min(line_elements<T>, piece.columns - place.column);
}

// To the next step; returns how many elements this one has.
template <class T>
std::int64_t Packer<T>::advance(Place& place) const {
  const Piece& piece = pieces_[place.piece];
  const std::int64_t columns = columns_at(place);
  place.column += columns;
  if (place.column == piece.columns) place = {place.piece + 1, 0};
  return static_cast<std::int64_t>(piece.count) * piece.rows * columns;
}

// Rows of a step, at its first column.
template <class T>
Rows<T> Packer<T>::source(const Place& place) const {
  const Piece& piece = pieces_[place.piece];
  return {tensor_ + ks_[first_k_ + piece.k + place.column], row_table_ + first_row_ + piece.row};
}

template <class T>
void Packer<T>::fill(const Place& place, const Place& ahead) {
  const Piece& piece = pieces_[place.piece];
  if (piece.kind == Kind::rows) return copy_rows(piece, place.column, columns_at(place));
  const std::int64_t* const destinations = destinations_.data() + piece.first;
  const Rows<T> from = source(place);
  const bool more = ahead.piece < pieces_.size() && pieces_[ahead.piece].rows >= piece.rows;
  const Rows<T> later = more ? source(ahead) : from;
  T* const to = buffer_ + place.column * pack_.panel + piece.row_in_block;
  if (piece.kind == Kind::columns) {
    transpose_(piece.rows, columns_at(place), from, later, to + *destinations,
               panel_columns_.data());
  } else {
    transpose_(piece.rows, static_cast<std::int64_t>(piece.count), from, later, to, destinations);
  }
}

// Column by column, the rows of all blocks, which are neighbours in memory where they can be.
template <class T>
void Packer<T>::copy_rows(const Piece& piece, std::int64_t column, std::int64_t columns) {
  const auto blocks = std::span(blocks_).subspan(piece.first, piece.count);
  const T* const first = tensor_ + rows_[first_row_];
  const std::int64_t panel = pack_.panel;
  // Whole micropanels, but for the last one.
  std::size_t whole = 0;
  while (whole < blocks.size() && blocks[whole].rows == panel && blocks[whole].one_run) ++whole;
  with_constant(panel, [&](auto rows) {
    for (std::int64_t c = column; c < column + columns; ++c) {
      for (const Block& b : blocks.first(whole)) {
        copy(first + b.row_offset + ks_[first_k_ + b.k + c], rows,
             buffer_ + b.destination + c * panel);
      }
    }
  });
  for (const Block& b : blocks.subspan(whole)) {
    if (!rows_apart_) list_row_runs(b);
    for (std::int64_t c = column; c < column + columns; ++c) {
      const T* const from = tensor_ + ks_[first_k_ + b.k + c];
      T* to = buffer_ + b.destination + c * panel;
      if (rows_apart_) {
        for (std::int64_t r = 0; r < b.rows; ++r) to[r] = from[row_table_[first_row_ + b.row + r]];
        continue;
      }
      for (const RowRun& run : block_runs_) {
        for (std::int64_t i = 0; i < run.size; ++i) to[i] = from[run.begin + i];
        to += run.size;
      }
    }
  }
}

template <class T>
void Packer<T>::list_row_runs(const Block& block) {
  const Interval rows{first_row_ + block.row, block.rows};
  if (listed_rows_ == rows) return;
  listed_rows_ = rows;
  block_runs_.clear();
  for (std::int64_t r = 0, size; r < rows.size; r += size) {
    size = std::min(row_runs_[rows.begin + r], rows.size - r);
    block_runs_.push_back({size, rows_[rows.begin + r]});
  }
}

// Asks for what copy_rows() needs of a piece's blocks first.
template <class T>
void Packer<T>::fetch_rows(const Place& place) const {
  const Piece& piece = pieces_[place.piece];
  const std::int64_t columns = columns_at(place);
  const auto blocks = std::span(blocks_).subspan(piece.first, piece.count);
  for (std::size_t b = 0, next; b < blocks.size(); b = next) {
    const Block& block = blocks[b];
    const std::int64_t run = row_runs_[first_row_ + block.row];
    const T* const first = tensor_ + rows_[first_row_] + block.row_offset;
    std::int64_t rows = std::min(run, block.rows);
    // What is behind them in memory, too.
    for (next = b + 1; next < blocks.size() && blocks[next].row == block.row + rows; ++next) {
      rows = std::min(run, rows + blocks[next].rows);
    }
    for (std::int64_t c = place.column; c < place.column + columns; ++c) {
      fetch_lines(first + ks_[first_k_ + block.k + c], rows);
    }
  }
}

// Micropanels of one row run along k.
template <class T>
void Packer<T>::copy_lines(const Tile& tile) {
  const Interval rows = tile[pack_.rows], ks = tile[DimClass::k];
  for (std::int64_t row = 0; row < rows.size; ++row) {
    for (std::int64_t k = 0, size; k < ks.size; k += size) {
      size = std::min(ks.size - k, pack_.columns_left(tile, k));
      copy_line(tensor_ + rows_[rows.begin + row], ks.begin + k, size,
                buffer_ + pack_.offset(tile, row, k));
    }
  }
}

// Neighbours in the tensor are `apart` steps along k from each other, so whole strips of that many
// steps are the rows of a matrix that is to be transposed.
template <class T>
void Packer<T>::copy_line(const T* from, std::int64_t k, std::int64_t size, T* to) {
  const std::int64_t apart = pack_.apart, end = k + size;
  if (apart == 1) {
    for (std::int64_t run; k < end; k += run, to += run) {
      run = std::min(k_runs_[k], end - k);
      std::copy_n(from + ks_[k], run, to);
    }
    return;
  }
  while (k < end) {
    const std::int64_t* const ks = k_table_ + k;
    std::int64_t strips = 0;
    if (k % apart == 0) {
      while (strips < pack_.strips && k + (strips + 1) * apart <= end &&
             ks[strips * apart] == ks[0] + strips) {
        ++strips;
      }
    }
    if (strips < 2) {
      const std::int64_t count = std::min(apart - k % apart, end - k);
      for (std::int64_t i = 0; i < count; ++i) to[i] = from[ks[i]];
      k += count, to += count;
      continue;
    }
    places_.clear();
    for (std::int64_t s = 0; s < strips; ++s) places_.push_back(s * apart);
    constexpr std::int64_t step = line_elements<T>;
    for (std::int64_t i = 0; i < apart; i += step) {
      const bool more = i + 2 * step <= apart;
      transpose_(std::min(step, apart - i), strips, {from, ks + i},
                 {from, ks + (more ? i + step : i)}, to + i, places_.data());
    }
    k += strips * apart, to += strips * apart;
  }
}

// Zeros behind the last rows.
template <class T>
void Packer<T>::pad() const {
  for (const Padding& p : to_pad_) {
    T* to = buffer_ + p.destination;
    for (std::int64_t c = 0; c < p.columns; ++c, to += pack_.panel) {
      std::fill(to + p.rows, to + pack_.panel, T{0});
    }
  }
}

template class Packer<float>;
template class Packer<double>;

}  // namespace tcsim
