// One operand of an execution: its tensor, its packed copy where the schedule has one, and where a
// kernel call finds its rows.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/schedule/plan.hpp"
#include "kernels/fetch_ahead.hpp"
#include "kernels/pack.hpp"

namespace tcsim {

// Rows of an operand as a kernel reads them: neighbours in memory, columns of k `step` apart.
template <class T>
struct Panel {
  const T* first;
  std::int64_t step;
};

template <class T>
class Operand {
 public:
  // `group` runs over its rows, m for the left and n for the right one. A kernel may read up to
  // `more` rows behind the last one.
  Operand(const Plan& plan, TensorId tensor, DimClass group, std::int64_t more, T* buffer);

  void read(const T* tensor);
  bool packed() const { return packer_.has_value(); }
  TensorId id() const { return id_; }
  void pack(const Tile& tile);

  // The rows at `offset` of the buffer, if it is packed.
  Panel<T> in_buffer(std::int64_t offset) const { return {buffer_ + offset, panel_}; }
  // Rows of a call where the schedule leaves the tensor in place: themselves if the kernel reads
  // exactly them (`exactly`), they are neighbours and the columns evenly apart; else a copy, which
  // holds until other rows are asked for.
  Panel<T> in_place(Range rows, Range ks, std::int64_t batch, bool exactly);
  // Fetches some of what the next pack will read.
  void fetch(std::int64_t lines) {
    if (ahead_) ahead_->fetch(lines);
  }

 private:
  const Plan& plan_;
  TensorId id_;
  DimClass group_;
  std::int64_t more_, panel_;
  const T* tensor_ = nullptr;
  T* buffer_;
  std::optional<Packer<T>> packer_;
  std::optional<FetchAhead<T>> ahead_;
  // In place only: from each row on, how many lie side by side; from each column on, how many are
  // evenly apart.
  std::vector<std::int64_t> row_runs_, even_columns_;
  std::vector<T> copy_;
  std::array<std::int64_t, 5> copied_{-1, -1, -1, -1, -1};  // rows, ks, batch of the copy
};

extern template class Operand<float>;
extern template class Operand<double>;

}  // namespace tcsim
