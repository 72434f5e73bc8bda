#include "core/model/nest.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/error.hpp"
#include "core/model/countable.hpp"

namespace tcsim {

namespace {

// Splits every range by a loop's tiles. The number of different sizes grows by at most one for each
// size of tiles.
std::vector<Nest::Occurrence> split(const std::vector<Nest::Occurrence>& ranges, const Step& loop) {
  std::vector<Nest::Occurrence> parts;
  const auto add = [&](std::int64_t size, std::int64_t times) {
    for (auto& p : parts) {
      if (p.size == size) {
        p.times += times;
        return;
      }
    }
    parts.push_back({size, times});
  };
  for (const auto& r : ranges) {
    loop.for_each_size(r.size,
                       [&](std::int64_t size, std::int64_t times) { add(size, times * r.times); });
  }
  return parts;
}

}  // namespace

Nest::Nest(const Contraction& contraction, const Schedule& schedule, Bytes line)
    : path_(only_path(contraction, schedule)),
      arrays_(path_.steps),
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
  find_columns_at_once(contraction, schedule);
  follows_.assign(path_.steps.size(), ByArray<bool>(arrays_.size(), false));
  ranges_.resize(path_.steps.size());
  for (DimClass g : all_dim_classes) {
    ranges_[0][g] = {{path_.extents[g], 1}};
  }
  for (int d = 0; d < depth(); ++d) {
    const auto here = static_cast<std::size_t>(d);
    const Step& s = step(d);
    if (s.kind == Step::Kind::loop) {
      for (ArrayId a : arrays_.ids()) {
        follows_[here][a] = path_.follows(arrays_.tensor_of(a), s.group) && d > arrays_.depth_of(a);
      }
    }
    if (d + 1 == depth()) break;
    ranges_[here + 1] = ranges_[here];
    if (s.kind == Step::Kind::loop) {
      ranges_[here + 1][s.group] = split(ranges_[here][s.group], s);
    }
  }
}

void Nest::find_columns_at_once(const Contraction& contraction, const Schedule& schedule) {
  try {
    const auto packs = pack_plans(contraction, schedule, path_, arrays_);
    for (TensorId t : all_tensors) {
      if (packs[t] && packs[t]->apart == 1 && packs[t]->panel_group == 1) {
        columns_at_once_[t] = packs[t]->k_chunk;
      }
    }
  } catch (const UnsupportedError&) {
    has_plan_ = false;  // what is too large to run is predicted all the same
  }
}

std::int64_t Nest::tiles(int d, DimClass g) const {
  std::int64_t n = 0;
  for (const Occurrence& r : ranges(d, g)) n += r.times;
  return n;
}

double sum_of(const PerArray& lines) { return std::accumulate(lines.begin(), lines.end(), 0.0); }

double indices_in(const Extents& extents) {
  double all = 1;
  for (DimClass g : all_dim_classes) all *= extents[g];
  return all;
}

Extents Nest::whole() const {
  Extents e;
  for (DimClass g : all_dim_classes) e[g] = static_cast<double>(ranges(0, g)[0].size);
  return e;
}

std::vector<Extents> Nest::narrowed(int from, const Extents& extents) const {
  std::vector<Extents> all(path_.steps.size());
  Extents e = extents;
  for (int d = from; d < depth(); ++d) {
    all[static_cast<std::size_t>(d)] = e;
    const Step& s = step(d);
    if (s.kind == Step::Kind::loop) {
      e[s.group] = s.mean_tile(e[s.group]);
    }
  }
  return all;
}

double Nest::read_at_once(TensorId t, const Extents& e) const {
  if (columns_at_once_[t] == 0) return 0;
  const double panels = std::ceil(e[path_.rows_of(t)] / static_cast<double>(path_.panel_of(t)));
  return 1 / (panels * std::ceil(e[DimClass::k] / static_cast<double>(columns_at_once_[t])));
}

double Nest::buffer_lines(TensorId t, const Extents& e) const {
  const double rows = e[path_.rows_of(t)];
  const double panel = static_cast<double>(path_.panel_of(t));
  const double places = path_.follows(t, DimClass::batch) ? e[DimClass::batch] : 1;
  return std::ceil(rows / panel) * panel * e[DimClass::k] * places / line_;
}

PerArray Nest::lines(int d, const std::vector<Extents>& narrowed) const {
  PerArray n(arrays_.size());
  const Extents& e = narrowed[static_cast<std::size_t>(d)];
  for (ArrayId a : arrays_.ids()) {
    const TensorId t = arrays_.tensor_of(a);
    if (arrays_.is_buffer(a)) {
      // Outside its Pack a buffer is what it is there.
      const int inside = std::max(d, arrays_.depth_of(a));
      n[a] = buffer_lines(t, narrowed[static_cast<std::size_t>(inside)]);
    } else if (d <= pack_depth(t) || pack_depth(t) < 0) {
      n[a] = tensor_lines(t, e);  // inside its Pack a tensor is not touched
    }
  }
  return n;
}

}  // namespace tcsim
