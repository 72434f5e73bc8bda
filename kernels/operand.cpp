#include "kernels/operand.hpp"

#include <algorithm>

#include "kernels/vector_code.hpp"

namespace tcsim {

namespace {

// Places along k that a stretch has on average, or a copy is better. Source: measured on an AMD
// EPYC (Zen 5): 32x14 takes 395 cycles for three stretches of 9, and 397 for one of 27.
constexpr std::int64_t short_stretch = 3;

}  // namespace

template <class T>
Operand<T>::Operand(const Plan& plan, TensorId tensor, DimClass group, std::int64_t more, T* buffer)
    : plan_(plan),
      id_(tensor),
      group_(group),
      more_(more),
      panel_(group == DimClass::m ? plan.mr() : plan.nr()),
      extent_(plan.extent(group)),
      buffer_(buffer) {
  if (const PackPlan* pack = plan.pack(tensor)) {
    packer_.emplace(plan, *pack);
    return;
  }
  rows_ = &plan.offsets(tensor, group);
  row_table_ = plan.offset_table(tensor, group);
  all_ks_ = &plan.offsets(tensor, DimClass::k);
  k_table_ = plan.offset_table(tensor, DimClass::k);
  neighbours_ = group == DimClass::m && !plan.along_k();
  row_runs_ = neighbours_ ? Runs::of_neighbours(*rows_) : Runs::of_even(*rows_);
  k_runs_ = Runs::of_even(*all_ks_);
}

template <class T>
void Operand<T>::read(const T* tensor) {
  tensor_ = tensor;
  ks_ = {};
  copied_.fill(-1);
}

template <class T>
void Operand<T>::pack(const Tile& tile) {
  (*packer_)(tile, tensor_, buffer_);
  packed_end_ = tile[group_].begin + tile[group_].size;
}

template <class T>
void Operand<T>::at(const Interval& ks, std::int64_t batch) {
  const bool same = ks == ks_;
  if (same && batch == batch_) return;
  ks_ = ks;
  batch_ = batch;
  if (packed()) return;
  first_place_ = place_at(0);
  here_ = tensor_ + plan_.offset(id_, DimClass::batch, batch) + first_place_;
  if (same) return;
  step_ = ks.size == 1 ? 0 : from_first(1);
  std::int64_t stretches = 0;
  for (std::int64_t k = 0; k < ks.size; k += k_run(k)) ++stretches;
  long_stretches_ = stretches == 1 || ks.size >= stretches * short_stretch;
}

template <class T>
std::int64_t Operand<T>::tiles(std::int64_t row, std::int64_t rows, std::int64_t most) const {
  if (packed() || run(row) >= most * rows) return most;
  const std::int64_t together = run(row) / rows;
  if (together != 1) return together;
  // Runs of as many rows as a tile has follow one another evenly up to the end of a dimension.
  const std::vector<Digit>& digits = rows_->digits();
  if (digits.size() < 2 || digits.front().extent != rows || row % rows != 0) return 1;
  return std::min(most, digits[1].extent - row / rows % digits[1].extent);
}

template <class T>
void Operand<T>::lines(Interval rows, std::int64_t k, std::int64_t kc, Fetch<T>& fetch) const {
  const std::int64_t size = std::min(rows.size, extent_ - rows.begin);
  fetch.runs = 0;
  if (packed() || !long_stretches_ || step_ != 1 || size <= 0) return;
  const std::int64_t first = row_offset(rows.begin);
  const std::int64_t apart = size > 1 ? row_offset(rows.begin + 1) - first : 0;
  const bool one_run = size > 1 && apart <= kc;
  fetch.first = here_ + first + from_first(k);
  fetch.runs = one_run ? 1 : size;
  fetch.lines = (one_run ? (size - 1) * apart + kc : kc) / line_elements<T> + 1;
  fetch.apart = one_run ? 0 : apart;
  fetch.onwards = 0;
}

template <class T>
void Operand<T>::last_lines(Interval rows, Fetch<T>& fetch) const {
  const std::int64_t size = std::min(rows.size, extent_ - rows.begin);
  fetch.runs = 0;
  if (packed() || size <= 0) return;
  const std::int64_t even = std::min(size, run(rows.begin));
  const std::int64_t first = row_offset(rows.begin);
  fetch.first = here_ + first + from_first(ks_.size - 1);
  fetch.runs = even;
  fetch.lines = 1;
  fetch.apart = even > 1 ? row_offset(rows.begin + 1) - first : 0;
}

template <class T>
const T* Operand<T>::neighbours(Interval rows, Interval ks) const {
  if (packed() || row_runs_[rows.begin] < rows.size) return nullptr;
  const std::int64_t first = (*all_ks_)[ks.begin];
  const bool even = ks.size < 2 ||
                    (k_runs_[ks.begin] >= ks.size && (*all_ks_)[ks.begin + 1] - first == rows.size);
  if (!even) return nullptr;
  return tensor_ + plan_.offset(id_, DimClass::batch, batch_) + row_offset(rows.begin) + first;
}

template <class T>
Panel<T> Operand<T>::copy(Interval rows) {
  const std::array wanted{rows.begin, rows.size, ks_.begin, ks_.size, batch_};
  if (copied_ != wanted) {
    copied_ = wanted;
    copy_.assign(static_cast<std::size_t>(rows.size * ks_.size + more_), T{0});
    const std::int64_t* const offsets = row_table_ + rows.begin;
    const std::int64_t* const ks = k_table_ + ks_.begin;
    for (std::int64_t p = 0; p < ks_.size; ++p) {
      const T* from = here_ + (ks[p] - first_place_);
      T* to = copy_.data() + p * rows.size;
      for (std::int64_t r = 0; r < rows.size; ++r) to[r] = from[offsets[r]];
    }
  }
  return {copy_.data(), rows.size};
}

template class Operand<float>;
template class Operand<double>;

}  // namespace tcsim
