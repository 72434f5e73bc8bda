#include "kernels/operand.hpp"

#include <algorithm>

namespace tcsim {

namespace {

// From each entry of an offset table on, how many have the same distance from one to the next.
std::vector<std::int64_t> even_runs(const std::int64_t* offsets, std::int64_t count) {
  std::vector<std::int64_t> runs(static_cast<std::size_t>(count), 1);
  for (std::int64_t i = count - 2; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const bool even =
        i + 2 < count && offsets[i + 1] - offsets[i] == offsets[i + 2] - offsets[i + 1];
    runs[at] = even ? runs[at + 1] + 1 : 2;
  }
  return runs;
}

}  // namespace

template <class T>
Operand<T>::Operand(const Plan& plan, TensorId tensor, DimClass group, std::int64_t more, T* buffer)
    : plan_(plan),
      id_(tensor),
      group_(group),
      more_(more),
      panel_(group == DimClass::m ? plan.mr() : plan.nr()),
      buffer_(buffer) {
  if (const PackPlan* pack = plan.pack(tensor)) {
    packer_.emplace(plan, *pack);
    ahead_.emplace(plan, *pack);
    return;
  }
  row_runs_ = contiguous_runs(plan.offsets(tensor, group), plan.extent(group));
  even_columns_ = even_runs(plan.offsets(tensor, DimClass::k), plan.extent(DimClass::k));
}

template <class T>
void Operand<T>::read(const T* tensor) {
  tensor_ = tensor;
  copied_.fill(-1);
}

template <class T>
void Operand<T>::pack(const Tile& tile) {
  (*packer_)(tile, tensor_, buffer_);
  ahead_->after(tile, tensor_);
}

template <class T>
Panel<T> Operand<T>::in_place(Range rows, Range ks, std::int64_t batch, bool exactly) {
  const T* tensor = tensor_ + plan_.offset(id_, DimClass::batch, batch);
  const std::int64_t *row = plan_.offsets(id_, group_), *k = plan_.offsets(id_, DimClass::k);
  const auto row_at = [&](std::int64_t r) { return row[rows.begin + r]; };
  const auto k_at = [&](std::int64_t p) { return k[ks.begin + p]; };
  const bool side_by_side =
      rows.size == 1 || row_runs_[static_cast<std::size_t>(rows.begin)] >= rows.size;
  const bool even = ks.size == 1 || even_columns_[static_cast<std::size_t>(ks.begin)] >= ks.size;
  if (exactly && side_by_side && even) {
    return {tensor + row_at(0) + k_at(0), ks.size == 1 ? 0 : k_at(1) - k_at(0)};
  }
  const std::array wanted{rows.begin, rows.size, ks.begin, ks.size, batch};
  if (copied_ != wanted) {
    copied_ = wanted;
    copy_.assign(static_cast<std::size_t>(rows.size * ks.size + more_), T{0});
    for (std::int64_t p = 0; p < ks.size; ++p) {
      const T* from = tensor + k_at(p);
      T* to = copy_.data() + p * rows.size;
      for (std::int64_t r = 0; r < rows.size; ++r) to[r] = from[row_at(r)];
    }
  }
  return {copy_.data(), rows.size};
}

template class Operand<float>;
template class Operand<double>;

}  // namespace tcsim
