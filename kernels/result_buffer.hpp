// A buffer for results whose rows are not neighbours in C (core/schedule/result_regions.hpp):
// kernels write them there, region by region, with all of a region's sums along k, and each region
// then goes to C by transposing.
//
// The buffer is the executor's own. The plan, its model and its simulation have the kernels'
// results in C, where a line is written as often as it is here while it stays in a cache.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"
#include "core/schedule/result_regions.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// What a ResultBuffer of a path takes, with its tables, where it has regions.
Bytes result_buffer_memory(const ResultRegions& regions, const Path& path, ElementType type);

template <class T>
class ResultBuffer {
 public:
  // `lanes`: of the kernels' vectors. The plan must outlive it.
  ResultBuffer(const Plan& plan, std::int64_t lanes, Transpose<T> transpose);

  // Where results go by way of it, and in which regions.
  const ResultRegions& regions() const { return regions_; }
  // Calls f(const KernelBlock&) for each region of a block, in the block's order.
  template <class F>
  void for_each_region(const KernelBlock& block, F&& f) const;

  // Results of these groups come from now on. From place(batch) on, row i of the region is
  // row(i) and column j column(j) elements further; tables of theirs begin at rows_from(i) and
  // columns_from(j).
  void begin(const Tile& region);
  const Tile& region() const { return region_; }
  std::int64_t row(std::int64_t i) const { return i - region_[DimClass::m].begin; }
  std::int64_t column(std::int64_t j) const {
    return (j - region_[DimClass::n].begin) * to_next_column_;
  }
  const std::int64_t* rows_from(std::int64_t i) const { return rows_.data() + row(i); }
  const std::int64_t* columns_from(std::int64_t j) const {
    return columns_.data() + (j - region_[DimClass::n].begin);
  }
  T* place(std::int64_t batch) const {
    return buffer_ + (batch - region_[DimClass::batch].begin) * to_next_place_;
  }
  // C = beta C + what has come since begin().
  void end(T* c, T beta);

 private:
  // Rows of the buffer that are columns of neighbours in C: see move().
  struct Piece {
    const T* from = nullptr;
    std::int64_t apart = 0, rows = 0, count = 0;
    T* to = nullptr;
    const std::int64_t* in_c = nullptr;
  };
  void move(const T* from, std::int64_t apart, Interval rows, std::int64_t count, T* to, T beta);
  void move_rows(const T* from, T* to, T beta);
  void write(const Piece& piece, T beta);

  const Plan& plan_;
  const Transpose<T> transpose_;
  const std::int64_t lanes_;
  const ResultRegions regions_;
  const std::int64_t* rows_in_c_ = nullptr;  // offset of each place of m
  Runs runs_;  // of neighbours in C, by column or by place of the batch
  Tile region_{};
  std::vector<std::int64_t> rows_, columns_;  // offsets of those of a region
  std::int64_t to_next_column_ = 0, to_next_place_ = 0;
  std::vector<T> memory_;
  T* buffer_ = nullptr;
  std::vector<std::int64_t> apart_;  // 0, 1, 2... times the distance that they were made for
  std::int64_t apart_by_ = 0;
  Piece asked_;          // that is written next
  std::vector<T> sums_;  // a piece as it lies in C, where it is added to that
  std::vector<std::int64_t> sums_begin_;
};

extern template class ResultBuffer<float>;
extern template class ResultBuffer<double>;

template <class T>
template <class F>
void ResultBuffer<T>::for_each_region(const KernelBlock& block, F&& f) const {
  const Tile& all = *block.tile;
  const DimClass inner = block.rows_inside ? DimClass::m : DimClass::n;
  const DimClass outer = block.rows_inside ? DimClass::n : DimClass::m;
  const RegionOfBlock size =
      region_of_block(all[DimClass::m].size, all[DimClass::n].size, block.row_tile,
                      block.column_tile, block.rows_inside, plan_.contraction().type());
  const std::int64_t inner_step = block.rows_inside ? size.rows : size.columns;
  const std::int64_t outer_step = block.rows_inside ? size.columns : size.rows;
  Tile tile = all;
  KernelBlock region = block;
  region.tile = &tile;
  const std::int64_t kc = all[DimClass::k].size;
  for (std::int64_t o = 0; o < all[outer].size; o += outer_step) {
    tile[outer] = {all[outer].begin + o, std::min(outer_step, all[outer].size - o)};
    for (std::int64_t i = 0; i < all[inner].size; i += inner_step) {
      tile[inner] = {all[inner].begin + i, std::min(inner_step, all[inner].size - i)};
      const std::int64_t row = block.rows_inside ? i : o, column = block.rows_inside ? o : i;
      region.left_offset = block.left_offset + row * kc;
      region.right_offset = block.right_offset + column * kc;
      f(region);
    }
  }
}

}  // namespace tcsim
