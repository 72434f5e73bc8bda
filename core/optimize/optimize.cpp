#include "core/optimize/optimize.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/error.hpp"
#include "core/model/window.hpp"
#include "core/optimize/relaxation.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/spine.hpp"

namespace tcsim {

namespace {

constexpr std::size_t starts = 6;      // relaxed choices that the search begins from
constexpr double start_fill = 0.6;     // of the relaxed footprint: room for what streams past
constexpr double coarse_tile = 16384;  // lines of tiles whose sets are counted while searching
// The search takes windows for 5 % longer than they are: a schedule at the edge of a cache is worth
// little if one line more makes it fall, and the model is least certain there.
constexpr double margin = 1.05;
constexpr double other_links = 0.02;  // weight of the links that do not decide

RelaxationProblem relaxation(const Contraction& c, const Machine& machine, const Tiling& tiling) {
  RelaxationProblem p;
  double batch = 1;
  for (DimClass g : all_dim_classes) {
    double extent = 1;
    for (char name : tiling.groups[at(g)]) {
      extent *= static_cast<double>(c.dim(dim_named(c, name)).extent);
    }
    if (g == DimClass::batch) {
      batch = extent;
    } else {
      p.extents[at(g)] = extent;
    }
  }
  const Bytes element = size_of(c.type());
  p.smallest = {static_cast<double>(tiling.kernel.mr.value()),
                static_cast<double>(tiling.kernel.nr.value()), 1};
  for (std::size_t l = 0; l < machine.levels.size(); ++l) {
    const LevelId level{static_cast<int>(l)};
    p.seconds_per_element.push_back(batch * (element / machine.bandwidth(level)).value());
    if (static_cast<int>(l) < machine.cache_count()) {
      p.capacity.push_back(static_cast<double>(machine.level(level).capacity.value / element));
    }
  }
  p.output_weight = machine.accounting.write_backs ? 2 : 1;
  if (machine.accounting.compute_roof) p.least_seconds = c.flops() / machine.peak(element).value();
  return p;
}

// Innermost class last; the others in an order that lets the larger operand be packed once.
std::array<DimClass, 3> order_with_innermost(int innermost) {
  switch (innermost) {
    case 0:
      return {DimClass::n, DimClass::k, DimClass::m};
    case 1:
      return {DimClass::m, DimClass::k, DimClass::n};
    default:
      return {DimClass::n, DimClass::m, DimClass::k};
  }
}

class Search {
 public:
  Search(const Contraction& contraction, const Machine& machine, std::stop_token stop)
      : contraction_(contraction),
        machine_(machine),
        stop_(std::move(stop)),
        groupings_(groupings(contraction)) {}

  // Goes downhill from a tiling until no move is better.
  void descend(Tiling tiling) {
    double score = judge(tiling);
    for (bool better = true; better;) {
      better = false;
      for (const Tiling& next : neighbours(tiling)) {
        const double s = judge(next);
        if (s < score * (1 - 1e-9)) {
          score = s;
          tiling = next;
          better = true;
        }
      }
    }
  }

  // Judges again what was found, with all sets counted, and goes on from there.
  Optimized refine() {
    const Tiling found = best_tiling_;
    counter_ = SetCounter();
    scores_.clear();
    best_score_ = -1;
    descend(found);
    best_.prediction = predict(contraction_, best_.schedule, machine_, ModelKind::window, counter_);
    return best_;
  }

 private:
  // Tilings that differ in one tile, one loop order or the groups. A tile's move leaves the others
  // about where they were.
  std::vector<Tiling> neighbours(const Tiling& tiling) const {
    std::vector<Tiling> all;
    const auto add = [&](Tiling t) {
      snap(contraction_, common_line(machine_), t);
      if (t != tiling) all.push_back(std::move(t));
    };
    for (std::size_t l = 0; l < tiling.tiles.size(); ++l) {
      for (std::size_t c = 0; c < 3; ++c) {
        const std::int64_t size = tiling.tiles[l][c];
        const std::int64_t outer =
            l + 1 < tiling.tiles.size() ? tiling.tiles[l + 1][c] : extent(tiling, c);
        const std::int64_t steps = (outer + size - 1) / size;
        std::vector<std::int64_t> wishes{outer / (steps + 1),
                                         steps > 1 ? outer / (steps - 1) : size,
                                         size * 2,
                                         size / 2,
                                         size * 8,
                                         size / 8};
        // Tiles that use up the lines of an operand whose stride-one dimension is behind others.
        for (TensorId tensor : {TensorId::A, TensorId::B}) {
          const std::int64_t period = line_period(tiling, tensor, c);
          if (period > 1)
            wishes.insert(wishes.end(), {size / period * period, (size / period + 1) * period});
        }
        for (std::int64_t wanted : wishes) {
          Tiling t = tiling;
          t.tiles[l][c] = std::max<std::int64_t>(1, wanted);
          for (std::size_t up = l + 1; up < t.tiles.size(); ++up) {
            t.tiles[up][c] = std::max(t.tiles[up][c], t.tiles[up - 1][c]);
          }
          for (std::size_t down = l; down-- > 0;) {
            t.tiles[down][c] = std::min(t.tiles[down][c], t.tiles[down + 1][c]);
          }
          add(std::move(t));
        }
      }
      // Give up a level's own tile: what its loops ran over, the level outside runs over.
      if (l > 0) {
        Tiling t = tiling;
        for (std::size_t up = l; up < t.tiles.size(); ++up) t.tiles[up] = t.tiles[l - 1];
        add(std::move(t));
      }
      std::array<DimClass, 3> order{DimClass::m, DimClass::n, DimClass::k};
      do {
        Tiling t = tiling;
        t.orders[l] = order;
        add(std::move(t));
      } while (std::next_permutation(order.begin(), order.end()));
    }
    Tiling t = tiling;
    t.m_inside = !t.m_inside;
    add(t);
    t = tiling;
    for (const auto& groups : groupings_) {
      t.groups = groups;
      add(t);
    }
    return all;
  }

  // Steps of a group after which a tensor's lines begin anew: a line's elements times the extents
  // of the dimensions before the stride-one dimension. 1 where that leads its group or is not in
  // it.
  std::int64_t line_period(const Tiling& tiling, TensorId t, std::size_t c) const {
    const auto fastest = contraction_.fastest(t);
    if (!fastest) return 1;
    const auto place = tiling.groups[c].find(contraction_.dim(*fastest).name);
    if (place == std::string::npos || place == 0) return 1;
    std::int64_t period = common_line(machine_) / size_of(contraction_.type());
    for (std::size_t i = 0; i < place; ++i) {
      period *= contraction_.dim(dim_named(contraction_, tiling.groups[c][i])).extent;
    }
    return period;
  }

  std::int64_t extent(const Tiling& tiling, std::size_t c) const {
    std::int64_t n = 1;
    for (char name : tiling.groups[c]) {
      n *= contraction_.dim(dim_named(contraction_, name)).extent;
    }
    return n;
  }

  // Predicted time, with a little of every link's time so that the others do not run wild.
  double judge(const Tiling& tiling) {
    if (stop_.stop_requested()) throw Interrupted();
    Schedule schedule = build(contraction_, machine_, tiling);
    std::string text = to_line(schedule);
    if (const auto known = scores_.find(text); known != scores_.end()) return known->second;
    Prediction prediction =
        predict(contraction_, schedule, machine_, ModelKind::window, counter_, margin);
    double score = prediction.timing.total.value();
    for (Seconds s : prediction.timing.links) score += other_links * s.value();
    scores_.emplace(std::move(text), score);
    ++best_.evaluated;
    if (best_score_ < 0 || score < best_score_) {
      best_score_ = score;
      best_tiling_ = tiling;
      best_.schedule = std::move(schedule);
      best_.tiling = tiling;
      best_.prediction = std::move(prediction);
    }
    return score;
  }

  const Contraction& contraction_;
  const Machine& machine_;
  std::stop_token stop_;
  std::vector<std::array<std::string, 4>> groupings_;
  SetCounter counter_{coarse_tile};
  std::map<std::string, double> scores_;
  double best_score_ = -1;
  Tiling best_tiling_;
  Optimized best_;
};

}  // namespace

Optimized optimize(const Contraction& contraction, const Machine& machine, std::stop_token stop) {
  return optimize(contraction, machine, {}, std::move(stop));
}

Optimized optimize(const Contraction& contraction, const Machine& machine,
                   const OptimizeOptions& options, std::stop_token stop) {
  const Bytes line = common_line(machine);
  Tiling tiling;
  tiling.groups = groupings(contraction).front();
  tiling.kernel = kernel_for(machine.core, contraction.type());
  const std::vector<Relaxed> relaxed = solve_all(relaxation(contraction, machine, tiling), stop);

  Search search(contraction, machine, stop);
  for (const Tiling& incumbent : options.incumbents) search.descend(incumbent);
  for (std::size_t i = 0; i < std::min(starts, relaxed.size()); ++i) {
    tiling.tiles.clear();
    tiling.orders.clear();
    for (std::size_t l = 0; l < relaxed[i].tiles.size(); ++l) {
      std::array<std::int64_t, 3> tile;
      for (std::size_t c = 0; c < 3; ++c) {
        tile[c] =
            std::max<std::int64_t>(1, std::llround(relaxed[i].tiles[l][c] * std::sqrt(start_fill)));
      }
      tiling.tiles.push_back(tile);
      tiling.orders.push_back(order_with_innermost(relaxed[i].innermost[l]));
    }
    snap(contraction, line, tiling);
    search.descend(tiling);
  }

  Optimized best = search.refine();
  best.choices = static_cast<int>(relaxed.size());
  best.certificate.relaxed_bound = Seconds(relaxed.front().seconds);
  for (const Relaxed& r : relaxed) {
    best.certificate.relaxed_bound = std::min(best.certificate.relaxed_bound, Seconds(r.seconds));
  }
  best.certificate.achieved = best.prediction.timing.total;
  best.certificate.gap = best.certificate.achieved / best.certificate.relaxed_bound - 1;
  return best;
}

}  // namespace tcsim
