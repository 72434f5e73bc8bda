#include "kernels/pack.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/shapes.hpp"

namespace tcsim {

namespace {

// Columns of `panel` contiguous elements. The sizes that vector kernels have are constants, so that
// a column is a few vector moves and not a call.
template <class T, std::int64_t panel>
void copy_columns(const T* from, const std::int64_t* ks, std::int64_t count, T* to) {
  for (std::int64_t p = 0; p < count; ++p) {
    std::memcpy(to + p * panel, from + ks[p], panel * sizeof(T));
  }
}

template <class T>
void copy_columns(const T* from, const std::int64_t* ks, std::int64_t count, std::int64_t panel,
                  T* to) {
  switch (panel) {
    case 4:
      return copy_columns<T, 4>(from, ks, count, to);
    case 6:
      return copy_columns<T, 6>(from, ks, count, to);
    case 8:
      return copy_columns<T, 8>(from, ks, count, to);
    case 16:
      return copy_columns<T, 16>(from, ks, count, to);
    case 24:
      return copy_columns<T, 24>(from, ks, count, to);
    case 48:
      return copy_columns<T, 48>(from, ks, count, to);
    default:
      for (std::int64_t p = 0; p < count; ++p) {
        std::memcpy(to + p * panel, from + ks[p], static_cast<std::size_t>(panel) * sizeof(T));
      }
  }
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
      k_extent_(plan.extent(DimClass::k)),
      transpose_(transpose_code<T>()) {
  for (std::int64_t p = 0; p < pack.k_chunk; ++p) panel_columns_.push_back(p * pack.panel);
}

template <class T>
void Packer<T>::operator()(const Tile& tile, const T* tensor, T* buffer) const {
  tensor += plan_.offset(pack_.tensor, DimClass::batch, tile[at(DimClass::batch)].begin);
  for_each_block(pack_, tile, [&](std::span<const PackBlock> blocks) {
    if (blocks.size() == 1) {
      one(blocks.front(), tensor, buffer);
    } else {
      together(blocks, tensor, buffer);
    }
  });
}

template <class T>
void Packer<T>::one(const PackBlock& block, const T* tensor, T* buffer) const {
  T* to = buffer + block.destination;
  if (row_runs_[static_cast<std::size_t>(block.row)] >= block.rows) {
    copy_rows(block, tensor, to);
  } else if (k_runs_[static_cast<std::size_t>(block.k)] >= block.k_size) {
    transpose(block, tensor, to);
  } else {
    gather(block, tensor, to);
  }
  if (block.rows == pack_.panel) return;
  for (std::int64_t p = 0; p < block.k_size; ++p) {
    for (std::int64_t r = block.rows; r < pack_.panel; ++r) to[p * pack_.panel + r] = 0;
  }
}

// Blocks that read neighbours: each row is read for all blocks into columns that stay in L1, and
// then the columns are written.
template <class T>
void Packer<T>::together(std::span<const PackBlock> blocks, const T* tensor, T* buffer) const {
  if (neighbours(blocks)) return together_side_by_side(blocks, tensor, buffer);
  const std::int64_t panel = pack_.panel;
  const auto count = static_cast<std::int64_t>(blocks.size());
  thread_local std::vector<T> columns;  // block by block
  columns.assign(static_cast<std::size_t>(count * panel), 0);
  T* const to = columns.data();
  for (std::int64_t p = 0; p < blocks.front().k_size; ++p) {
    for (std::int64_t b = 0; b < count; ++b) {
      const PackBlock& block = blocks[static_cast<std::size_t>(b)];
      const T* from = tensor + ks_[block.k + p];
      for (std::int64_t r = 0; r < block.rows; ++r) to[b * panel + r] = from[rows_[block.row + r]];
    }
    for (std::int64_t b = 0; b < count; ++b) {
      std::memcpy(buffer + blocks[static_cast<std::size_t>(b)].destination + p * panel,
                  to + b * panel, static_cast<std::size_t>(panel) * sizeof(T));
    }
  }
}

// Blocks whose elements lie side by side, block after block: for each column a transpose of rows
// that run along the blocks.
template <class T>
void Packer<T>::together_side_by_side(std::span<const PackBlock> blocks, const T* tensor,
                                      T* buffer) const {
  constexpr std::int64_t line = 64 / sizeof(T);
  const std::int64_t panel = pack_.panel;
  const auto count = static_cast<std::int64_t>(blocks.size());
  const PackBlock& first = blocks.front();
  const std::int64_t* rows = rows_ + first.row;
  thread_local std::vector<std::int64_t> places;  // of the blocks in the buffer
  places.clear();
  for (const PackBlock& block : blocks) places.push_back(block.destination);
  for (std::int64_t p = 0; p < first.k_size; ++p) {
    // Rows lie far apart; hardware does not see the next column's coming. It is the next piece's
    // after the last of this one.
    if (first.k + p + 1 < k_extent_) {
      const T* next = tensor + ks_[first.k + p + 1];
      for (std::int64_t r = 0; r < first.rows; ++r) {
        for (std::int64_t b = 0; b < count; b += line) __builtin_prefetch(next + rows[r] + b);
      }
    }
    T* const to = buffer + p * panel;
    transpose_(first.rows, count, tensor + ks_[first.k + p], rows, to, places.data());
    if (first.rows == panel) continue;
    for (std::int64_t place : places) std::fill(to + place + first.rows, to + place + panel, T{0});
  }
}

// Whether every row and column of the blocks lies side by side in memory, block after block.
template <class T>
bool Packer<T>::neighbours(std::span<const PackBlock> blocks) const {
  const PackBlock& first = blocks.front();
  for (std::size_t b = 1; b < blocks.size(); ++b) {
    const PackBlock& block = blocks[b];
    if (block.rows != first.rows) return false;
    const auto distance = static_cast<std::int64_t>(b);
    const std::int64_t rows_apart = rows_[block.row] - rows_[first.row];
    const std::int64_t ks_apart = ks_[block.k] - ks_[first.k];
    if (rows_apart + ks_apart != distance) return false;
    for (std::int64_t r = 1; r < first.rows; ++r) {
      if (rows_[block.row + r] - rows_[first.row + r] != rows_apart) return false;
    }
    for (std::int64_t p = 1; p < first.k_size; ++p) {
      if (ks_[block.k + p] - ks_[first.k + p] != ks_apart) return false;
    }
  }
  return true;
}

// The source runs along the rows.
template <class T>
void Packer<T>::copy_rows(const PackBlock& block, const T* tensor, T* to) const {
  const T* from = tensor + rows_[block.row];
  if (block.rows == pack_.panel) {
    return copy_columns(from, ks_ + block.k, block.k_size, pack_.panel, to);
  }
  for (std::int64_t p = 0; p < block.k_size; ++p) {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      to[p * pack_.panel + r] = from[ks_[block.k + p] + r];
    }
  }
}

// The source runs along k.
template <class T>
void Packer<T>::transpose(const PackBlock& block, const T* tensor, T* to) const {
  const T* from = tensor + ks_[block.k];
  const std::int64_t* rows = rows_ + block.row;
  // The blocks after this one go on where its rows end. Hardware fetches ahead for some rows at a
  // time only: 24 rows of doubles came 1.4 times as fast with help, 8 rows no faster.
  if (pack_.panel > 8) {
    for (std::int64_t r = 0; r < block.rows; ++r) {
      __builtin_prefetch(from + rows[r] + 2 * block.k_size);
    }
  }
  transpose_(block.rows, block.k_size, from, rows, to, panel_columns_.data());
}

template <class T>
void Packer<T>::gather(const PackBlock& block, const T* tensor, T* to) const {
  const std::int64_t panel = pack_.panel;
  const std::int64_t* rows = rows_ + block.row;
  for (std::int64_t p = 0; p < block.k_size; ++p) {
    const T* from = tensor + ks_[block.k + p];
    for (std::int64_t r = 0; r < block.rows; ++r) to[p * panel + r] = from[rows[r]];
  }
}

template class Packer<float>;
template class Packer<double>;

}  // namespace tcsim
