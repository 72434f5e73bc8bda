#include "core/model/window.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>

#include "core/error.hpp"
#include "core/model/core_link.hpp"
#include "core/model/countable.hpp"
#include "core/model/execution.hpp"
#include "core/model/nest.hpp"
#include "core/model/overlap.hpp"

namespace tcsim {

namespace {

constexpr std::size_t max_levels = 8;
using PerLevel = std::array<double, max_levels>;

class WindowModel {
 public:
  WindowModel(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
              SetCounter& counter, double margin, Detail detail)
      : contraction_(contraction),
        machine_(machine),
        line_(common_line(machine)),
        nest_(contraction, schedule, line_),
        arrays_(nest_.arrays()),
        counter_(counter),
        margin_(margin),
        detail_(detail),
        caches_(sets_of_caches(machine)),
        fills_{ByArray<PerLevel>(arrays_.size()), ByArray<PerLevel>(arrays_.size())},
        write_backs_(fills_),
        worst_inside_(arrays_.size()),
        tensor_places_(tensor_places(contraction)) {
    for (int l = 0; l < machine.cache_count(); ++l) {
      const Level& level = machine.level(LevelId{l});
      exclusive_.push_back(l > 0 && level.inclusion.value == Inclusion::exclusive);
    }
  }

  WarmLines warm() {
    count_all();
    WarmLines w;
    w.arrays = arrays_;
    w.registers = core_link(contraction_, nest_, machine_.levels.front().name);
    w.first = cold_;
    w.in = w.out = w.gone = std::vector(caches_.size(), PerArray(arrays_.size()));
    for (std::size_t l = 0; l < caches_.size(); ++l) {
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
    t.links.assign(caches_.size() + 1, LinkTraffic(arrays_));
    t.links[0] = core_link(contraction_, nest_, machine_.levels.front().name);
    for (std::size_t l = 0; l < caches_.size(); ++l) {
      // What an exclusive level holds comes from the level inside it: every line that enters that
      // one leaves it outward again, changed or not.
      const bool all_leave = l + 1 < caches_.size() && exclusive_[l + 1];
      LineCounter count(contraction_, machine_, LevelId{static_cast<int>(l) + 1}, line_);
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
    for (int d = 0; d + 1 < nest_.depth(); ++d) count_step(d);
    count_kernel();
    count_write_backs();
  }

  int pack_depth(ArrayId x) const { return nest_.pack_depth(arrays_.tensor_of(x)); }

  // Large numbers are rounded to quarter octaves, so that few boxes are counted, or to the lines
  // of all, where those are nearer: a whole tensor lies more evenly than most of it.
  static double coarse(double lines, double all) {
    if (lines < 256) return lines;
    const double rounded = std::exp2(std::round(std::log2(lines) * 4) / 4);
    return std::abs(all - lines) <= std::abs(rounded - lines) ? all : rounded;
  }

  // What lies around a class of touches: the array asked for, the node whose executions are apart,
  // which arrays its executions show different lines of, and the group of the loop around it.
  struct Setting {
    ArrayId x;
    const Execution& window;
    int d;
    const ByArray<bool>& moves_on;
    DimClass outer;
    const PerArray* most = nullptr;  // lines that two neighbouring executions touch, if known
  };

  // What an array has in a window. Of an operand that moves on, what is left of the earlier tile
  // and what has come of the later one are different steps of k, and fall on the sets as one tile
  // does. Of C they are two tiles.
  struct Parts {
    std::array<WindowPart, max_arrays + 1> all;
    std::array<ArrayId, max_arrays + 1> array;
    std::array<bool, max_arrays + 1> of_earlier;  // what a tile ends with; else what it begins with
    std::array<Extents, max_arrays + 1> box;      // that is counted in place of the part
    std::size_t size = 0;
    double lines = 0;

    void clear() { size = 0, lines = 0; }
    void add(ArrayId a, double n, double run, bool own, bool earlier = false) {
      all[size] = {n, run, nullptr, own};
      of_earlier[size] = earlier;
      array[size++] = a;
      lines += n;
    }
  };

  void find_parts(const Setting& at_, const Execution::Sides& s) {
    parts_.clear();
    const PerArray& full = at_.window.full(at_.d);
    for (ArrayId a : arrays_.ids()) {
      const double after = s.after[a], before = s.before[a];
      double n = after + before;
      if (!at_.moves_on[a]) n = std::min(n, full[a]);
      if (at_.most != nullptr && (*at_.most)[a] > 0) n = std::min(n, (*at_.most)[a]);
      if (n <= 0) continue;
      n *= margin_;
      const bool own = a == at_.x, buffer = arrays_.is_buffer(a);
      // Neighbouring tiles of a buffer lie side by side: whatever part is seen is one run.
      const double run =
          buffer ? n + 1 : nest_.run_lines(arrays_.tensor_of(a), at_.window.extents(at_.d));
      if (a == ArrayId::C && at_.moves_on[a] && after >= 1 && before >= 1) {
        parts_.add(a, n * after / (after + before), run, own, true);
        parts_.add(a, n * before / (after + before), run, own);
      } else {
        parts_.add(a, n, run, own);
      }
    }
  }

  // Chance at every level that the line is gone after the window between the sides.
  PerLevel gone(const Setting& at_, const Execution::Sides& s) {
    find_parts(at_, s);
    PerLevel p{};
    double inner = 1;  // a level is only asked for what the level inside it lacks
    for (std::size_t l = 0; l < caches_.size() && inner > 0; ++l) {
      const SetAssociative& cache = caches_[l];
      const auto ways = static_cast<double>(cache.ways);
      if (detail_ == Detail::coarse) {
        p[l] = inner = std::min(inner, chance_by_length(cache, parts_.lines));
        continue;
      }
      const bool near = cache.sets > 1 && parts_.lines >= ways && parts_.lines < 3 * cache.lines();
      count_sets(at_, near ? &cache : nullptr);
      const std::span<const WindowPart> all(parts_.all.data(), parts_.size);
      double lost = miss_probability(cache, all);
      if (near && lost > 0 && lost < 1) {
        if (auto placed = place_together(at_, cache)) lost = placed->miss_probability(cache);
      }
      p[l] = inner = std::min(inner, lost);
    }
    return p;
  }

  // Sets fill unevenly, so a window that is somewhat shorter than the cache may lose a line.
  static double chance_by_length(const SetAssociative& cache, double total) {
    const double fill = (total + 1) / cache.lines();
    if (cache.sets == 1) return fill > 1 ? 1 : 0;
    // Shares of the cache that a window fills: from the first on it loses lines, the second later
    // all of them. Source: chosen.
    constexpr double safe = 0.75, steep = 0.4;
    return std::clamp((fill - safe) / steep, 0.0, 1.0);
  }

  // Lines in a set; far more than any cache has where it matters.
  static int told_apart_in_a_set(const SetAssociative& cache) {
    return static_cast<int>(4 * std::min<std::int64_t>(cache.ways, 1 << 20));
  }

  int told_apart() const { return detail_ == Detail::full ? 3 : 1; }

  // Null: their sets are not worth counting.
  void count_sets(const Setting& at_, const SetAssociative* cache) {
    for (std::size_t i = 0; i < parts_.size; ++i) {
      WindowPart& part = parts_.all[i];
      part.counts = nullptr;
      if (cache == nullptr || arrays_.is_buffer(parts_.array[i]) || part.lines < 1) continue;
      const TensorId t = arrays_.tensor_of(parts_.array[i]);
      const double lines = coarse(part.lines, at_.window.full(at_.d)[parts_.array[i]]);
      parts_.box[i] = at_.window.box(t, lines, at_.outer);
      part.counts =
          counter_.count(nest_.tile_lines(t), parts_.box[i], static_cast<std::int64_t>(cache->sets),
                         told_apart_in_a_set(*cache));
    }
  }

  // The window's parts where those of tensors in place are one: how they fall on the sets together.
  struct Placed {
    SetCounts together;
    std::array<WindowPart, max_arrays + 1> parts;
    std::size_t size = 0;
    double miss_probability(const SetAssociative& cache) {
      parts[size] = {together.lines, 1, &together, false};
      return tcsim::miss_probability(cache, {parts.data(), size + 1});
    }
  };

  // None where fewer than two parts have counted sets, or the cache has too many.
  std::optional<Placed> place_together(const Setting& at_, const SetAssociative& cache) {
    std::array<PlacedTile, max_arrays + 1> tiles;
    std::size_t count = 0;
    int own = -1;
    Placed placed;
    const auto line = static_cast<std::int64_t>(line_ / size_of(contraction_.type()));
    const Extents& node = at_.window.extents(at_.d);
    ByArray<int> seen(arrays_.size());
    for (std::size_t i = 0; i < parts_.size; ++i) {
      const WindowPart& part = parts_.all[i];
      if (part.counts == nullptr || part.counts->by_set.empty()) {
        placed.parts[placed.size++] = part;
        continue;
      }
      const ArrayId a = parts_.array[i];
      PlacedTile& tile = tiles[count];
      tile.counts = part.counts;
      tile.lines = part.lines;
      Extents from;  // indices from the tile's beginning to the part's
      for (DimClass g : all_dim_classes) {
        from[g] = parts_.of_earlier[i] ? std::max(0.0, node[g] - parts_.box[i][g]) : 0;
      }
      find_places(tile, arrays_.tensor_of(a), node, at_.outer, seen[a]++, from);
      if (part.own && own < 0) own = static_cast<int>(count);
      ++count;
    }
    if (count < 2 || count > most_placed) return {};
    placed.together =
        counter_.together({tiles.data(), count}, own, static_cast<std::int64_t>(cache.sets),
                          told_apart_in_a_set(cache), line);
    return placed;
  }

  // Where parts of tiles like the node's begin, `from` indices into the tile: tiles at places that
  // are spread over the groups. The next one along `outer` is `later` tiles further.
  void find_places(PlacedTile& tile, TensorId t, const Extents& node, DimClass outer, int later,
                   const Extents& from) {
    const TileLines& tensor = nest_.tile_lines(t);
    for (std::size_t place = 0; place < tile_places; ++place) {
      std::int64_t begin = tensor_places_[t].value() / size_of(contraction_.type()).value();
      for (DimClass g : all_dim_classes) {
        const std::int64_t extent = tensor.extent(g);
        if (extent <= 1) continue;
        const std::int64_t step = std::clamp<std::int64_t>(std::llround(node[g]), 1, extent);
        const std::int64_t steps = extent / step;
        // Bases of Halton's sequence, so that the groups' places do not go together.
        constexpr ByGroup<int> bases{2, 3, 5, 7};
        std::int64_t nth =
            static_cast<std::int64_t>(halton(place, bases[g]) * static_cast<double>(steps));
        if (g == outer) nth += later;
        begin += tensor.place(
            g, std::min(nth * step + static_cast<std::int64_t>(std::llround(from[g])), extent - 1));
      }
      tile.begin[place] = begin;
    }
  }

  static double halton(std::size_t i, int base) {
    double x = 0, digit = 1;
    for (auto rest = static_cast<int>(i); rest > 0; rest /= base) {
      digit /= base;
      x += digit * (rest % base);
    }
    return x;
  }

  void add_fills(ArrayId x, Phase phase, double touches, const PerLevel& p) {
    for (std::size_t l = 0; l < caches_.size(); ++l) {
      fills_[phase][x][l] += touches * p[l];
    }
  }

  // Touches of every array that have none before them.
  void count_cold() {
    Extents whole;
    for (DimClass g : all_dim_classes) {
      whole[g] = static_cast<double>(nest_.ranges(0, g)[0].size);
    }
    cold_ = lines_at(0, whole);
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
      for (std::size_t l = 0; l < caches_.size(); ++l) {
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
        if (nest_.tile_lines(step.tensor).overlaps()) count_copy(step.tensor, d, e, times);
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
      for (std::size_t l = 0; l < caches_.size(); ++l) p[l] += s.share * q[l];
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
    const bool smaller_last = detail_ == Detail::full && rest[g] < child[g] * (1 - 1e-9);
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
      for (std::size_t l = 0; l < caches_.size(); ++l) p[l] += s.share * q[l];
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
    const Extents& tile = setting.window.extents(d + 1);
    const double steps = steps_apart(setting.x, d, tile) / tile[setting.outer];
    if (steps <= 1) return count_pairs(setting, d, setting.window, touches);
    Extents grown = tile;
    grown[setting.outer] *= steps;
    const Execution::Sides s = several_tiles(setting, grown);
    const PerArray most = lines_at(d, e);
    // The lines are those of all the tiles in between.
    const Setting several{setting.x, setting.window, setting.d, all_move_, setting.outer, &most};
    add_fills(setting.x, new_round(setting.x), touches, gone(several, s));
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
    const bool is_left = t == nest_.path().left;
    const DimClass rows = is_left ? DimClass::m : DimClass::n;
    const Execution w(nest_, d, e, told_apart());
    const Setting setting{x, w, d, none_moves_, rows};
    const auto panel = static_cast<double>(is_left ? nest_.path().mr : nest_.path().nr);
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

  double steps_apart(ArrayId x, int d, const Extents& tile) const {
    if (arrays_.is_buffer(x)) return 0;
    const DimClass g = nest_.step(d).group;
    return nest_.tile_lines(arrays_.tensor_of(x)).apart(g, tile[g]);
  }

  void remember_worst(ArrayId x, const PerLevel& p) {
    PerLevel& worst = worst_inside_[x];
    for (std::size_t l = 0; l < caches_.size(); ++l) worst[l] = std::max(worst[l], p[l]);
  }

  const Contraction& contraction_;
  const Machine& machine_;
  Bytes line_;
  Nest nest_;
  const Arrays& arrays_;
  SetCounter& counter_;
  double margin_;
  Detail detail_;
  const std::vector<SetAssociative> caches_;
  std::vector<bool> exclusive_;
  ByPhase<ByArray<PerLevel>> fills_;
  ByPhase<ByArray<PerLevel>> write_backs_;
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
  ByTensor<Bytes> tensor_places_;
  Parts parts_;  // of the window that is looked at
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
                       const Machine& machine, SetCounter& counter, double margin, Detail detail) {
  return WindowModel(contraction, schedule, machine, counter, margin, detail).traffic();
}

WarmLines warm_lines(const Contraction& contraction, const Schedule& schedule,
                     const Machine& machine, SetCounter& counter, Detail detail) {
  return WindowModel(contraction, schedule, machine, counter, 1, detail).warm();
}

}  // namespace tcsim
