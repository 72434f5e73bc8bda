#include "core/model/tile_lines.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tcsim {

TileLines::TileLines(const Contraction& contraction, const Groups& groups, TensorId t, double line)
    : line_(line) {
  for (DimId d : contraction.memory_order(t)) {
    Dim dim{DimClass::m, 1, static_cast<double>(contraction.dim(d).extent),
            static_cast<double>(contraction.stride(t, d).value())};
    for (DimClass g : all_dim_classes) {
      const auto place = std::ranges::find(groups[g], d);
      if (place == groups[g].end()) continue;
      dim.group = g;
      for (auto before = groups[g].begin(); before != place; ++before) {
        dim.before *= static_cast<double>(contraction.dim(*before).extent);
      }
    }
    indexed_[dim.group] = true;
    for (double x :
         {static_cast<double>(index(dim.group)), dim.before, dim.extent, dim.stride, line_}) {
      shape_ = (shape_ ^ std::hash<double>()(x)) * 0x100000001b3;  // FNV-1a
    }
    dims_.push_back(dim);
  }
}

TileLines::Runs TileLines::runs(const Extents& tile) const {
  // Beginnings of runs differ by multiples of these strides, so they are multiples of their
  // greatest common divisor with a line, which is a power of two.
  Runs runs{1, line_, true};
  const auto begins_at_multiples_of = [&](double stride) {
    const auto s = static_cast<std::int64_t>(stride);
    const auto divisor = stride == static_cast<double>(s) ? static_cast<double>(s & -s) : 1;
    runs.aligned_to = std::min(runs.aligned_to, divisor);
  };
  bool& whole = runs.everything;
  for (const Dim& d : dims_) {
    const double covered = std::clamp(tile[d.group] / d.before, 1.0, d.extent);
    if (!whole) {
      begins_at_multiples_of(d.stride);
      continue;
    }
    runs.length *= covered;
    if (covered < d.extent) {
      whole = false;
      begins_at_multiples_of(covered * d.stride);
    }
  }
  return runs;
}

double TileLines::run(const Extents& tile) const { return runs(tile).length; }

double TileLines::lines(const Extents& tile) const {
  double elements = 1;
  for (DimClass g : all_dim_classes) {
    if (indexed_[g]) elements *= tile[g];
  }
  const Runs r = runs(tile);
  if (r.everything) return std::ceil(elements / line_);
  const double per_run = std::max(1.0, (r.length + line_ - r.aligned_to) / line_);
  double lines = std::min(elements, elements / r.length * per_run);
  // Runs closer than a line share lines: no more than the span of the inner dimensions has.
  double span = 1, inside = 1;
  for (const Dim& d : dims_) {
    const double covered = std::clamp(tile[d.group] / d.before, 1.0, d.extent);
    span += (covered - 1) * d.stride;
    inside *= covered;
    lines = std::min(lines, elements / inside * (span + line_ - 1) / line_);
  }
  return lines;
}

std::vector<std::int64_t> TileLines::beginnings(const Extents& tile) const {
  const Runs r = runs(tile);
  if (r.everything || r.aligned_to >= line_) return {0};
  constexpr double most = 4;
  const double step = std::max(r.aligned_to, line_ / most);
  std::vector<std::int64_t> all;
  for (double b = 0; b < line_; b += step) all.push_back(static_cast<std::int64_t>(b));
  return all;
}

std::vector<std::int64_t> TileLines::offsets(DimClass group, double extent) const {
  std::vector<const Dim*> dims;  // the fastest of the group first
  for (const Dim& d : dims_) {
    if (d.group == group) dims.push_back(&d);
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim* a, const Dim* b) { return a->before < b->before; });
  const auto count = static_cast<std::size_t>(extent);
  std::vector<std::int64_t> all{0};
  all.reserve(count);
  for (const Dim* d : dims) {
    const std::size_t inner = all.size();
    const auto stride = static_cast<std::int64_t>(d->stride);
    for (std::int64_t i = 1; i < static_cast<std::int64_t>(d->extent) && all.size() < count; ++i) {
      for (std::size_t j = 0; j < inner && all.size() < count; ++j) {
        all.push_back(all[j] + i * stride);
      }
    }
  }
  return all;
}

}  // namespace tcsim
