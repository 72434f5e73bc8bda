#include "core/optimize/search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "core/error.hpp"
#include "core/model/countable.hpp"
#include "core/model/kernel_time.hpp"
#include "core/optimize/exposed.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

namespace {

// Tilings kept from the coarse count. Source: chosen, as many as the last effort judges in full
// (core/optimize/optimize.cpp).
constexpr std::size_t most_finalists = 16;
// Steps of logarithms of times, of the slowest one and of the others. Times within a step are
// equal. Source: chosen; docs/history/optimizer.md says what steps of 0.1 % for all did.
constexpr double decisive_step = 1e-3;
constexpr double other_step = 0.2;
// Step of what the core waits for, as a share of the computation's time. Source: chosen.
constexpr double exposed_step = 5e-3;
// Of a score's first entry there: what a small operand or its copy moves besides decides nothing.
constexpr double few_step = 2e-2;
// What is so many times as slow by the coarse count is not judged in full. Source: chosen.
constexpr double far_coarsely = 1.05;
// Ways whose best ones are judged in full beside the finalists. Source: chosen.
constexpr std::size_t most_other_ways = 6;
// Factors by which moves change a tile. Source: chosen.
constexpr std::int64_t near_move = 2;
constexpr std::int64_t far_move = 8;
// Small ones, in sixteenths, from 3/4 to 3/2: none of these sizes are among the moves above, nor,
// of a loop of many steps, "one step more or less". Source: chosen.
constexpr std::int64_t fine_moves[] = {12, 14, 18, 20, 24};
constexpr std::int64_t fine_parts = 16;
// Factors by which one tile shrinks and another grows in turn. Source: chosen.
constexpr double trade_factors[] = {1.25, 2};
// Whole lines of an operand may fill line_part of line_parts parts of a level. Source: chosen.
constexpr std::int64_t line_part = 2;
constexpr std::int64_t line_parts = 5;

// Of the orders of dimensions and of what is packed.
std::string key_of_way(const Tiling& t) {
  std::string k;
  for (const Group& group : t.groups) {
    for (DimId d : group) k += static_cast<char>(index(d));
    k += '\x7f';
  }
  k += t.in_place.left ? 'i' : 'p';
  k += t.in_place.right ? 'i' : 'p';
  return k;
}

std::string key(const Tiling& t) {
  std::string k = key_of_way(t);
  const auto add = [&](std::int64_t n) { k.append(reinterpret_cast<const char*>(&n), sizeof n); };
  add(t.kernel.mr.value());
  add(t.kernel.nr.value());
  add(t.kernel.along_k);
  for (const auto& tile : t.tiles) {
    for (std::int64_t n : tile) add(n);
  }
  for (const auto& order : t.orders) {
    for (DimClass g : order) k += static_cast<char>('0' + index(g));
  }
  k += t.m_inside ? 'm' : 'n';
  return k;
}

}  // namespace

double cost(const Prediction& prediction, const Machine& machine, Objective objective) {
  double sum = 0;
  switch (objective) {
    case Objective::time:
      return prediction.timing.total.value();
    case Objective::sum:
      for (Seconds t : prediction.timing.links) sum += t.value();
      return sum;
    case Objective::energy:
      return energy(prediction.traffic, machine).value().value();
  }
  return sum;
}

double least_cost(const ProvenBound& bound, const Machine& machine, Objective objective) {
  if (objective == Objective::time) return bound.time.value();
  double sum = 0;
  for (std::size_t l = 0; l < bound.links.size(); ++l) {
    sum += objective == Objective::sum ? bound.links[l].value()
                                       : bound.bytes[l] * machine.levels[l].energy->value.value();
  }
  return sum;
}

bool losses_count(const Machine& machine, const OptimizeOptions& options) {
  if (options.to_run) return true;
  const Overhead& o = machine.core.overhead;
  const std::array origins{o.pack.origin, o.piece.origin, o.task.origin, o.call.origin};
  return std::ranges::find(origins, Origin::measured) != origins.end();
}

bool estimates(const Machine& machine, const OptimizeOptions& options) {
  return losses_count(machine, options) && options.objective == Objective::time &&
         machine.accounting.compute_roof;
}

RowOrders row_orders(const Machine& machine, const OptimizeOptions& options) {
  return losses_count(machine, options) ? RowOrders::either : RowOrders::neighbours;
}

bool has_few_places(const Contraction& c) {
  if (read_once(c)) return true;
  return c.extent(DimClass::batch) == Elements(1) && c.extent(DimClass::k) <= Elements(few_places);
}

Score score(const Contraction& contraction, const Schedule& schedule, const Prediction& prediction,
            const Machine& machine, const OptimizeOptions& options) {
  const Objective objective = options.objective;
  if (objective != Objective::time) return {cost(prediction, machine, objective)};
  Score s;
  const auto decisive = [](Seconds t) { return std::round(std::log(t.value()) / decisive_step); };
  // Where tiles change nothing about what decides, what the core waits for does: where computing
  // decides, with lanes and vectors along k, whose tensors come in once whatever the tiles, and
  // where a group has few places. Of computing, what kernels take longer than they have to is part
  // of it.
  const bool along_k = kernels_of(schedule.root).front().along_k;
  const Seconds roof = machine.accounting.compute_roof
                           ? whole_vectors_time(contraction, schedule.groups, along_k, machine)
                           : Seconds();
  const Seconds slowest = slowest_link(prediction.timing);
  const bool at_roof = roof.value() > 0 && (slowest <= roof || decisive(slowest) == decisive(roof));
  if (estimates(machine, options)) {
    const Expected run = expected(contraction, schedule, prediction, machine);
    return {decisive(run.total()), decisive(run.core()), cost(prediction, machine, Objective::sum)};
  }
  const bool few = has_few_places(contraction);
  if (at_roof || holds_lanes(contraction, schedule.groups) || along_k || few) {
    const Seconds lost = exposed(contraction, schedule, prediction, machine).all();
    const Seconds first = at_roof ? std::max(slowest, roof) : prediction.timing.total;
    const Seconds slow_kernels = at_roof ? prediction.timing.compute - roof : Seconds();
    return {few ? std::round(std::log(first.value()) / few_step) : decisive(first),
            std::round((lost + slow_kernels) / first / exposed_step),
            cost(prediction, machine, Objective::sum)};
  }
  for (Seconds t : prediction.timing.links) s.push_back(t.value());
  s.push_back(prediction.timing.compute.value());
  std::sort(s.rbegin(), s.rend());
  double step = decisive_step;
  for (double& t : s) {
    t = t > 0 ? std::round(std::log(t) / step) : -HUGE_VAL;
    step = other_step;
  }
  s.push_back(cost(prediction, machine, Objective::sum));
  return s;
}

Search::Search(const Contraction& contraction, const Machine& machine,
               const OptimizeOptions& options, RowOrders rows, InPlace may, std::stop_token stop)
    : contraction_(contraction),
      machine_(machine),
      options_(options),
      stop_(std::move(stop)),
      may_(may),
      groupings_(groupings(contraction, rows)),
      kernels_(kernel_choices(machine.core, contraction)) {}

bool Search::has_groups(const Groups& groups) const {
  return std::ranges::find(groupings_, groups) != groupings_.end();
}

void Search::keep_to_kernel(const Kernel& kernel) { kernels_ = {kernel}; }

void Search::set_margin(double margin) {
  if (margin == margin_) return;
  margin_ = margin;
  coarse_.clear();
  full_.clear();
  finalists_.clear();
  best_of_ways_.clear();
  best_.reset();
}

void Search::snap_to_family(Tiling& tiling) const {
  snap(contraction_, common_line(machine_), tiling, options_.dividing);
}

Score Search::judged(const Tiling& tiling, Detail detail) {
  if (stop_.stop_requested()) throw Interrupted();
  ++evaluated_;
  const Schedule schedule = build(contraction_, machine_, tiling);
  try {
    const Prediction p = predict(contraction_, schedule, machine_, counts_, margin_, detail);
    return score(contraction_, schedule, p, machine_, options_);
  } catch (const TooLargeError&) {
    return {HUGE_VAL};  // others may be better; if none is, judging the best one says so
  }
}

Score Search::coarse_score(const Tiling& tiling) {
  const auto [known, is_new] = coarse_.try_emplace(key(tiling));
  if (!is_new) return known->second;
  known->second = judged(tiling, Detail::coarse);
  const auto place =
      std::upper_bound(finalists_.begin(), finalists_.end(), known->second,
                       [](const Score& s, const auto& finalist) { return s < finalist.first; });
  finalists_.insert(place, {known->second, tiling});
  if (finalists_.size() > most_finalists) finalists_.pop_back();
  const auto [way, is_new_way] =
      best_of_ways_.try_emplace(key_of_way(tiling), known->second, tiling);
  if (!is_new_way && known->second < way->second.first) way->second = {known->second, tiling};
  return known->second;
}

Score Search::full_score(const Tiling& tiling) {
  const auto [known, is_new] = full_.try_emplace(key(tiling));
  if (!is_new) return known->second;
  known->second = judged(tiling, Detail::full);
  if (!best_ || known->second < best_score_) {
    best_ = tiling;
    best_score_ = known->second;
  }
  return known->second;
}

// Tries the moves of a tiling one by one, and takes each that is better at once. Ends when none is.
template <class Judge, class Moves>
Score Search::descend(Tiling tiling, Score score, int budget, Judge&& judge, Moves&& moves) {
  const int last = evaluated_ + budget;
  for (bool better = true; better;) {
    better = false;
    for (const Tiling& next : moves(tiling)) {
      if (evaluated_ >= last) return score;
      if (Score s = judge(next); s < score) {
        score = std::move(s);
        tiling = next;
        better = true;
      }
    }
  }
  return score;
}

template <class Judge>
Score Search::descend(Tiling tiling, Score score, int budget, Judge&& judge) {
  return descend(std::move(tiling), std::move(score), budget, judge,
                 [this](const Tiling& t) { return neighbours(t); });
}

Score Search::judge_coarsely(Tiling tiling) {
  snap_to_family(tiling);
  return coarse_score(tiling);
}

void Search::descend_coarsely(Tiling start, int budget) {
  snap_to_family(start);
  const auto judge = [this](const Tiling& t) { return coarse_score(t); };
  descend(start, judge(start), budget, judge);
}

// The largest first entry of coarse scores that are worth judging in full beside this one.
double Search::promising(const Score& coarse) const {
  return options_.objective == Objective::time
             ? coarse.front() + std::log(far_coarsely) / decisive_step
             : coarse.front() * far_coarsely;
}

void Search::refine(int count, int budget) {
  for (std::size_t i = 0; i < std::min(finalists_.size(), static_cast<std::size_t>(count)); ++i) {
    full_score(finalists_[i].second);
  }
  // Lines of rows that are far apart fall on few sets, which the coarse count does not see: all of
  // those may be of one way. The others' best ones may still be better than what they really are.
  std::vector<std::pair<Score, Tiling>> others;
  for (const auto& [way, one] : best_of_ways_) others.push_back(one);
  std::ranges::stable_sort(others, {}, &std::pair<Score, Tiling>::first);
  for (std::size_t i = 0; i < std::min(others.size(), most_other_ways); ++i) {
    if (others[i].first >= best_score_) break;
    full_score(others[i].second);
  }
  Score score = best_score_;
  const auto nearest = [&](const Score& coarse) {
    return std::max(promising(coarse), best_score_.front());
  };
  double near = nearest(coarse_score(best()));
  descend(best(), score, budget, [&, this](const Tiling& t) {
    const Score coarse = coarse_score(t);
    if (coarse.front() > near) return Score{HUGE_VAL};
    Score full = full_score(t);
    if (full < score) {
      score = full;
      near = nearest(coarse);
    }
    return full;
  });
}

void Search::descend_in_full(Tiling start, int budget) {
  snap_to_family(start);
  const auto judge = [this](const Tiling& t) { return full_score(t); };
  descend(start, judge(start), budget, judge);
}

std::vector<Tiling> Search::descend_finely(Tiling start, int budget) {
  snap_to_family(start);
  std::vector<Tiling> way{start};
  Score least = full_score(start);
  const auto judge = [&](const Tiling& t) {
    Score score = full_score(t);
    if (score < least) {
      least = score;
      way.push_back(t);
    }
    return score;
  };
  descend(start, least, budget, judge, [this](const Tiling& t) { return nearby(t); });
  return way;
}

void Search::judge(const Tiling& tiling) { full_score(tiling); }

const Tiling& Search::best() const {
  if (!best_) throw std::logic_error("no tiling was judged in full");
  return *best_;
}

// Sizes to try for the tile of class c at level l:
//  - one step more or less of the loop over it,
//  - larger and smaller by near_move and by far_move,
//  - where an operand's stride-one dimension is behind others, sizes that use up its lines,
//  - at the outermost level, whole dimensions.
std::vector<std::int64_t> Search::tile_wishes(const Tiling& tiling, std::size_t l,
                                              std::size_t c) const {
  const std::int64_t size = tiling.tiles[l][c];
  const std::int64_t outer =
      l + 1 < tiling.tiles.size() ? tiling.tiles[l + 1][c] : group_extent(contraction_, tiling, c);
  const std::int64_t steps = (outer + size - 1) / size;
  std::vector<std::int64_t> wishes{size * near_move,    size / near_move,
                                   outer / (steps + 1), steps > 1 ? outer / (steps - 1) : size,
                                   size * far_move,     size / far_move};
  for (TensorId tensor : {TensorId::A, TensorId::B}) {
    const std::int64_t period = line_period(tiling, tensor, c);
    if (period > 1) {
      wishes.insert(wishes.end(), {size / period * period, (size / period + 1) * period});
    }
  }
  if (tiling.kernel.along_k && c == at(DimClass::k)) {
    // Whole pieces of neighbours, as many as the hardware foresees streams, and all of them.
    const TensorId right = right_operand(contraction_, tiling.groups);
    const std::int64_t piece = even_part(contraction_, right, tiling.groups[DimClass::k]);
    const std::int64_t all = group_extent(contraction_, tiling, c);
    wishes.insert(wishes.end(), {piece, most_streams * piece, all});
  }
  if (l + 1 == tiling.tiles.size()) {
    // What is packed is read in longer pieces where dimensions are whole.
    for (std::int64_t whole : whole_dims(tiling.groups[loop_classes[c]])) {
      wishes.insert(wishes.end(), {size / whole * whole, (size / whole + 1) * whole});
    }
  }
  return wishes;
}

// Elements of a group's first dimension, of its first two, and so on, but not of all.
std::vector<std::int64_t> Search::whole_dims(const Group& group) const {
  std::vector<std::int64_t> sizes;
  std::int64_t elements = 1;
  for (std::size_t i = 0; i + 1 < group.size(); ++i) {
    elements *= contraction_.dim(group[i]).extent;
    sizes.push_back(elements);
  }
  return sizes;
}

// Changes one tile. Tiles of the same class inside and outside it follow, so that they nest.
void Search::resize(Tiling& tiling, std::size_t l, std::size_t c, std::int64_t wanted) {
  tiling.tiles[l][c] = std::max<std::int64_t>(1, wanted);
  for (std::size_t up = l + 1; up < tiling.tiles.size(); ++up) {
    tiling.tiles[up][c] = std::max(tiling.tiles[up][c], tiling.tiles[up - 1][c]);
  }
  for (std::size_t down = l; down-- > 0;) {
    tiling.tiles[down][c] = std::min(tiling.tiles[down][c], tiling.tiles[down + 1][c]);
  }
}

// Tilings whose tiles at one level differ by fine moves, one of them or two in turn.
std::vector<Tiling> Search::nearby(const Tiling& tiling) const {
  std::vector<Tiling> all;
  const auto add = [&](Tiling t) {
    snap_to_family(t);
    if (t != tiling) all.push_back(std::move(t));
  };
  for (std::size_t l = 0; l < tiling.tiles.size(); ++l) {
    const auto scaled = [&](std::size_t c, std::int64_t by, std::int64_t parts) {
      return tiling.tiles[l][c] * by / parts;
    };
    for (std::size_t c = 0; c < 3; ++c) {
      for (const std::int64_t parts : fine_moves) {
        Tiling t = tiling;
        resize(t, l, c, scaled(c, parts, fine_parts));
        add(t);
        if (parts >= fine_parts) continue;
        for (std::size_t more = 0; more < 3; ++more) {
          if (more == c) continue;
          Tiling traded = t;
          resize(traded, l, more, scaled(more, fine_parts, parts));
          add(std::move(traded));
        }
      }
    }
  }
  return all;
}

// Tilings that differ in one tile, one loop order, the kernel, the groups or what is packed.
std::vector<Tiling> Search::neighbours(const Tiling& tiling) const {
  std::vector<Tiling> all;
  const auto add = [&](Tiling t) {
    snap_to_family(t);
    if (t != tiling) all.push_back(std::move(t));
  };
  for (std::size_t l = 0; l < tiling.tiles.size(); ++l) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::int64_t size = tiling.tiles[l][c];
      for (std::int64_t wanted : tile_wishes(tiling, l, c)) {
        Tiling t = tiling;
        resize(t, l, c, wanted);
        add(std::move(t));
      }
      // Whole lines of an operand, in a part of this level. The operand is packed bit by bit along
      // k; C's tile stays where it is.
      for (TensorId tensor : {TensorId::A, TensorId::B}) {
        const std::int64_t period = line_period(tiling, tensor, c);
        if (c == at(DimClass::k) || period == 1) continue;
        const std::int64_t elements = kept_lines(machine_, LevelId{static_cast<int>(l)}).value() *
                                      (common_line(machine_) / size_of(contraction_.type()));
        Tiling t = tiling;
        resize(t, l, c, std::max(period, size));
        for (auto& tile : t.tiles)
          tile[at(DimClass::k)] = elements * line_part / line_parts / period;
        t.orders.back() = {DimClass::n, DimClass::m, DimClass::k};
        add(std::move(t));
      }
    }
    for (std::size_t less = 0; trades_ && less < 3; ++less) {
      for (std::size_t more = 0; more < 3; ++more) {
        if (less == more) continue;
        for (double factor : trade_factors) {
          Tiling t = tiling;
          const auto scaled = [&](std::size_t c, double by) {
            return std::llround(static_cast<double>(tiling.tiles[l][c]) * by);
          };
          resize(t, l, less, scaled(less, 1 / factor));
          resize(t, l, more, scaled(more, factor));
          add(std::move(t));
        }
      }
    }
    // This level and those outside it take over the tiles of the level inside.
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
  t.in_place.left = !t.in_place.left;
  add(t);
  if (may_.right) {
    t = tiling;
    t.in_place.right = !t.in_place.right;
    add(t);
    t.in_place.left = !t.in_place.left;
    add(t);
  }
  // Where the left operand is evenly apart along a part of k only, kernels keep to that part.
  const std::int64_t even = even_k(contraction_, tiling.groups);
  if (even < group_extent(contraction_, tiling, at(DimClass::k))) {
    t = tiling;
    t.in_place.left = true;
    for (auto& tile : t.tiles) tile[at(DimClass::k)] = even;
    add(t);
  }
  for (const Kernel& kernel : kernels_) {
    t = tiling;
    t.kernel = kernel;
    add(t);
  }
  for (const auto& groups : groupings_) {
    for (const bool in_place : {false, true}) {
      t = tiling;
      t.groups = groups;
      t.in_place = {in_place, in_place && may_.right};
      add(t);
      if (in_place || groups == tiling.groups) continue;
      // With other groups, a pack has other neighbours in memory. Try tiles that hold them.
      for (std::int64_t whole : whole_dims(groups[DimClass::m])) {
        Tiling wide = t;
        resize(wide, wide.tiles.size() - 1, at(DimClass::m), whole);
        add(std::move(wide));
      }
    }
  }
  return all;
}

// Steps of a group after which a tensor's lines begin anew: the elements of a line times the
// extents of the dimensions before the stride-one dimension. 1 if that leads the group or is not in
// it.
std::int64_t Search::line_period(const Tiling& tiling, TensorId t, std::size_t c) const {
  const auto fastest = contraction_.fastest(t);
  if (!fastest) return 1;
  const Group& group = tiling.groups[loop_classes[c]];
  const auto place = std::ranges::find(group, *fastest);
  if (place == group.end() || place == group.begin()) return 1;
  std::int64_t period = common_line(machine_) / size_of(contraction_.type());
  for (auto d = group.begin(); d != place; ++d) period *= contraction_.dim(*d).extent;
  return period;
}

}  // namespace tcsim
