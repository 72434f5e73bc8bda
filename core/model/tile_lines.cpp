#include "core/model/tile_lines.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace tcsim {

namespace {

// So many runs of a tile are sorted, so that those that share lines become one. Source: chosen.
constexpr std::size_t few_runs = 4096;

// Of a tensor that is looked at by itself.
DimClass group_of_axis(std::size_t axes, std::size_t axis) {
  constexpr std::array groups{DimClass::m, DimClass::n, DimClass::k, DimClass::batch};
  return groups[std::min(axes - 1 - axis, groups.size() - 1)];
}

}  // namespace

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
    if (dim.extent > 1) indexed_[dim.group] = true;  // one of one place may be in any group
    for (double x :
         {static_cast<double>(index(dim.group)), dim.before, dim.extent, dim.stride, line_}) {
      shape_ = (shape_ ^ std::hash<double>()(x)) * 0x100000001b3;  // FNV-1a
    }
    dims_.push_back(dim);
  }
  if (contraction.is_plain(t)) {
    merge_neighbours();
    find_neighbours();
  } else {
    add_axes(contraction, t);
  }
}

TileLines::TileLines(std::span<const std::int64_t> extents, double line) : line_(line) {
  double stride = 1;
  ByGroup<double> before{1, 1, 1, 1};
  for (std::size_t axis = extents.size(); axis-- > 0;) {
    const DimClass g = group_of_axis(extents.size(), axis);
    const auto extent = static_cast<double>(extents[axis]);
    dims_.push_back({g, before[g], extent, stride});
    if (extent > 1) indexed_[g] = true;
    for (double x : {static_cast<double>(index(g)), before[g], extent, stride, line_}) {
      shape_ = (shape_ ^ std::hash<double>()(x)) * 0x100000001b3;  // FNV-1a
    }
    before[g] *= extent;
    stride *= extent;
  }
  merge_neighbours();
  find_neighbours();
}

Extents TileLines::box(std::span<const std::int64_t> extents) {
  Extents box{1, 1, 1, 1};
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    box[group_of_axis(extents.size(), axis)] *= static_cast<double>(extents[axis]);
  }
  return box;
}

// Dimensions that follow one another in their group and in memory are one: a tile that ends within
// the inner one goes on with the next place of the outer one. One of extent 1 is none.
void TileLines::merge_neighbours() {
  std::vector<Dim> merged;
  for (const Dim& d : dims_) {
    if (d.extent == 1 && dims_.size() > 1) continue;
    if (!merged.empty()) {
      Dim& inner = merged.back();
      if (d.group == inner.group && d.before == inner.before * inner.extent &&
          d.stride == inner.stride * inner.extent) {
        inner.extent *= d.extent;
        continue;
      }
    }
    merged.push_back(d);
  }
  if (!merged.empty()) dims_ = std::move(merged);
}

// Of each dimension: where it stands in its group once those with smaller strides are taken away.
void TileLines::find_neighbours() {
  for (auto d = dims_.begin(); d != dims_.end(); ++d) {
    d->left_before = d->before;
    for (auto inner = dims_.begin(); inner != d; ++inner) {
      if (inner->group == d->group && inner->before < d->before) d->left_before /= inner->extent;
    }
    d->slowest = std::none_of(d, dims_.end(), [&](const Dim& other) {
      return other.group == d->group && other.before > d->before;
    });
  }
}

void TileLines::add_axes(const Contraction& contraction, TensorId t) {
  const IndexedTensor& tensor = contraction.tensor(t);
  const std::vector<DimId> order = contraction.memory_order(t);
  const auto dim_of = [&](DimId d) {
    return dims_[static_cast<std::size_t>(std::ranges::find(order, d) - order.begin())];
  };
  double stride = 1;
  for (int i : tensor.order) {
    const Affine& index = tensor.axes[static_cast<std::size_t>(i)];
    Axis axis;
    axis.first = dim_of(index.terms.front().dim);
    axis.first_coefficient = index.terms.front().coefficient;
    axis.second = {axis.first.group, 1, 1, 0};
    if (index.terms.size() > 1) {
      axis.second = dim_of(index.terms.back().dim);
      axis.second_coefficient = index.terms.back().coefficient;
    }
    axis.extent = static_cast<double>(tensor.extents[static_cast<std::size_t>(i)]);
    axis.stride = stride;
    stride *= axis.extent;
    shape_ = (shape_ ^ std::hash<double>()(axis.extent)) * 0x100000001b3;
    axes_.push_back(axis);
  }
}

double TileLines::places(const Axis& axis, const Extents& tile) {
  return different_values(axis.first_coefficient, covered(axis.first, tile),
                          axis.second_coefficient, covered(axis.second, tile));
}

// Neighbouring places in pieces. Where the two dimensions interlock in another way, each place is
// taken for a piece.
TileLines::Pieces TileLines::pieces(const Axis& axis, const Extents& tile) {
  const double a = covered(axis.first, tile), b = covered(axis.second, tile);
  const auto by = static_cast<double>(axis.first_coefficient);
  const auto and_by = static_cast<double>(axis.second_coefficient);
  const double all = places(axis, tile), span = by * (a - 1) + and_by * (b - 1) + 1;
  if (all > span - 1e-9) return {1, span, 1};
  if (by == 1) return {b, a, and_by};
  if (and_by == 1) return {a, b, by};
  // Without holes but for those that both strides leave.
  const auto g = static_cast<double>(std::gcd(axis.first_coefficient, axis.second_coefficient));
  if (g > 1 && all > (span - 1) / g + 1 - 1e-9) return {all, 1, g};
  return {all, 1, (span - 1) / (all - 1)};
}

double TileLines::elements(const Extents& tile) const {
  double elements = 1;
  if (overlaps()) {
    for (const Axis& axis : axes_) elements *= places(axis, tile);
    return elements;
  }
  for (DimClass g : all_dim_classes) {
    if (indexed_[g]) elements *= tile[g];
  }
  return elements;
}

std::vector<double> TileLines::steps(DimClass group) const {
  std::vector<double> all;
  const auto add = [&](const Dim& d, std::int64_t indices) {
    const auto n = static_cast<double>(indices);
    if (d.group == group && d.extent > n) all.push_back(d.before * n);
  };
  for (const Dim& d : dims_) add(d, 1);
  for (const Axis& axis : axes_) {
    const std::int64_t g = std::gcd(axis.first_coefficient, axis.second_coefficient);
    add(axis.first, axis.second_coefficient / g);
    add(axis.second, axis.first_coefficient / g);
  }
  std::sort(all.begin(), all.end());
  return all;
}

// Beginnings of runs differ by multiples of `step`, so they are multiples of its greatest common
// divisor with a line, which is a power of two.
void TileLines::Runs::begin_at_multiples_of(double step) {
  const auto s = static_cast<std::int64_t>(step);
  const auto divisor = step == static_cast<double>(s) ? static_cast<double>(s & -s) : 1;
  aligned_to = std::min(aligned_to, divisor);
}

// As runs(), by axes. Places closer than a line leave out no line between them, so they count as
// one run.
TileLines::Runs TileLines::overlapping_runs(const Extents& tile) const {
  Runs runs{1, line_, true, 1};
  for (const Axis& axis : axes_) {
    const Pieces pieces = this->pieces(axis, tile);
    for (const auto& [d, coefficient] : {std::pair(axis.first, axis.first_coefficient),
                                         std::pair(axis.second, axis.second_coefficient)}) {
      const double part = covered(d, tile);
      if (part < d.extent) {  // tiles begin at whole indices, whatever they are on average
        const double step = part == std::floor(part) ? part : 1;
        runs.begin_at_multiples_of(step * static_cast<double>(coefficient) * axis.stride);
      }
    }
    if (runs.everything && axis.stride - runs.length < line_) {
      runs.length += (pieces.length - 1) * axis.stride;
    } else {
      runs.everything = false;
      runs.count *= pieces.length;
      runs.begin_at_multiples_of(axis.stride);
    }
    if (pieces.count <= 1) continue;
    if (runs.everything && pieces.apart * axis.stride - runs.length < line_) {
      runs.length += (pieces.span() - pieces.length) * axis.stride;
    } else {
      runs.everything = false;
      runs.count *= pieces.count;
      const bool even = std::abs(pieces.apart - std::round(pieces.apart)) < 1e-9;
      runs.begin_at_multiples_of((even ? std::round(pieces.apart) : 1) * axis.stride);
    }
  }
  return runs;
}

double TileLines::overlapping_lines(const Extents& tile) const {
  const Runs r = overlapping_runs(tile);
  return r.count * lines_of_run(r.length, r.aligned_to);
}

// The mean over beginnings at multiples of aligned_to.
double TileLines::lines_of_run(double length, double aligned_to) const {
  return (std::ceil(length / aligned_to - 1e-9) * aligned_to + line_ - aligned_to) / line_;
}

void TileLines::Places::shift_by(const std::vector<std::int64_t>& offsets) {
  std::vector<std::int64_t> all;
  all.reserve(shifts.size() * offsets.size());
  for (std::int64_t a : shifts) {
    for (std::int64_t b : offsets) all.push_back(a + b);
  }
  shifts = std::move(all);
}

TileLines::Places TileLines::box_places(const Extents& tile) const {
  Places places;
  std::vector<std::pair<std::int64_t, std::int64_t>> fast{{0, 0}};
  for (DimClass g : all_dim_classes) {
    if (!indexed_[g]) continue;
    if (dims_.front().group == g) {
      fast = offset_runs(g, tile[g]);
    } else {
      places.shift_by(offsets(g, tile[g]));
    }
  }
  if (!std::is_sorted(fast.begin(), fast.end())) std::sort(fast.begin(), fast.end());
  const auto line = static_cast<std::int64_t>(line_);
  for (const auto& [first, last] : fast) places.add_run(first, last, line);
  if (places.count() > few_runs || places.shifts.size() == 1) return places;
  // Rows less than a line apart share lines.
  fast.clear();
  for (std::int64_t shift : places.shifts) {
    for (const auto& [first, last] : places.runs) fast.emplace_back(shift + first, shift + last);
  }
  if (!std::is_sorted(fast.begin(), fast.end())) std::sort(fast.begin(), fast.end());
  Places merged;
  for (const auto& [first, last] : fast) merged.add_run(first, last, line);
  return merged;
}

// Axis by axis. As long as there are few runs, they are those of all the axis' places, so that
// what lies close together is one.
TileLines::Places TileLines::overlapping_places(const Extents& tile) const {
  const auto line = static_cast<std::int64_t>(line_);
  Places all;
  all.runs = {{0, 0}};
  for (const Axis& axis : axes_) {
    const auto whole = [&](const Dim& d) { return std::llround(covered(d, tile)); };
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < whole(axis.first); ++i) {
      for (std::int64_t j = 0; j < whole(axis.second); ++j) {
        places.push_back((i * axis.first_coefficient + j * axis.second_coefficient) *
                         static_cast<std::int64_t>(axis.stride));
      }
    }
    std::sort(places.begin(), places.end());
    places.erase(std::unique(places.begin(), places.end()), places.end());
    if (all.shifts.size() > 1 || places.size() * all.runs.size() > few_runs) {
      all.shift_by(places);
      continue;
    }
    const auto inner = std::move(all.runs);
    all.runs.clear();
    for (std::int64_t p : places) {
      for (const auto& [first, last] : inner) all.add_run(p + first, p + last, line);
    }
  }
  return all;
}

// A tile of t indices that begins at any multiple of s touches (t + e - s) / e blocks of e indices
// on average, as a run does lines; and (t - e + s) / e of them are whole. Of a dimension behind
// others, each index of those has a share of the tile to itself.
TileLines::Cover TileLines::cover(const Dim& d, double indices, double unit) {
  const double b = d.left_before, e = d.extent;
  const double each = std::min(b, indices), along = unit / b;
  const bool even = along == std::floor(along);
  if (d.slowest) {  // the tile ends with the dimension
    return {each, std::clamp(indices - (e - 1) * b, 0.0, each), even ? std::min(along, e) : 1};
  }
  const double step = even ? static_cast<double>(std::gcd(static_cast<std::int64_t>(along),
                                                          static_cast<std::int64_t>(e)))
                           : 1;
  return {(indices + each * (e - step)) / e, std::max(0.0, (indices - (e - step) * b) / e), step};
}

// A run begins where a piece of a dimension does that is not whole, and where whole pieces of all
// dimensions so far have no such neighbour along the next one.
TileLines::Runs TileLines::runs(const Extents& tile, const Extents& unit) const {
  if (overlaps()) return overlapping_runs(tile);
  Runs runs{1, line_, true, 0};
  Extents left, begins = unit;  // indices of the groups without the dimensions so far
  double elements = 1, whole = 1, length = 1;
  for (DimClass g : all_dim_classes) {
    left[g] = indexed_[g] ? tile[g] : 1;
    elements *= left[g];
  }
  whole = elements;  // pieces that are whole in all dimensions so far
  for (auto d = dims_.begin(); d != dims_.end(); ++d) {
    // Of a tensor that is a part of a larger one a row may end before the next begins.
    if (d->extent > 1 && d->stride > length) {
      runs.count += whole;
      whole = 0;
    }
    if (whole <= 0) {
      runs.begin_at_multiples_of(d->stride);
      continue;
    }
    const Cover c = cover(*d, left[d->group], begins[d->group]);
    const double others = whole / left[d->group];
    if (c.whole < c.pieces) runs.begin_at_multiples_of(c.step * d->stride);
    length = d->stride * d->extent;
    // Where the next dimension is a slower one of the same group, the tile goes on from each piece
    // to its neighbour there.
    const auto next = d + 1;
    const bool goes_on = next != dims_.end() && next->group == d->group &&
                         next->before > d->before && next->stride <= length;
    left[d->group] = begins[d->group] = goes_on ? c.pieces : c.whole;
    if (!goes_on) runs.count += others * (c.pieces - c.whole);
    whole = others * left[d->group];
  }
  runs.everything = runs.count <= 0;
  runs.count += whole;
  runs.length = elements / runs.count;
  return runs;
}

double TileLines::run(const Extents& tile) const {
  if (overlaps()) return runs(tile, tile).length;
  return lines_and_run(tile, tile).run;
}

double TileLines::lines(const Extents& tile, const Extents& unit) const {
  return overlaps() ? overlapping_lines(tile) : lines_and_run(tile, unit).lines;
}

TileLines::LinesAndRun TileLines::lines_and_run(const Extents& tile, const Extents& unit) const {
  const double elements = this->elements(tile);
  const Runs r = runs(tile, unit);
  if (r.everything) return {std::ceil(elements / line_), r.length};
  // A mean of several lengths is no length of a run.
  const bool whole = r.length == std::floor(r.length);
  const double per_run = whole ? lines_of_run(r.length, r.aligned_to)
                               : std::max(1.0, (r.length + line_ - r.aligned_to) / line_);
  LinesAndRun all{std::min(elements, r.count * per_run), r.length};
  // Runs closer than a line share lines: no more than the span of the inner dimensions has, which
  // is then one run.
  double span = 1, boxes = elements;
  Extents left = tile, begins = unit;
  for (const Dim& d : dims_) {
    const double pieces = cover(d, left[d.group], begins[d.group]).pieces;
    span += (left[d.group] / pieces - 1) * d.stride;
    boxes *= pieces / left[d.group];
    left[d.group] = begins[d.group] = pieces;
    const double lines = boxes * (span + line_ - 1) / line_;
    if (lines < all.lines) all = {lines, span};
  }
  return all;
}

std::vector<std::int64_t> TileLines::beginnings(const Extents& tile) const {
  const Runs r = runs(tile, tile);
  if (r.everything || r.aligned_to >= line_) return {0};
  constexpr double most = 4;
  const double step = std::max(r.aligned_to, line_ / most);
  std::vector<std::int64_t> all;
  for (double b = 0; b < line_; b += step) all.push_back(static_cast<std::int64_t>(b));
  return all;
}

std::vector<const TileLines::Dim*> TileLines::dims_of(DimClass group) const {
  std::vector<const Dim*> dims;
  for (const Dim& d : dims_) {
    if (d.group == group) dims.push_back(&d);
  }
  std::sort(dims.begin(), dims.end(),
            [](const Dim* a, const Dim* b) { return a->before < b->before; });
  return dims;
}

std::vector<std::int64_t> TileLines::offsets(DimClass group, double extent) const {
  const auto count = static_cast<std::size_t>(extent);
  std::vector<std::int64_t> all{0};
  all.reserve(count);
  for (const Dim* d : dims_of(group)) {
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

// Dimension by dimension from the slowest inward: the indices that are whole, then a part of one.
std::vector<std::pair<std::int64_t, std::int64_t>> TileLines::offset_runs(DimClass group,
                                                                          double extent) const {
  const std::vector<const Dim*> dims = dims_of(group);
  std::vector<std::pair<std::int64_t, std::int64_t>> all;
  const auto line = static_cast<std::int64_t>(line_);
  const auto add = [&](const auto& self, std::size_t outermost, std::int64_t begin,
                       std::int64_t count) -> void {
    const Dim& d = *dims[outermost];
    const auto stride = static_cast<std::int64_t>(d.stride);
    if (outermost == 0 && stride <= line) {
      all.emplace_back(begin, begin + (count - 1) * stride);
      return;
    }
    std::int64_t inside = 1;
    for (std::size_t i = 0; i < outermost; ++i) {
      inside *= static_cast<std::int64_t>(dims[i]->extent);
    }
    for (; count > 0; count -= inside, begin += stride) {
      if (outermost == 0) {
        all.emplace_back(begin, begin);
      } else {
        self(self, outermost - 1, begin, std::min(count, inside));
      }
    }
  };
  if (dims.empty()) return {{0, 0}};
  std::int64_t whole = 1;
  for (const Dim* d : dims) whole *= static_cast<std::int64_t>(d->extent);
  add(add, dims.size() - 1, 0,
      std::clamp<std::int64_t>(static_cast<std::int64_t>(extent), 1, whole));
  return all;
}

}  // namespace tcsim
