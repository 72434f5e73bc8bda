#include "kernels/pack.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "kernels/shapes.hpp"

namespace tcsim {

namespace {

template <class T>
constexpr std::int64_t line = 64 / sizeof(T);

// `count` neighbours. The panels of vector kernels are constants, so that a column is a few vector
// moves and not a call.
template <class T>
[[gnu::always_inline]] inline void copy(const T* from, std::int64_t count, T* to) {
  switch (count) {
    case 4:
      std::memcpy(to, from, 4 * sizeof(T));
      return;
    case 6:
      std::memcpy(to, from, 6 * sizeof(T));
      return;
    case 8:
      std::memcpy(to, from, 8 * sizeof(T));
      return;
    case 16:
      std::memcpy(to, from, 16 * sizeof(T));
      return;
    case 24:
      std::memcpy(to, from, 24 * sizeof(T));
      return;
    case 48:
      std::memcpy(to, from, 48 * sizeof(T));
      return;
    default:
      for (std::int64_t r = 0; r < count; ++r) to[r] = from[r];
  }
}

// Into the second cache: as many lines can be on their way there as memory needs to be busy; to the
// first one half as many.
template <class T>
[[gnu::always_inline]] inline void fetch_lines(const T* from, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += line<T>) __builtin_prefetch(from + i, 0, 2);
}

}  // namespace

template <class T>
Packer<T>::Packer(const Plan& plan, const PackPlan& pack)
    : plan_(plan),
      pack_(pack),
      rows_(plan.offsets(pack.tensor, pack.rows)),
      ks_(plan.offsets(pack.tensor, DimClass::k)),
      row_runs_(contiguous_runs(rows_, plan.extent(pack.rows))),
      k_runs_(contiguous_runs(ks_, plan.extent(DimClass::k))),
      transpose_(transpose_code<T>()) {
  for (std::int64_t p = 0; p < pack.k_chunk; ++p) panel_columns_.push_back(p * pack.panel);
}

template <class T>
void Packer<T>::operator()(const Tile& tile, const T* tensor, T* buffer) {
  tensor_ = tensor + plan_.offset(pack_.tensor, DimClass::batch, tile[at(DimClass::batch)].begin);
  buffer_ = buffer;
  piece_.blocks.clear();
  for_each_block(pack_, tile, [&](std::span<const PackBlock> blocks) {
    next_.blocks.assign(blocks.begin(), blocks.end());
    next_.kind = kind_of(blocks);
    fill(piece_, next_);
    std::swap(piece_, next_);
  });
  next_.blocks.clear();
  fill(piece_, next_);
}

template <class T>
typename Packer<T>::Kind Packer<T>::kind_of(std::span<const PackBlock> blocks) const {
  const PackBlock& first = blocks.front();
  if (row_runs_[static_cast<std::size_t>(first.row)] >= first.rows) return Kind::rows;
  if (blocks.size() > 1) return neighbours(blocks) ? Kind::side_by_side : Kind::rows;
  return k_runs_[static_cast<std::size_t>(first.k)] >= first.k_size ? Kind::columns : Kind::rows;
}

// Whether every row and column of the blocks lies side by side in memory, block after block: the
// blocks differ by whole strips of one group, whose other places are as far apart in each, and the
// first places are neighbours.
template <class T>
bool Packer<T>::neighbours(std::span<const PackBlock> blocks) const {
  const PackBlock& first = blocks.front();
  const auto within = [&](const PackBlock& block) {
    return (pack_.along_rows ? block.row : block.k) % pack_.apart;
  };
  const std::int64_t place = within(first);
  if (place + (pack_.along_rows ? first.rows : first.k_size) > pack_.apart) return false;
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    const PackBlock& block = blocks[b];
    const std::int64_t distance = rows_[block.row] - rows_[first.row] + ks_[block.k] - ks_[first.k];
    if (block.rows != first.rows ||
        (pack_.along_rows ? block.k != first.k : block.row != first.row) ||
        within(block) != place || distance != static_cast<std::int64_t>(b)) {
      return false;
    }
  }
  return true;
}

template <class T>
void Packer<T>::fill(const Piece& piece, const Piece& next) {
  const std::int64_t columns = piece.blocks.empty() ? 0 : piece.blocks.front().k_size;
  const std::int64_t next_columns = next.blocks.empty() ? 0 : next.blocks.front().k_size;
  if (columns > 0 && piece.kind == Kind::side_by_side) {
    places_.clear();
    for (const PackBlock& block : piece.blocks) places_.push_back(block.destination);
  }
  for (std::int64_t p = 0; p < columns; ++p) {
    if (p < next_columns) fetch(next, p);
    switch (piece.kind) {
      case Kind::rows:
        copy_rows(piece, p);
        break;
      case Kind::columns: {
        if (p % line<T> != 0) break;
        const PackBlock& block = piece.blocks.front();
        T* const to = buffer_ + block.destination + p * pack_.panel;
        transpose_(block.rows, std::min(line<T>, columns - p), tensor_ + ks_[block.k + p],
                   rows_ + block.row, to, panel_columns_.data());
        break;
      }
      case Kind::side_by_side: {
        const PackBlock& first = piece.blocks.front();
        transpose_(first.rows, static_cast<std::int64_t>(piece.blocks.size()),
                   tensor_ + ks_[first.k + p], rows_ + first.row, buffer_ + p * pack_.panel,
                   places_.data());
        break;
      }
    }
  }
  for (std::int64_t p = columns; p < next_columns; ++p) fetch(next, p);
  for (const PackBlock& block : piece.blocks) {
    if (block.rows == pack_.panel) continue;
    T* const to = buffer_ + block.destination;
    for (std::int64_t p = 0; p < columns; ++p) {
      std::fill(to + p * pack_.panel + block.rows, to + (p + 1) * pack_.panel, T{0});
    }
  }
}

template <class T>
void Packer<T>::copy_rows(const Piece& piece, std::int64_t column) {
  for (const PackBlock& block : piece.blocks) {
    const T* const from = tensor_ + ks_[block.k + column];
    T* const to = buffer_ + block.destination + column * pack_.panel;
    for (std::int64_t r = 0, run; r < block.rows; r += run) {
      const std::int64_t row = block.row + r;
      run = std::min(row_runs_[static_cast<std::size_t>(row)], block.rows - r);
      copy(from + rows_[row], run, to + r);
    }
  }
}

// Asks for what one column of a piece needs first.
template <class T>
void Packer<T>::fetch(const Piece& piece, std::int64_t column) const {
  asm volatile("");  // GCC 12 drops calls of a function that does nothing but prefetch
  const PackBlock& first = piece.blocks.front();
  const T* const from = tensor_ + ks_[first.k + column];
  switch (piece.kind) {
    case Kind::rows:
      for (const PackBlock& block : piece.blocks) {
        const std::int64_t run = row_runs_[static_cast<std::size_t>(block.row)];
        fetch_lines(tensor_ + ks_[block.k + column] + rows_[block.row], std::min(run, block.rows));
      }
      break;
    case Kind::columns:
      if (column % line<T> != 0) break;
      for (std::int64_t r = 0; r < first.rows; ++r) fetch_lines(from + rows_[first.row + r], 1);
      break;
    case Kind::side_by_side:
      for (std::int64_t r = 0; r < first.rows; ++r) {
        fetch_lines(from + rows_[first.row + r], static_cast<std::int64_t>(piece.blocks.size()));
      }
      break;
  }
}

template class Packer<float>;
template class Packer<double>;

}  // namespace tcsim
