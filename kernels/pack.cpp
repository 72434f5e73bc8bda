#include "kernels/pack.hpp"

#include <cstring>

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
      k_runs_(contiguous_runs(ks_, plan.extent(DimClass::k))) {}

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
  const std::int64_t panel = pack_.panel;
  const auto count = static_cast<std::int64_t>(blocks.size());
  thread_local std::vector<T> columns;  // block by block
  columns.assign(static_cast<std::size_t>(count * panel), 0);
  T* const to = columns.data();
  const PackBlock& first = blocks.front();
  const bool side_by_side = neighbours(blocks);
  for (std::int64_t p = 0; p < first.k_size; ++p) {
    if (side_by_side) {
      // Rows lie far apart; hardware does not see the next column's coming.
      const bool more = p + 1 < first.k_size;
      for (std::int64_t r = 0; r < first.rows; ++r) {
        const T* from = tensor + rows_[first.row + r] + ks_[first.k + p];
        if (more) {
          const T* next = tensor + rows_[first.row + r] + ks_[first.k + p + 1];
          for (std::int64_t b = 0; b < count; b += 64 / sizeof(T)) __builtin_prefetch(next + b);
        }
        for (std::int64_t b = 0; b < count; ++b) to[b * panel + r] = from[b];
      }
    } else {
      for (std::int64_t b = 0; b < count; ++b) {
        const PackBlock& block = blocks[static_cast<std::size_t>(b)];
        const T* from = tensor + ks_[block.k + p];
        for (std::int64_t r = 0; r < block.rows; ++r)
          to[b * panel + r] = from[rows_[block.row + r]];
      }
    }
    for (std::int64_t b = 0; b < count; ++b) {
      std::memcpy(buffer + blocks[static_cast<std::size_t>(b)].destination + p * panel,
                  to + b * panel, static_cast<std::size_t>(panel) * sizeof(T));
    }
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

// The source runs along k: read each row through, so that a line is used up while it is in L1.
template <class T>
void Packer<T>::transpose(const PackBlock& block, const T* tensor, T* to) const {
  const std::int64_t panel = pack_.panel;
  // The blocks after this one go on where its rows end. Hardware fetches ahead for some rows at a
  // time only: 24 rows of doubles came 1.4 times as fast with help, 8 rows no faster.
  const bool many_streams = panel > 8;
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const T* from = tensor + rows_[block.row + r] + ks_[block.k];
    if (many_streams) __builtin_prefetch(from + 2 * block.k_size);
    for (std::int64_t p = 0; p < block.k_size; ++p) to[p * panel + r] = from[p];
  }
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
