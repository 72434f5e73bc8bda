// Packs an operand whose places along k are neighbours in runs: `b` of k = bc in A[b,a,c]. Each run
// of a few rows is a small matrix to transpose, and what says where it lies must not take longer
// than that. So runs and rows are listed by themselves, and two loops go through both.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

template <class T>
class ColumnPacker {
 public:
  // `pack` belongs to `plan`. No two rows may be neighbours. `columns`: where a line's worth of
  // columns of a micropanel begins. All must outlive this.
  ColumnPacker(const Plan& plan, const PackPlan& pack, const std::int64_t* columns);

  // Copies what `tile` holds of `tensor` (its place of the batch) into `buffer`. False, and nothing
  // done, where neither order of the two loops is that of memory.
  bool operator()(const Tile& tile, const T* tensor, T* buffer);

 private:
  // Neighbours in the tensor and in the buffer.
  struct Run {
    std::int64_t k, size;  // counted from the beginning of the tile
    std::int64_t begin;    // in the tensor, beside its rows
  };
  // A line's worth of rows of a micropanel, or its last ones.
  struct RowPiece {
    std::int64_t row, size;  // counted from the beginning of the tile
    std::int64_t begin;      // in the tensor, beside its places along k
  };
  // A step of the work: at most a line's worth of a run.
  struct Place {
    std::size_t outer = 0, inner = 0;
    std::int64_t column = 0;
  };

  void list(const Tile& tile);
  bool choose_order();
  const Run& run_at(const Place& p) const { return runs_[runs_outside_ ? p.outer : p.inner]; }
  const RowPiece& row_piece_at(const Place& p) const {
    return row_pieces_[runs_outside_ ? p.inner : p.outer];
  }
  bool advance(Place& place) const;
  Rows<T> source(const Place& place) const;
  void pad(const Tile& tile, T* buffer) const;

  const PackPlan& pack_;
  const Offsets& rows_;
  const std::int64_t* row_table_;
  const Offsets& ks_;
  Runs k_runs_;  // of neighbours
  const std::int64_t* columns_;
  Transpose<T> transpose_;
  // The work in hand.
  const T* tensor_ = nullptr;
  std::int64_t first_row_ = 0;
  std::vector<Run> runs_;
  std::vector<RowPiece> row_pieces_;
  bool runs_outside_ = true;
};

extern template class ColumnPacker<float>;
extern template class ColumnPacker<double>;

}  // namespace tcsim
