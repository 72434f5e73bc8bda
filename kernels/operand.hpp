// One operand of an execution: its tensor, its packed copy if the schedule has one, and where a
// kernel call finds its rows. Of the right operand, rows are what the contraction calls columns.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/alike.hpp"
#include "kernels/pack.hpp"

namespace tcsim {

template <class T>
class Operand {
 public:
  // `group` runs over its rows, m for the left and n for the right one. A kernel may read up to
  // `more` rows behind the last one.
  Operand(const Plan& plan, TensorId tensor, DimClass group, std::int64_t more, T* buffer);

  void read(const T* tensor);
  bool packed() const { return packer_.has_value(); }
  TensorId id() const { return id_; }
  const T* buffer() const { return buffer_; }  // of the packed copy
  void pack(const Tile& tile);

  // Before the calls of a block: where along k and in the batch all of them are. (A pair by value
  // would be put together in memory, see Executor::add.)
  void at(const Interval& ks, std::int64_t batch);

  // Whether kernels can read it along k as it lies: a copy always, the tensor itself where its
  // places are evenly apart in stretches that are long enough.
  bool follows_k() const { return packed() || long_stretches_; }
  // In place only: how far places along k usually are from one to the next; from place k of the
  // block on, how many are so far apart, one at least; and how many elements place k is further
  // than that from the one before it.
  std::int64_t step() const { return step_; }
  std::int64_t k_run(std::int64_t k) const {
    const std::int64_t run = k_runs_[ks_.begin + k];
    return run == 1 || place_at(k + 1) - place_at(k) == step_ ? run : 1;
  }
  std::int64_t jump(std::int64_t k) const { return place_at(k) - place_at(k - 1) - step_; }
  // Whether vectors can run along k: a kernel reads it as it lies, in stretches of neighbours, or
  // from micropanels of one row.
  bool is_along_k() const {
    return packed() ? panel_ == 1 : long_stretches_ && (step_ == 1 || ks_.size == 1);
  }
  // How many rows from this one on a kernel can read without a copy.
  std::int64_t run(std::int64_t row) const {
    return packed() ? panel_ : long_stretches_ ? row_runs_[row] : 0;
  }
  // How many tiles of so many rows, from `row` on and up to `most`, it can read one after the
  // other: in place they begin at one distance from one to the next.
  std::int64_t tiles(std::int64_t row, std::int64_t rows, std::int64_t most) const;
  // Whether all of them lie at one distance from one to the next: in the buffer they always do.
  bool is_even(Interval rows) const { return packed() || run(rows.begin) >= rows.size; }
  // The rows from `row` on, as a kernel reads them. `offset`: where they are in the buffer, if
  // packed. (Not to be handed on in memory, see Executor::add.)
  [[gnu::always_inline]] Panel<T> panel(std::int64_t row, std::int64_t offset) const {
    if (packed()) return {buffer_ + offset, panel_};
    const bool one = neighbours_ || row_runs_[row] == 1;
    return {here_ + row_offset(row), step_, one ? 1 : row_offset(row + 1) - row_offset(row)};
  }
  // The same row's first element.
  const T* row(std::int64_t row, std::int64_t offset) const {
    return packed() ? buffer_ + offset : here_ + row_offset(row);
  }
  // Of one place along k and of the batch: where rows begin, and where a row is from there, `after`
  // rows behind the first one of the panel that begins at `offset` in the buffer, if packed.
  const T* origin(std::int64_t batch, std::int64_t offset) const {
    return packed() ? buffer_ + offset : tensor_ + plan_.offset(id_, DimClass::batch, batch);
  }
  std::int64_t place(std::int64_t row, std::int64_t after) const {
    return packed() ? after : row_table_[row];
  }
  // A row's elements at the block's places along k; `offset`: where the panel of `first` begins in
  // the buffer, if packed.
  struct AlongK {
    const T* row;
    const std::int64_t* ks;  // offsets of the places from `begin` on, or null: `step` apart
    std::int64_t begin, step;
    T operator[](std::int64_t k) const { return row[ks ? ks[k] - begin : k * step]; }
  };
  AlongK along_k(std::int64_t first, std::int64_t row, std::int64_t offset) const {
    if (packed()) return {buffer_ + offset + (row - first), nullptr, 0, panel_};
    return {here_ + row_table_[row], k_table_ + ks_.begin, first_place_, 0};
  }
  // The lines of rows that are soon read in place, those that there are, `kc` places from the k-th
  // of the block on. None where they are not neighbours.
  void lines(Interval rows, std::int64_t k, std::int64_t kc, Fetch<T>& fetch) const;
  // The first line of each of these rows at the last place along k, where they are evenly apart.
  void last_lines(Interval rows, Fetch<T>& fetch) const;
  // Where the elements of these rows at the places `ks` begin, if they are neighbours and in place;
  // null otherwise.
  const T* neighbours(Interval rows, Interval ks) const;
  // A copy of any rows. It lasts until the next copy.
  Panel<T> copy(Interval rows);
  // Behind the last row, or the last one in the buffer.
  std::int64_t end() const { return packed() ? packed_end_ : extent_; }
  // Whether rows are as far apart as others; in a copy all are.
  bool lies_alike(Interval a, Interval b) const { return packed() || lie_alike(row_table_, a, b); }
  // From the rows of a call to those of the call for the rows behind them, in elements; 0 where
  // there are none.
  std::int64_t to_next(Interval rows) const {
    const std::int64_t next = rows.begin + rows.size;
    if (next >= end()) return 0;
    return packed() ? ks_.size * panel_ : row_offset(next) - row_offset(rows.begin);
  }

 private:
  // In place only: the offset of the block's k-th place, and how far it is from the first one's.
  std::int64_t place_at(std::int64_t k) const { return (*all_ks_)[ks_.begin + k]; }
  // What is looked up here and there, as the first of many rows that are neighbours, is found in
  // short tables. What goes from one entry to the next reads the long one.
  std::int64_t row_offset(std::int64_t row) const {
    return neighbours_ ? (*rows_)[row] : row_table_[row];
  }
  std::int64_t from_first(std::int64_t k) const { return place_at(k) - first_place_; }

  const Plan& plan_;
  TensorId id_;
  DimClass group_;
  std::int64_t more_, panel_, extent_;
  const T* tensor_ = nullptr;
  T* buffer_;
  std::optional<Packer<T>> packer_;
  std::int64_t packed_end_ = 0;
  // In place only. From each row on, how many lie as a kernel reads them: rows of the left operand
  // as neighbours; columns of the right one, and rows along k, evenly apart.
  const Offsets* rows_ = nullptr;
  const std::int64_t* row_table_ = nullptr;
  const Offsets* all_ks_ = nullptr;
  const std::int64_t* k_table_ = nullptr;
  bool neighbours_ = false;  // of row_runs_
  Runs row_runs_;
  Runs k_runs_;  // evenly apart
  // Of the present block.
  Interval ks_;
  std::int64_t batch_ = 0, step_ = 0;
  bool long_stretches_ = false;
  std::int64_t first_place_ = 0;  // place_at(0)
  const T* here_ = nullptr;       // row 0 at the first place along k
  std::vector<T> copy_;
  std::array<std::int64_t, 5> copied_{-1, -1, -1, -1, -1};  // rows, ks, batch of the copy
};

extern template class Operand<float>;
extern template class Operand<double>;

}  // namespace tcsim
