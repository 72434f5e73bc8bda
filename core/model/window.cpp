#include "core/model/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>

#include "core/error.hpp"
#include "core/model/copies.hpp"
#include "core/model/core_link.hpp"
#include "core/model/countable.hpp"
#include "core/model/evictions.hpp"
#include "core/model/execution.hpp"
#include "core/model/leaves.hpp"
#include "core/model/nest.hpp"
#include "core/model/overlap.hpp"
#include "core/model/pieces.hpp"

namespace tcsim {

namespace {

// Share of all lines that a cache lacks by which two counts may differ and still agree. Source:
// chosen.
constexpr double agreement = 0.03;

class WindowModel {
  using Setting = Evictions::Setting;

 public:
  WindowModel(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
              SharedCounts& counts, double margin, Detail detail)
      : contraction_(contraction),
        schedule_(schedule),
        machine_(machine),
        line_(common_line(machine)),
        nest_(contraction, schedule, line_),
        arrays_(nest_.arrays()),
        core_(core_link(contraction, nest_, machine.levels.front().name)),
        detail_(detail),
        counts_(counts),
        evictions_(contraction, machine, nest_, counts.sets(), margin, detail),
        fills_{ByArray<PerLevel>(arrays_.size()), ByArray<PerLevel>(arrays_.size())},
        write_backs_(fills_),
        in_leaves_(fills_),
        worst_inside_(arrays_.size()) {
    leaf_.fill(-1);
    for (std::size_t l = 1; detail_ == Detail::counted && l < evictions_.levels(); ++l) {
      leaf_[l] = leaf_of(nest_, evictions_.caches()[l]);
    }
  }

  WarmLines warm() {
    count_all();
    WarmLines w;
    w.arrays = arrays_;
    w.registers = core_;
    w.first = cold_;
    w.in = w.out = w.gone = std::vector(evictions_.levels(), PerArray(arrays_.size()));
    for (std::size_t l = 0; l < evictions_.levels(); ++l) {
      for (ArrayId x : arrays_.ids()) {
        const bool written = x == ArrayId::C || arrays_.is_buffer(x);
        for (Phase p : all_phases) {
          w.in[l][x] += fills_[p][x][l];
          w.out[l][x] += write_backs_[p][x][l];
        }
        w.in[l][x] -= cold_[x];
        if (written) w.out[l][x] -= cold_[x];
        w.gone[l][x] = worst_inside_[x][l];
      }
    }
    return w;
  }

  Traffic traffic() {
    count_all();
    Traffic t;
    t.links.assign(evictions_.levels() + 1, LinkTraffic(arrays_));
    t.links[0] = core_;
    for (std::size_t l = 0; l < evictions_.levels(); ++l) {
      // What an exclusive level holds comes from the level inside it: every line that enters that
      // one leaves it outward again, changed or not.
      const LevelId outer{static_cast<int>(l) + 1};
      const bool all_leave = l + 1 < evictions_.levels() &&
                             machine_.level(outer).inclusion.value == Inclusion::exclusive;
      LineCounter count(contraction_, machine_, outer, line_);
      for (ArrayId x : arrays_.ids()) {
        for (Phase p : all_phases) {
          const double in = fills_[p][x][l];
          const double changed = write_backs_[p][x][l];
          t.links[l + 1].at(p, x) = {count.bytes(in), count.bytes(all_leave ? in : changed)};
        }
      }
    }
    return t;
  }

 private:
  void count_all() {
    count_cold();
    for (step_ = 0; step_ + 1 < nest_.depth(); ++step_) count_step(step_);
    count_kernel();
    count_write_backs();
    if (detail_ == Detail::counted) {
      for (int d = 0; d + 1 < nest_.depth(); ++d) {
        if (nest_.step(d).kind == Step::Kind::move) count_copied_again(d);
      }
      // Without sets it does not matter where arrays lie.
      if (evictions_.caches().front().sets > 1) ask_pieces();
      for (std::size_t l = 1; l < evictions_.levels(); ++l) {
        if (evictions_.caches()[l].sets > 1 && is_worth_counting(l)) ask_leaves(l);
      }
    }
    stay_below_touches();
  }

  // What the core loads and stores of x in a phase, in elements, and not less than what is touched
  // for the first time: no line comes or goes more often.
  double most_lines(Phase p, ArrayId x) const {
    const Moved& elements = core_.at(p, x);
    const auto element = static_cast<double>(size_of(contraction_.type()).value());
    const double first = p == new_round(x) ? cold_[x] : 0;
    return std::max(first, static_cast<double>((elements.in + elements.out).value()) / element);
  }

  // Lines of a tile are a mean over where tiles may begin, and these few may begin better: then the
  // first touches and those that a copy comes back to are more than there are together.
  void stay_below_touches() {
    for (Phase p : all_phases) {
      for (ArrayId x : arrays_.ids()) {
        const double most = most_lines(p, x);
        for (std::size_t l = 0; l < evictions_.levels(); ++l) {
          fills_[p][x][l] = std::min(fills_[p][x][l], most);
          write_backs_[p][x][l] = std::min(write_backs_[p][x][l], most);
        }
      }
    }
  }

  int pack_depth(ArrayId x) const { return nest_.pack_depth(arrays_.tensor_of(x)); }

  PerLevel gone(const Setting& at, const Execution::Sides& sides) {
    return evictions_.gone(at, sides);
  }

  int told_apart() const { return detail_ == Detail::coarse ? 1 : 3; }

  void add_fills(ArrayId x, Phase phase, double touches, const PerLevel& p) {
    const std::array<bool, max_levels> is_open = evictions_.take_open();
    for (std::size_t l = 0; l < evictions_.levels(); ++l) {
      fills_[phase][x][l] += touches * p[l];
      if (step_ > leaf_[l]) {
        in_leaves_[phase][x][l] += touches * p[l];
      } else if (is_open[l]) {
        stay_[l] += touches * (1 - p[l]);
        leave_[l] += touches * p[l];
      }
    }
  }

  // Whether leaves can say much of an outer cache that was not worked out.
  bool is_worth_counting(std::size_t l) const {
    return leaf_[l] >= 0 && std::max(stay_[l], leave_[l]) > agreement * lines(l);
  }

  // All that enter a cache.
  double lines(std::size_t l) const {
    double all = 0;
    for (Phase p : all_phases) {
      for (ArrayId x : arrays_.ids()) all += fills_[p][x][l];
    }
    return all;
  }

  // Touches of every array that have none before them.
  void count_cold() {
    cold_ = lines_at(0, nest_.whole());
    PerLevel always;
    always.fill(1);
    for (ArrayId x : arrays_.ids()) add_fills(x, new_round(x), cold_[x], always);
  }

  // The phase in which an array is first touched.
  Phase new_round(ArrayId x) const { return pack_depth(x) < 0 ? Phase::compute : Phase::packing; }

  void count_write_backs() {
    // Every line of C that enters a level is written before it leaves.
    write_backs_[Phase::compute][ArrayId::C] = fills_[Phase::compute][ArrayId::C];
    // A buffer's line is dirty from one Pack to the next, and written back once if it is pushed out
    // at any time between the two; after the last Pack it is written back in any case.
    ByArray<PerLevel>& written = write_backs_[Phase::packing];
    for (ArrayId x : arrays_.ids()) {
      if (arrays_.is_buffer(x)) written[x].fill(cold_[x]);
    }
    for (const Repacked& r : repacked_) {
      for (std::size_t l = 0; l < evictions_.levels(); ++l) {
        written[r.buffer][l] += r.lines * std::max(r.gone_before[l], worst_inside_[r.buffer][l]);
      }
    }
  }

  // Calls f(extents, times) for every combination of ranges that step d finds; where that is
  // enough, for the largest alone, as if it were all.
  template <class F>
  void for_each_range(int d, F&& f) const {
    Extents e;
    const auto visit = [&](const auto& self, std::size_t i, double times) -> void {
      if (i == all_dim_classes.size()) return f(e, times);
      const DimClass g = all_dim_classes[i];
      const auto& ranges = nest_.ranges(d, g);
      if (detail_ == Detail::coarse) {
        double all = 0;
        e[g] = 0;
        for (const auto& r : ranges) {
          const auto size = static_cast<double>(r.size);
          all += size * static_cast<double>(r.times);
          e[g] = std::max(e[g], size);
        }
        return self(self, i + 1, times * all / e[g]);
      }
      for (const auto& r : ranges) {
        e[g] = static_cast<double>(r.size);
        self(self, i + 1, times * static_cast<double>(r.times));
      }
    };
    visit(visit, 0, 1.0);
  }

  // A kernel reads an operand in place column by column: lines that several columns share are
  // touched again as many steps of k later as neighbours lie apart. So does it with its results.
  void count_kernel() {
    const int d = nest_.depth() - 1;
    constexpr DimClass k = DimClass::k;
    for_each_range(d, [&](const Extents& e, double times) {
      count_results(d, e, times);
      if (e[k] <= 1) return;
      Extents column = e;
      column[k] = 1;
      const Execution w(nest_, d, e, told_apart());
      for (TensorId t : {TensorId::A, TensorId::B}) {
        if (nest_.pack_depth(t) >= 0) continue;
        const ArrayId x = array_of(t);
        const double again = nest_.tensor_lines(t, column) * e[k] - nest_.tensor_lines(t, e);
        if (again <= 0) continue;
        if (nest_.tile_lines(t).overlaps()) {
          count_overlap({x, w, d, none_moves_, k}, Phase::compute, column, e[k], times * again);
          continue;
        }
        Extents between = e;
        between[k] = std::clamp(nest_.tile_lines(t).apart(DimClass::k), 1.0, e[k]);
        Execution::Sides s{lines_at(d, between), PerArray(arrays_.size())};
        s.after[ArrayId::C] = 0;
        s.after[x] = std::max(0.0, s.after[x] - 1);
        add_fills(x, Phase::compute, times * again, gone({x, w, d, none_moves_, DimClass::k}, s));
      }
    });
  }

  // Where a column's rows are not neighbours, the results' lines hold several columns.
  void count_results(int d, const Extents& e, double times) {
    constexpr DimClass n = DimClass::n;
    if (e[n] <= 1) return;
    Extents column = e;
    column[n] = 1;
    const double again =
        nest_.tensor_lines(TensorId::C, column) * e[n] - nest_.tensor_lines(TensorId::C, e);
    if (again <= 0) return;
    Extents between = e;
    between[n] = std::clamp(nest_.tile_lines(TensorId::C).apart(n), 1.0, e[n]);
    Execution::Sides s{PerArray(arrays_.size()), PerArray(arrays_.size())};
    s.after[ArrayId::C] = std::max(0.0, nest_.tensor_lines(TensorId::C, between) - 1);
    const Execution w(nest_, d, e, told_apart());
    add_fills(ArrayId::C, Phase::compute, times * again,
              gone({ArrayId::C, w, d, none_moves_, n}, s));
  }

  // The touches whose last touch lies across step d: in another iteration of this loop, or in the
  // Pack that fills a buffer.
  void count_step(int d) {
    const Step& step = nest_.step(d);
    for_each_range(d, [&](const Extents& e, double times) {
      if (step.kind == Step::Kind::move) {
        count_handed_over(arrays_.made_at(d), d, e, times);
        const bool estimated = detail_ != Detail::counted;
        if (estimated && nest_.tile_lines(step.tensor).overlaps()) {
          count_copy(step.tensor, d, e, times);
        }
      } else {
        count_carried(d, e, times);
      }
    });
  }

  void count_handed_over(ArrayId x, int d, const Extents& e, double times) {
    const Execution w(nest_, d, e, told_apart());
    PerLevel p{};
    for (const Execution::Sides& s : w.handed_over(x)) {
      const PerLevel q = gone({x, w, d, none_moves_, DimClass::k}, s);
      for (std::size_t l = 0; l < evictions_.levels(); ++l) p[l] += s.share * q[l];
    }
    remember_worst(x, p);
    add_fills(x, Phase::compute, times * w.full(d)[x], p);
  }

  void count_carried(int d, const Extents& e, double times) {
    const DimClass g = nest_.step(d).group;
    const double tile = nest_.step(d).mean_tile(e[g]);
    const double iterations = std::ceil(e[g] / tile - 1e-9);
    if (iterations <= 1) return;
    Extents child = e, rest = e;
    child[g] = std::min(tile, e[g]);
    rest[g] = e[g] - tile * (iterations - 1);
    const bool smaller_last = detail_ != Detail::coarse && rest[g] < child[g] * (1 - 1e-9);
    const Execution w(nest_, d + 1, child, told_apart());
    std::optional<Execution> smaller;
    if (smaller_last) smaller.emplace(nest_, d + 1, rest, told_apart());
    const Execution& last = smaller ? *smaller : w;
    const ByArray<bool>& moves_on = nest_.follows(d);
    const PerArray most = pair_lines(d, e, child);
    const auto of_tiles = lines_of_two_tile_sizes(d, e);
    for (ArrayId x : arrays_.ids()) {
      const Setting setting{x, w, d + 1, moves_on, g, &most};
      const int pack = pack_depth(x);
      if (!arrays_.is_buffer(x) && pack >= 0 && d > pack) continue;
      const double lines = w.full(d + 1)[x], last_lines = last.full(d + 1)[x];
      if (moves_on[x]) {
        const double apart = of_tiles ? (*of_tiles)[x] : (iterations - 1) * lines + last_lines;
        if (nest_.overlaps(x)) {
          count_overlap(setting, new_round(x), child, e[g], times * (apart - lines_at(d, e)[x]));
          continue;
        }
        count_shared_edges(setting, d, e, times * apart, times * (apart - lines_at(d, e)[x]));
        continue;
      }
      const double pairs = iterations - 1 - (smaller_last ? 1 : 0);
      if (pairs > 0) count_pairs(setting, d, w, times * pairs * lines);
      if (smaller_last) count_pairs(setting, d, last, times * last_lines);
    }
  }

  // Lines of all iterations together where step d has two tile sizes, each counted for itself: of
  // a mean tile they would not add up to what is inside, as lines do not grow evenly with a tile.
  std::optional<PerArray> lines_of_two_tile_sizes(int d, const Extents& e) const {
    const Step& step = nest_.step(d);
    if (step.head == 0 || detail_ == Detail::coarse) return {};
    PerArray lines(arrays_.size());
    Extents tile = e;
    step.for_each_size(static_cast<std::int64_t>(e[step.group]),
                       [&](std::int64_t size, std::int64_t times) {
                         tile[step.group] = static_cast<double>(size);
                         const PerArray one = lines_at(d + 1, tile);
                         for (ArrayId a : arrays_.ids())
                           lines[a] += static_cast<double>(times) * one[a];
                       });
    return lines;
  }

  // Lines that two neighbouring tiles touch, at most all that the loop at depth d touches.
  PerArray pair_lines(int d, const Extents& e, const Extents& child) const {
    const DimClass g = nest_.step(d).group;
    PerArray lines = lines_at(d, e);
    Extents pair = child;
    pair[g] = std::min(e[g], 2 * child[g]);
    const PerArray of_pair = lines_at(d + 1, pair);
    for (ArrayId a : arrays_.ids()) lines[a] = std::min(lines[a], of_pair[a]);
    return lines;
  }

  // Lines of every array that the steps from d on touch when step d finds `e`.
  PerArray lines_at(int d, const Extents& e) const { return nest_.lines(d, nest_.narrowed(d, e)); }

  // Touches of lines that the iteration before touched as well, `next` being the later one.
  void count_pairs(const Setting& setting, int d, const Execution& next, double touches) {
    const ArrayId x = setting.x;
    PerLevel p{};
    for (const Execution::Sides& s : setting.window.sides(x, next)) {
      const PerLevel q = gone(setting, s);
      for (std::size_t l = 0; l < evictions_.levels(); ++l) p[l] += s.share * q[l];
    }
    const bool inside = arrays_.is_buffer(x) && d > arrays_.depth_of(x);
    if (inside) remember_worst(x, p);
    if (arrays_.is_buffer(x) && !inside) repacked_.push_back({x, touches, p});
    add_fills(x, inside ? Phase::compute : new_round(x), touches, p);
  }

  // Tiles of an array that follows the loop share lines only where their edges fall inside a line,
  // or where the stride-one dimension lies behind others in the group: then the line comes back
  // when the loop reaches that dimension's next index. `touches` of all are such.
  void count_shared_edges(const Setting& setting, int d, const Extents& e, double all,
                          double touches) {
    if (touches < 1e-6 * all) return;
    if (arrays_.is_buffer(setting.x)) return count_pairs(setting, d, setting.window, touches);
    const DimClass g = setting.outer;
    const Extents& tile = setting.window.extents(d + 1);
    const PerArray most = lines_at(d, e);
    // The lines are those of all the tiles in between.
    const Setting several{setting.x, setting.window, setting.d, all_move_, g, &most};
    for (const SharedLines& s :
         shared_lines(nest_.tile_lines(arrays_.tensor_of(setting.x)), tile, g, e[g])) {
      if (s.steps <= 1) {
        count_pairs(setting, d, setting.window, touches * s.share);
        continue;
      }
      Extents grown = tile;
      grown[g] = std::min(e[g], grown[g] * s.steps);
      add_fills(setting.x, new_round(setting.x), touches * s.share,
                gone(several, several_tiles(setting, grown)));
    }
  }

  // What several executions of the setting's steps touch beside x, together `extents`. A buffer
  // that each of them fills is one and the same.
  Execution::Sides several_tiles(const Setting& setting, const Extents& extents) const {
    Execution::Sides s{lines_at(setting.d, extents), PerArray(arrays_.size())};
    s.after[setting.x] = std::max(0.0, s.after[setting.x] - 1);
    for (ArrayId a : arrays_.ids()) {
      if (!arrays_.is_buffer(a) || arrays_.depth_of(a) < setting.d) continue;
      s.after[a] = std::min(s.after[a], setting.window.full(setting.d)[a]);
    }
    return s;
  }

  // The same where tiles overlap: `touches` of lines of x that earlier ones of the tiles along the
  // group, which has `extent` indices, touched as well.
  void count_overlap(const Setting& setting, Phase phase, const Extents& tile, double extent,
                     double touches) {
    if (touches <= 0) return;
    const DimClass g = setting.outer;
    const bool kernel = setting.d + 1 == nest_.depth() && g == DimClass::k;
    for (const SharedLines& s :
         shared_lines(nest_.tile_lines(arrays_.tensor_of(setting.x)), tile, g, extent)) {
      if (s.steps <= 1 && !kernel) {
        count_pairs(setting, setting.d - 1, setting.window, touches * s.share);
        continue;
      }
      Extents between = tile;
      between[g] = std::min(extent, between[g] * s.steps);
      Execution::Sides sides = several_tiles(setting, between);
      if (kernel) sides.after[ArrayId::C] = 0;
      // The lines are those of all the tiles in between.
      const Setting several{setting.x, setting.window, setting.d, all_move_, g};
      add_fills(setting.x, phase, touches * s.share, gone(several, sides));
    }
  }

  // A copy reads elements that several columns share for each of them. It goes along k for some
  // micropanels, then for the next ones (core/plan/pack_order.hpp).
  void count_copy(TensorId t, int d, const Extents& e, double times) {
    const TileLines& tensor = nest_.tile_lines(t);
    const ArrayId x = array_of(t);
    const DimClass rows = nest_.path().rows_of(t);
    const Execution w(nest_, d, e, told_apart());
    const Setting setting{x, w, d, none_moves_, rows};
    const auto panel = static_cast<double>(nest_.path().panel_of(t));
    Extents column = e, strip = e;
    column[rows] = strip[rows] = std::min(panel, e[rows]);
    column[DimClass::k] = 1;
    const auto count = [&](const Extents& tile, DimClass g, const Extents& all, double pieces) {
      const double touches =
          pieces * tensor.lines(tile) * all[g] / tile[g] - pieces * tensor.lines(all);
      if (touches <= 0) return;
      for (const SharedLines& s : shared_lines(tensor, tile, g, all[g])) {
        Extents between = tile;
        between[g] = std::min(all[g], between[g] * s.steps);
        Execution::Sides sides{PerArray(arrays_.size()), PerArray(arrays_.size())};
        sides.after[x] = std::max(0.0, tensor.lines(between) - 1);
        sides.after[arrays_.made_at(d)] = nest_.buffer_lines(t, between);
        add_fills(x, Phase::packing, times * touches * s.share, gone(setting, sides));
      }
    };
    count(column, DimClass::k, strip, e[rows] / strip[rows]);
    count(strip, rows, e, 1);
  }

  // What the copies at step d lose and touch again. A buffer's line goes out before it comes back.
  void count_copied_again(int d) {
    const ArrayId source = array_of(nest_.step(d).tensor), buffer = arrays_.made_at(d);
    const CopiedAgain& again =
        counts_.copied(contraction_, schedule_, nest_, d, evictions_.caches(), line_);
    for (std::size_t l = 0; l < evictions_.levels(); ++l) {
      if (d > leaf_[l]) {
        in_leaves_[Phase::packing][source][l] += again.source[l];
        in_leaves_[Phase::packing][buffer][l] += again.buffer[l];
      } else if (l > 0) {  // what a copy has lost, leaves know, too
        leave_[l] += again.source[l] + again.buffer[l];
        stay_[l] += again.source[l - 1] + again.buffer[l - 1] - again.source[l] - again.buffer[l];
      }
      fills_[Phase::packing][source][l] += again.source[l];
      fills_[Phase::packing][buffer][l] += again.buffer[l];
      write_backs_[Phase::packing][buffer][l] += again.buffer[l];
    }
  }

  // Pieces of the walk are asked for the innermost cache, leaves of it for the others: those leave
  // out what a leaf loses.
  void ask_pieces() {
    const auto& pieces =
        counts_.pieces(contraction_, schedule_, nest_, evictions_.caches().front(), line_);
    if (!pieces) return;
    believe(0, pieces->depth, pieces->lines, pieces->each, [](Phase, ArrayId) { return 0.0; });
  }
  void ask_leaves(std::size_t l) {
    LeafCaches caches{evictions_.caches()[l - 1], evictions_.caches()[l]};
    const Level& level = machine_.level(LevelId{static_cast<int>(l)});
    if (level.inclusion.value == Inclusion::exclusive) {
      caches.cache = {static_cast<double>(level.sets()), level.ways.value};
      caches.exclusive = true;
    }
    const auto& lines = counts_.leaves(contraction_, schedule_, nest_, leaf_[l], caches, line_);
    if (!lines) return;
    believe(l, -1, *lines, {&*lines, 1}, [&](Phase p, ArrayId x) { return in_leaves_[p][x][l]; });
  }

  // What was counted for a cache, packs inside step `depth` among it, where it disagrees with what
  // was worked out by more than the standard error of the counts. Where they agree, what was worked
  // out is exact more often. `left_out` was not counted.
  template <class F>
  void believe(std::size_t l, int depth, const CountedLines& counted,
               std::span<const CountedLines> each, F&& left_out) {
    const auto sum = [&](const CountedLines& lines) {
      double all = 0;
      for_each_counted(depth, lines, [&](Phase p, ArrayId x, double n) {
        all += n + left_out(p, x);
        if (is_copied(p, x)) all += lines.written[x] + left_out(p, x);
      });
      return all;
    };
    double worked_out = 0;
    for_each_counted(depth, counted, [&](Phase p, ArrayId x, double) {
      worked_out += fills_[p][x][l];
      if (is_copied(p, x)) worked_out += write_backs_[p][x][l];
    });
    const double mean = sum(counted), difference = mean - worked_out;
    double squares = 0;
    for (const CountedLines& one : each) squares += std::pow(sum(one) - mean, 2);
    const auto counts = static_cast<double>(each.size());
    const double error = counts > 1 ? std::sqrt(squares / (counts * (counts - 1))) : 0;
    if (std::abs(difference) <= std::max(error, agreement * lines(l))) return;
    for_each_counted(depth, counted, [&](Phase p, ArrayId x, double n) {
      const double least = p == new_round(x) ? cold_[x] : 0;
      // It may say more than there is to touch.
      const double most = l == 0 ? most_lines(p, x) : std::max(least, fills_[p][x][l - 1]);
      fills_[p][x][l] = std::clamp(n + left_out(p, x), least, most);
      if (p == Phase::compute && x == ArrayId::C) write_backs_[p][x][l] = fills_[p][x][l];
      if (is_copied(p, x)) {
        write_backs_[p][x][l] = std::max(counted.written[x] + left_out(p, x), cold_[x]);
      }
      for (std::size_t outer = l + 1; outer < evictions_.levels(); ++outer) {
        fills_[p][x][outer] = std::min(fills_[p][x][outer], fills_[p][x][l]);
        write_backs_[p][x][outer] = std::min(write_backs_[p][x][outer], write_backs_[p][x][l]);
      }
    });
  }

  // Whether it is what packs write.
  bool is_copied(Phase p, ArrayId x) const { return p == Phase::packing && arrays_.is_buffer(x); }

  // Calls f(phase, array, lines) for what is counted: what kernels ask for, and packs inside.
  template <class F>
  void for_each_counted(int depth, const CountedLines& lines, F&& f) const {
    for (ArrayId x : arrays_.ids()) {
      const int pack = pack_depth(x);
      if (pack < 0 || arrays_.is_buffer(x)) f(Phase::compute, x, lines.kernels[x]);
      if (pack > depth) f(Phase::packing, x, lines.packing[x]);
    }
  }

  void remember_worst(ArrayId x, const PerLevel& p) {
    PerLevel& worst = worst_inside_[x];
    for (std::size_t l = 0; l < evictions_.levels(); ++l) worst[l] = std::max(worst[l], p[l]);
  }

  const Contraction& contraction_;
  const Schedule& schedule_;
  const Machine& machine_;
  Bytes line_;
  Nest nest_;
  const Arrays& arrays_;
  LinkTraffic core_;
  Detail detail_;
  SharedCounts& counts_;
  Evictions evictions_;
  ByPhase<ByArray<PerLevel>> fills_;
  ByPhase<ByArray<PerLevel>> write_backs_;
  int step_ = -1;  // whose touches count_all() is at; -1: those that have none before them
  // Of outer caches: the loop whose iterations are leaves (leaf_of()), and what such an iteration
  // loses and asks for again.
  std::array<int, max_levels> leaf_{};
  ByPhase<ByArray<PerLevel>> in_leaves_;
  // Touches of lines that may as well be otherwise: that find them there, and that do not.
  PerLevel stay_{}, leave_{};
  // Of buffers: the largest chance of a class of touches between a Pack and its nest's end, and the
  // lines packed anew with the chance that they are gone by then, for every loop around the Pack.
  ByArray<PerLevel> worst_inside_;
  struct Repacked {
    ArrayId buffer;
    double lines;
    PerLevel gone_before;
  };
  std::vector<Repacked> repacked_;
  PerArray cold_;
  const ByArray<bool> none_moves_{arrays_.size(), false}, all_move_{arrays_.size(), true};
};

}  // namespace

Bytes common_line(const Machine& machine) {
  if (machine.cache_count() < 1 || machine.cache_count() > static_cast<int>(max_levels)) {
    throw UnsupportedError(machine.name, "the model needs 1 to 8 caches", "describe so many");
  }
  const Bytes line = machine.levels.front().line.value;
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    const auto refuse = [&](const std::string& what, const char* mend) {
      throw UnsupportedError(fmt::format("{}: level '{}'", machine.name, level.name),
                             fmt::format("{} not modelled", what), mend);
    };
    if (level.kind != LevelKind::cache) {
      refuse(fmt::format("a {} inside the outermost level is", to_text(level.kind)),
             "describe caches up to the outermost level");
    }
    if (level.replacement.value != Replacement::lru) {
      refuse(fmt::format("replacement {} is", to_text(level.replacement.value)), "use lru");
    }
    if (level.write != WritePolicy::write_back || !level.write_allocate) {
      refuse("writing through, or without allocating, is", "use write-back with write_allocate");
    }
    if (level.prefetch != Prefetch::none) refuse("prefetching is", "use prefetch none");
    if (level.victim_lines != 0) refuse("a victim cache is", "use victim_lines 0");
    if (level.line.value != line) {
      throw UnsupportedError(machine.name, "caches with lines of different sizes",
                             "give all caches one line size");
    }
  }
  return line;
}

Lines kept_lines(const Machine& machine, LevelId cache) {
  const Level& level = machine.level(cache);
  const int l = index(cache);
  if (l == 0 || level.inclusion.value != Inclusion::exclusive) return level.lines();
  return level.lines() + kept_lines(machine, LevelId{l - 1});
}

std::vector<SetAssociative> sets_of_caches(const Machine& machine) {
  std::vector<SetAssociative> caches;
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    const std::int64_t lines = kept_lines(machine, LevelId{l}).value();
    const std::int64_t ways = level.ways.value;
    if (level.sets() == 1) {
      caches.push_back({1, lines});
    } else {
      caches.push_back({static_cast<double>(lines) / static_cast<double>(ways), ways});
    }
  }
  return caches;
}

Traffic window_traffic(const Contraction& contraction, const Schedule& schedule,
                       const Machine& machine, SharedCounts& counts, double margin, Detail detail) {
  return WindowModel(contraction, schedule, machine, counts, margin, detail).traffic();
}

WarmLines warm_lines(const Contraction& contraction, const Schedule& schedule,
                     const Machine& machine, SharedCounts& counts, Detail detail) {
  return WindowModel(contraction, schedule, machine, counts, 1, detail).warm();
}

}  // namespace tcsim
