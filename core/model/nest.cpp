#include "core/model/nest.hpp"

#include <algorithm>
#include <cmath>

#include "core/model/countable.hpp"

namespace tcsim {

namespace {

// Splits every range by a loop's tile. The number of different sizes grows by at most one a loop.
std::vector<Nest::Occurrence> split(const std::vector<Nest::Occurrence>& ranges,
                                    std::int64_t tile) {
  std::vector<Nest::Occurrence> parts;
  const auto add = [&](std::int64_t size, std::int64_t times) {
    if (size <= 0 || times <= 0) return;
    for (auto& p : parts) {
      if (p.size == size) {
        p.times += times;
        return;
      }
    }
    parts.push_back({size, times});
  };
  for (const auto& r : ranges) {
    add(tile, r.size / tile * r.times);
    add(r.size % tile, r.times);
  }
  return parts;
}

}  // namespace

Nest::Nest(const Contraction& contraction, const Schedule& schedule, Bytes line)
    : path_(only_path(contraction, schedule)),
      line_(static_cast<double>(line.value()) /
            static_cast<double>(size_of(contraction.type()).value())) {
  require_countable(contraction);
  for (TensorId t : all_tensors) {
    tile_lines_.emplace_back(contraction, schedule.groups, t, line_);
  }
  for (int d = 0; d < depth(); ++d) {
    if (step(d).kind == Step::Kind::move) {
      pack_depth_[step(d).tensor] = d;
    }
  }
  follows_.resize(path_.steps.size());
  ranges_.resize(path_.steps.size());
  for (DimClass g : all_dim_classes) {
    ranges_[0][g] = {{path_.extents[g], 1}};
  }
  for (int d = 0; d < depth(); ++d) {
    const auto here = static_cast<std::size_t>(d);
    const Step& s = step(d);
    if (s.kind == Step::Kind::loop) {
      for (ArrayId a : all_arrays) {
        const TensorId t = tensor_of(a);
        follows_[here][a] =
            has_group(t, path_.left, s.group) && (!is_buffer(a) || d > pack_depth(t));
      }
    }
    if (d + 1 == depth()) break;
    ranges_[here + 1] = ranges_[here];
    if (s.kind == Step::Kind::loop) {
      ranges_[here + 1][s.group] = split(ranges_[here][s.group], s.tile);
    }
  }
}

std::int64_t Nest::tiles(int d, DimClass g) const {
  std::int64_t n = 0;
  for (const Occurrence& r : ranges(d, g)) n += r.times;
  return n;
}

std::vector<Extents> Nest::narrowed(int from, const Extents& extents) const {
  std::vector<Extents> all(path_.steps.size());
  Extents e = extents;
  for (int d = from; d < depth(); ++d) {
    all[static_cast<std::size_t>(d)] = e;
    const Step& s = step(d);
    if (s.kind == Step::Kind::loop) {
      e[s.group] = std::min(e[s.group], static_cast<double>(s.tile));
    }
  }
  return all;
}

double Nest::buffer_lines(TensorId t, const Extents& e) const {
  const bool is_left = t == path_.left;
  const double rows = e[is_left ? DimClass::m : DimClass::n];
  const double panel = static_cast<double>(is_left ? path_.mr : path_.nr);
  return std::ceil(rows / panel) * panel * e[DimClass::k] / line_;
}

std::vector<PerArray> Nest::lines(int from, const std::vector<Extents>& narrowed) const {
  std::vector<PerArray> all(path_.steps.size());
  for (int d = depth() - 1; d >= from; --d) {
    const auto here = static_cast<std::size_t>(d);
    PerArray& n = all[here];
    n[ArrayId::C] = tensor_lines(TensorId::C, narrowed[here]);
    for (TensorId t : {TensorId::A, TensorId::B}) {
      const int pack = pack_depth(t);
      const ArrayId source = array_of(t), buffer = buffer_of(t);
      // Inside its Pack a tensor is not touched; outside, the buffer is what it is inside.
      n[source] = d <= pack || pack < 0 ? tensor_lines(t, narrowed[here]) : 0;
      if (pack >= 0) n[buffer] = d > pack ? buffer_lines(t, narrowed[here]) : all[here + 1][buffer];
    }
  }
  return all;
}

}  // namespace tcsim
