#include "core/model/window.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/model/core_link.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"

namespace tcsim {

namespace {

constexpr std::size_t max_levels = 8;
using PerLevel = std::array<double, max_levels>;

std::size_t at(ArrayId a) { return static_cast<std::size_t>(index(a)); }
std::size_t at(int d) { return static_cast<std::size_t>(d); }

// How many loops around a line have their first, last and inner positions told apart; further in,
// a line counts as an inner one, since that moves a window by little.
constexpr int told_apart = 3;

// Which iteration of a loop that its array follows a line belongs to: 0 to count - 1, and the share
// of the lines for which it stands.
struct Position {
  double iteration, share;
};

// The ends are told from the inner iterations; `finely`, also where in between.
std::vector<Position> positions(double count, bool finely) {
  if (finely && count <= 8) {
    std::vector<Position> all;
    for (double i = 0; i < count; ++i) {
      all.push_back({std::min(i, count - 1), std::min(1.0, count - i) / count});
    }
    return all;
  }
  const double end = std::min(0.5, 1 / count), inner = 1 - 2 * end;
  std::vector<Position> all{{0, end}, {count - 1, end}};
  const int parts = inner <= 0 ? 0 : finely ? 4 : 1;
  for (int i = 0; i < parts; ++i) {
    all.push_back({(i + 0.5) / parts * (count - 1), inner / parts});
  }
  return all;
}

// One execution of the steps from `from` on, seen by the lines of one array: how much each array
// touches after and before a line of X. X is touched by the kernel, by a Pack, or by both.
class Window {
 public:
  Window(const Nest& nest, int from, const Extents& extents)
      : nest_(nest),
        from_(from),
        narrowed_(nest.narrowed(from, extents)),
        full_(nest.lines(from, narrowed_)) {}

  const PerArray& full(int d) const { return full_[at(d)]; }
  const Extents& extents(int d) const { return narrowed_[at(d)]; }

  // A tile of about so many lines of tensor t, as the nest goes over them: a part of the smallest
  // node that holds them, or several of the whole (the loop around it runs over `outer`).
  Extents box(TensorId t, double lines, DimClass outer) const {
    const std::size_t a = at(array_of(t));
    int d = from_;
    while (d + 1 < nest_.depth() && full_[at(d)][a] > lines && full_[at(d + 1)][a] > 0) ++d;
    Extents e = narrowed_[at(d)];
    const DimClass grows = d == from_ ? outer : nest_.step(d - 1).group;
    if (d == from_ || nest_.step(d - 1).kind == Step::Kind::loop) {
      e[tcsim::at(grows)] *= lines / full_[at(d)][a];
    }
    return e;
  }

  struct Sides {
    PerArray after{}, before{};
    double share = 1;  // of the positions
  };

  // Calls f(sides) for every position of x's lines: after x here, before x in the `next` execution.
  template <class F>
  void for_each_position(ArrayId x, const Window& next, F&& f) const {
    visit_positions(x, from_, [&](const Places& places, double share) {
      Sides s = sides(x, places);
      if (&next != this) s.before = next.sides(x, places).before;
      s.share = share;
      f(s);
    });
  }

  // The same for a buffer between its Pack, at depth from_, and the nest inside.
  template <class F>
  void for_each_handed_over(ArrayId buffer, F&& f) const {
    visit_positions(buffer, from_ + 1, [&](const Places& places, double share) {
      Sides inside = kernel_sides(buffer);
      for (int d = nest_.depth() - 2; d > from_; --d) outward(inside, buffer, d, places);
      Sides s;
      s.before = inside.before;
      s.share = share;
      add_pack(s.after, TensorId{index(buffer) - index(ArrayId::packed_A)}, from_,
               1 - way_through(buffer, places));
      f(s);
    });
  }

 private:
  // Iterations of the loops whose positions are told apart, by depth.
  using Places = std::vector<std::pair<int, double>>;

  static bool is_buffer(ArrayId a) { return index(a) >= index(ArrayId::packed_A); }

  // Calls f(places, share) for the positions of x within the steps from `from` on. How far a line
  // is through its buffer matters finely, since packing goes through it in the same order.
  template <class F>
  void visit_positions(ArrayId x, int from, F&& f) const {
    Places places;
    for (int d = from; d < leaf(x) && static_cast<int>(places.size()) < told_apart; ++d) {
      if (nest_.follows(x, d) && count(d) > 1) places.emplace_back(d, 0);
    }
    const auto visit = [&](const auto& self, std::size_t i, double share) -> void {
      if (i == places.size()) return f(places, share);
      for (const Position& p : positions(count(places[i].first), is_buffer(x) && i == 0)) {
        places[i].second = p.iteration;
        self(self, i + 1, share * p.share);
      }
    };
    visit(visit, 0, 1.0);
  }

  double iteration(int d, const Places& places) const {
    for (const auto& [depth, i] : places) {
      if (depth == d) return std::min(i, count(d) - 1);
    }
    return (count(d) - 1) / 2;
  }

  // Share of a buffer that its Pack fills before the line.
  double way_through(ArrayId buffer, const Places& places) const {
    for (const auto& [d, i] : places) {
      if (nest_.follows(buffer, d)) return std::min(1.0, (i + 0.5) / count(d));
    }
    return 0.5;
  }

  // Depth of the last step that touches x.
  int leaf(ArrayId x) const {
    if (is_buffer(x) || x == ArrayId::C) return nest_.depth() - 1;
    const int pack = nest_.pack_depth(TensorId{index(x)});
    return pack < 0 ? nest_.depth() - 1 : pack;
  }

  // Iterations of the loop at d, not rounded.
  double count(int d) const {
    const auto g = tcsim::at(nest_.step(d).group);
    return extents(d)[g] / extents(d + 1)[g];
  }

  void add_pack(PerArray& side, TensorId t, int d, double share) const {
    for (ArrayId a : {array_of(t), buffer_of(t)}) {
      double& lines = side[at(a)];
      lines = std::min(full(d)[at(a)], lines + share * full(d)[at(a)]);
    }
  }

  // At the kernel: A and B advance together along k, C comes after both.
  Sides kernel_sides(ArrayId x) const {
    PerArray u = full(nest_.depth() - 1);
    u[at(x)] = std::max(0.0, u[at(x)] - 1);
    Sides s;
    const double done = x == ArrayId::C ? 1 : 0.5;
    for (ArrayId a : all_arrays) {
      const double before = a == ArrayId::C ? (x == ArrayId::C ? 0.5 : 0) : done;
      s.before[at(a)] = before * u[at(a)];
      s.after[at(a)] = (1 - before) * u[at(a)];
    }
    return s;
  }

  // From the sides within step d + 1 to those within step d.
  void outward(Sides& s, ArrayId x, int d, const Places& places) const {
    const Step& step = nest_.step(d);
    if (step.kind == Step::Kind::pack) {
      if (buffer_of(step.tensor) == x) s.before = {};  // its first touch is the Pack's
      add_pack(s.before, step.tensor, d, buffer_of(step.tensor) == x ? way_through(x, places) : 1);
      return;
    }
    const double c = count(d);
    if (c <= 1) return;
    if (!nest_.follows(x, d)) return;  // last touched in the last iteration, first in the first
    const double p = iteration(d, places);
    for (ArrayId a : all_arrays) {
      const double inner = full(d + 1)[at(a)];
      if (nest_.follows(a, d)) {
        s.after[at(a)] += (c - 1 - p) * inner;
        s.before[at(a)] += p * inner;
      } else {
        if (p < c - 1) s.after[at(a)] = inner;
        if (p > 0) s.before[at(a)] = inner;
      }
    }
  }

  Sides sides(ArrayId x, const Places& places) const {
    Sides s;
    int d = leaf(x);
    if (d == nest_.depth() - 1) {
      s = kernel_sides(x);
    } else {
      // The source of a Pack: half of the Pack on either side, then the whole nest inside.
      const TensorId t{index(x)};
      add_pack(s.before, t, d, 0.5);
      add_pack(s.after, t, d, 0.5);
      for (ArrayId a : all_arrays) {
        s.after[at(a)] = std::min(full(d)[at(a)], s.after[at(a)] + full(d + 1)[at(a)]);
      }
    }
    for (--d; d >= from_; --d) outward(s, x, d, places);
    return s;
  }

  const Nest& nest_;
  int from_;
  std::vector<Extents> narrowed_;
  std::vector<PerArray> full_;
};

class WindowModel {
 public:
  WindowModel(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
              SetCounter& counter, double margin)
      : contraction_(contraction),
        line_(common_line(machine)),
        nest_(contraction, schedule, line_),
        counter_(counter),
        margin_(margin) {
    for (int l = 0; l < machine.cache_count(); ++l) {
      const Level& level = machine.level(LevelId{l});
      caches_.push_back({static_cast<double>(level.sets()), static_cast<int>(level.ways.value)});
    }
  }

  Traffic traffic() {
    count_cold();
    for (int d = 0; d + 1 < nest_.depth(); ++d) count_step(d);
    count_kernel();
    count_write_backs();
    Traffic t;
    t.links.resize(caches_.size() + 1);
    t.links[0] = core_link(nest_, size_of(contraction_.type()));
    const auto bytes = [&](double lines) { return Bytes(std::llround(lines) * line_.value()); };
    for (std::size_t l = 0; l < caches_.size(); ++l) {
      for (ArrayId x : all_arrays) {
        for (Phase p : all_phases) {
          t.links[l + 1].at(p, x) = {
              bytes(fills_[static_cast<std::size_t>(index(p))][at(x)][l]),
              bytes(write_backs_[static_cast<std::size_t>(index(p))][at(x)][l])};
        }
      }
    }
    return t;
  }

 private:
  static bool is_buffer(ArrayId a) { return index(a) >= index(ArrayId::packed_A); }
  int pack_depth(ArrayId x) const {
    return nest_.pack_depth(
        TensorId{is_buffer(x) ? index(x) - index(ArrayId::packed_A) : index(x)});
  }

  // Large numbers are rounded to quarter octaves, so that few boxes are counted.
  static double coarse(double lines) {
    return lines < 256 ? lines : std::exp2(std::round(std::log2(lines) * 4) / 4);
  }

  // What lies around a class of touches: the array asked for, the node whose executions are apart,
  // which arrays its executions show different lines of, and the group of the loop around it.
  struct Setting {
    ArrayId x;
    const Window& window;
    int d;
    std::array<bool, array_count> moves_on;
    DimClass outer;
    PerArray most{};  // lines that two neighbouring executions touch; 0: not known
  };

  // Chance at every level that the line is gone after the window between the sides.
  PerLevel gone(const Setting& at_, const Window::Sides& s) {
    std::array<WindowPart, array_count> parts;
    for (ArrayId a : all_arrays) {
      WindowPart& part = parts[at(a)];
      part.lines = s.after[at(a)] + s.before[at(a)];
      if (!at_.moves_on[at(a)]) part.lines = std::min(part.lines, at_.window.full(at_.d)[at(a)]);
      if (at_.most[at(a)] > 0) part.lines = std::min(part.lines, at_.most[at(a)]);
      part.lines *= margin_;
      // Neighbouring tiles of a buffer lie side by side: whatever part is seen is one run.
      part.run = is_buffer(a) ? part.lines + 1
                              : nest_.run_lines(TensorId{index(a)}, at_.window.extents(at_.d));
      part.own = a == at_.x;
    }
    double total = 0;
    for (const WindowPart& part : parts) total += part.lines;
    PerLevel p{};
    double inner = 1;  // a level is only asked for what the level inside it lacks
    for (std::size_t l = 0; l < caches_.size() && inner > 0; ++l) {
      const CacheShape& cache = caches_[l];
      const bool near = cache.sets > 1 && total >= cache.ways && total < 3 * cache.lines();
      if (near) count_sets(parts, at_, cache);
      p[l] = miss_probability(cache, parts);
      for (WindowPart& part : parts) part.counts = nullptr;
      p[l] = std::min(inner, p[l]);
      inner = p[l];
    }
    return p;
  }

  void count_sets(std::array<WindowPart, array_count>& parts, const Setting& at_,
                  const CacheShape& cache) {
    for (TensorId t : all_tensors) {
      WindowPart& part = parts[at(array_of(t))];
      if (part.lines < 1) continue;
      part.counts =
          counter_.count(nest_.tile_lines(t), at_.window.box(t, coarse(part.lines), at_.outer),
                         static_cast<std::int64_t>(cache.sets), 4 * cache.ways);
    }
  }

  void add_fills(ArrayId x, Phase phase, double touches, const PerLevel& p) {
    for (std::size_t l = 0; l < caches_.size(); ++l) {
      fills_[static_cast<std::size_t>(index(phase))][at(x)][l] += touches * p[l];
    }
  }

  // Touches of every array that have none before them.
  void count_cold() {
    Extents whole;
    for (DimClass g : all_dim_classes) whole[tcsim::at(g)] = nest_.ranges(0, g)[0].size;
    cold_ = lines_at(0, whole);
    PerLevel always;
    always.fill(1);
    for (ArrayId x : all_arrays) add_fills(x, new_round(x), cold_[at(x)], always);
  }

  // The phase in which an array is first touched.
  Phase new_round(ArrayId x) const { return pack_depth(x) < 0 ? Phase::compute : Phase::packing; }

  void count_write_backs() {
    // Every line of C that enters a level is written before it leaves.
    write_backs_[0][at(ArrayId::C)] = fills_[0][at(ArrayId::C)];
    for (TensorId t : {TensorId::A, TensorId::B}) {
      if (nest_.pack_depth(t) < 0) continue;
      // A buffer's line is dirty from one Pack to the next, and written back once if it is pushed
      // out at any time between the two; after the last Pack it is written back in any case.
      const std::size_t x = at(buffer_of(t));
      for (std::size_t l = 0; l < caches_.size(); ++l) {
        write_backs_[1][x][l] = cold_[x];
        for (const auto& [packs, gone_before] : repacked_[x]) {
          write_backs_[1][x][l] += packs * std::max(gone_before[l], worst_inside_[x][l]);
        }
      }
    }
  }

  // Calls f(extents, times) for every combination of ranges that step d finds.
  template <class F>
  void for_each_range(int d, F&& f) const {
    Extents e;
    const auto visit = [&](const auto& self, std::size_t g, double times) -> void {
      if (g == e.size()) return f(e, times);
      for (const auto& r : nest_.ranges(d, all_dim_classes[g])) {
        e[g] = r.size;
        self(self, g + 1, times * r.times);
      }
    };
    visit(visit, 0, 1.0);
  }

  // A kernel reads an operand in place column by column: lines that several columns share are
  // touched again as many steps of k later as neighbours lie apart.
  void count_kernel() {
    const int d = nest_.depth() - 1;
    const auto k = tcsim::at(DimClass::k);
    for_each_range(d, [&](const Extents& e, double times) {
      if (e[k] <= 1) return;
      Extents column = e;
      column[k] = 1;
      const Window w(nest_, d, e);
      for (TensorId t : {TensorId::A, TensorId::B}) {
        if (nest_.pack_depth(t) >= 0) continue;
        const ArrayId x = array_of(t);
        const double again = nest_.tensor_lines(t, column) * e[k] - nest_.tensor_lines(t, e);
        if (again <= 0) continue;
        Extents between = e;
        between[k] = std::clamp(nest_.tile_lines(t).apart(DimClass::k), 1.0, e[k]);
        Window::Sides s;
        s.after = lines_at(d, between);
        s.after[at(ArrayId::C)] = 0;
        s.after[at(x)] = std::max(0.0, s.after[at(x)] - 1);
        add_fills(x, Phase::compute, times * again, gone({x, w, d, {}, DimClass::k}, s));
      }
    });
  }

  // The touches whose last touch lies across step d: in another iteration of this loop, or in the
  // Pack that fills a buffer.
  void count_step(int d) {
    const Step& step = nest_.step(d);
    for_each_range(d, [&](const Extents& e, double times) {
      if (step.kind == Step::Kind::pack) {
        count_handed_over(buffer_of(step.tensor), d, e, times);
      } else {
        count_carried(d, e, times);
      }
    });
  }

  void count_handed_over(ArrayId x, int d, const Extents& e, double times) {
    const Window w(nest_, d, e);
    PerLevel p{};
    w.for_each_handed_over(x, [&](const Window::Sides& s) {
      const PerLevel q = gone({x, w, d, {}, DimClass::k}, s);
      for (std::size_t l = 0; l < caches_.size(); ++l) p[l] += s.share * q[l];
    });
    remember_worst(x, p);
    add_fills(x, Phase::compute, times * w.full(d)[at(x)], p);
  }

  void count_carried(int d, const Extents& e, double times) {
    const auto g = tcsim::at(nest_.step(d).group);
    const auto tile = static_cast<double>(nest_.step(d).tile);
    const double iterations = std::ceil(e[g] / tile - 1e-9);
    if (iterations <= 1) return;
    Extents child = e, rest = e;
    child[g] = std::min(tile, e[g]);
    rest[g] = e[g] - tile * (iterations - 1);
    const bool smaller_last = rest[g] < child[g] * (1 - 1e-9);
    const Window w(nest_, d + 1, child);
    std::optional<Window> smaller;
    if (smaller_last) smaller.emplace(nest_, d + 1, rest);
    const Window& last = smaller ? *smaller : w;
    std::array<bool, array_count> moves_on{};
    for (ArrayId a : all_arrays) moves_on[at(a)] = nest_.follows(a, d);

    const PerArray most = pair_lines(d, e, child);
    for (ArrayId x : all_arrays) {
      const Setting setting{x, w, d + 1, moves_on, nest_.step(d).group, most};
      const int pack = pack_depth(x);
      if (is_buffer(x) ? pack < 0 : pack >= 0 && d > pack) continue;
      const double lines = w.full(d + 1)[at(x)], last_lines = last.full(d + 1)[at(x)];
      if (nest_.follows(x, d)) {
        const double apart = (iterations - 1) * lines + last_lines;
        count_shared_edges(setting, d, e, times * apart, times * (apart - lines_at(d, e)[at(x)]));
        continue;
      }
      const double pairs = iterations - 1 - (smaller_last ? 1 : 0);
      if (pairs > 0) count_pairs(setting, d, w, times * pairs * lines);
      if (smaller_last) count_pairs(setting, d, last, times * last_lines);
    }
  }

  // Lines that two neighbouring tiles touch, at most all that the loop at depth d touches.
  PerArray pair_lines(int d, const Extents& e, const Extents& child) const {
    const auto g = tcsim::at(nest_.step(d).group);
    PerArray lines = lines_at(d, e);
    Extents pair = child;
    pair[g] = std::min(e[g], 2 * child[g]);
    const PerArray of_pair = lines_at(d + 1, pair);
    for (std::size_t a = 0; a < lines.size(); ++a) lines[a] = std::min(lines[a], of_pair[a]);
    return lines;
  }

  // Lines of every array that the steps from d on touch when step d finds `e`.
  PerArray lines_at(int d, const Extents& e) const {
    return nest_.lines(d, nest_.narrowed(d, e))[at(d)];
  }

  // Touches of lines that the iteration before touched as well, `next` being the later one.
  void count_pairs(const Setting& setting, int d, const Window& next, double touches) {
    const ArrayId x = setting.x;
    PerLevel p{};
    setting.window.for_each_position(x, next, [&](const Window::Sides& s) {
      const PerLevel q = gone(setting, s);
      for (std::size_t l = 0; l < caches_.size(); ++l) p[l] += s.share * q[l];
    });
    const bool inside = is_buffer(x) && d > pack_depth(x);
    if (inside) remember_worst(x, p);
    if (is_buffer(x) && !inside) repacked_[at(x)].emplace_back(touches, p);
    add_fills(x, inside ? Phase::compute : new_round(x), touches, p);
  }

  // Tiles of an array that follows the loop share lines only where their edges fall inside a line,
  // or where the stride-one dimension lies behind others in the group: then the line comes back
  // when the loop reaches that dimension's next index. `touches` of all are such.
  void count_shared_edges(const Setting& setting, int d, const Extents& e, double all,
                          double touches) {
    if (touches < 1e-6 * all) return;
    const double steps =
        steps_apart(setting.x, d) / setting.window.extents(d + 1)[tcsim::at(setting.outer)];
    if (steps <= 1) return count_pairs(setting, d, setting.window, touches);
    Extents grown = setting.window.extents(d + 1);
    grown[tcsim::at(setting.outer)] *= steps;
    Window::Sides s;
    s.after = lines_at(d + 1, grown);
    s.after[at(setting.x)] = std::max(0.0, s.after[at(setting.x)] - 1);
    Setting several = setting;
    several.most = lines_at(d, e);
    several.moves_on.fill(true);  // the lines are those of all the tiles in between
    add_fills(setting.x, new_round(setting.x), touches, gone(several, s));
  }

  double steps_apart(ArrayId x, int d) const {
    return is_buffer(x) ? 0 : nest_.tile_lines(TensorId{index(x)}).apart(nest_.step(d).group);
  }

  void remember_worst(ArrayId x, const PerLevel& p) {
    PerLevel& worst = worst_inside_[at(x)];
    for (std::size_t l = 0; l < caches_.size(); ++l) worst[l] = std::max(worst[l], p[l]);
  }

  const Contraction& contraction_;
  Bytes line_;
  Nest nest_;
  SetCounter& counter_;
  double margin_;
  std::vector<CacheShape> caches_;
  std::array<std::array<PerLevel, array_count>, 2> fills_{};  // [Phase][ArrayId]
  std::array<std::array<PerLevel, array_count>, 2> write_backs_{};
  // Of buffers: the largest chance of a class of touches between a Pack and its nest's end, and the
  // lines packed anew with the chance that they are gone by then, for every loop around the Pack.
  std::array<PerLevel, array_count> worst_inside_{};
  std::array<std::vector<std::pair<double, PerLevel>>, array_count> repacked_;
  PerArray cold_{};
};

}  // namespace

Bytes common_line(const Machine& machine) {
  if (machine.cache_count() < 1 || machine.cache_count() > static_cast<int>(max_levels)) {
    throw UnsupportedError(machine.name, "the model needs 1 to 8 caches", "describe so many");
  }
  const Bytes line = machine.levels.front().line.value;
  for (int l = 1; l < machine.cache_count(); ++l) {
    if (machine.level(LevelId{l}).line.value != line) {
      throw UnsupportedError(machine.name, "caches with lines of different sizes",
                             "give all caches one line size");
    }
  }
  return line;
}

Traffic window_traffic(const Contraction& contraction, const Schedule& schedule,
                       const Machine& machine, SetCounter& counter, double margin) {
  return WindowModel(contraction, schedule, machine, counter, margin).traffic();
}

}  // namespace tcsim
