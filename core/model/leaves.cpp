#include "core/model/leaves.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "core/model/line_touches.hpp"
#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

namespace tcsim {

namespace {

// Source of these: chosen, so that counting takes some milliseconds.
constexpr double largest_leaf = 1.0 / 4;   // of the cache
constexpr double most_leaf_touches = 3e6;  // of lines, in all
constexpr double most_looked_up = 750000;  // of those, in the sets that are looked at
constexpr double most_copied = 1e7;        // elements, by all packs
constexpr std::int64_t sets_looked_at = 128;
constexpr double uneven = 0.25;  // share of all touches by which they may stand for another number

// Of the sets of both caches, so many that what stands for all of the outer one is enough.
SomeSets some_sets(const LeafCaches& caches) {
  const std::int64_t inner = std::llround(caches.inside.sets);
  const std::int64_t outer = std::llround(caches.cache.sets);
  const std::int64_t common = std::gcd(inner, outer);
  const std::int64_t power_of_two = common & -common;
  return {power_of_two, std::max<std::int64_t>(1, outer / sets_looked_at)};
}

class LeafWalk {
 public:
  LeafWalk(const Contraction& contraction, const Schedule& schedule, const Nest& nest, int leaf,
           const LeafCaches& caches, SomeSets looked_at, Bytes line)
      : nest_(nest),
        plan_(contraction, schedule),
        lines_(plan_, line, *this),
        leaf_(leaf),
        exclusive_(caches.exclusive),
        looked_at_(std::move(looked_at)),
        inside_(caches.inside, looked_at_),
        cache_(caches.cache, looked_at_),
        found_(nest.arrays().size()) {
    for (TensorId t : all_tensors) find_rows(t);
  }

  std::optional<CountedLines> count() {
    walk(plan_, *this);
    write_back();
    double wrong = 0, all = 0;
    for (ArrayId a : nest_.arrays().ids()) {
      const auto touches = static_cast<double>(lines_.touches(a));
      const auto looked_up = static_cast<double>(looked_up_[a]);
      wrong += std::abs(looked_up * looked_at_.stands_for() - touches);
      all += touches;
      const double times = looked_up > 0 ? touches / looked_up : looked_at_.stands_for();
      found_.kernels[a] *= times;
      found_.packing[a] *= times;
      found_.written[a] *= times;
    }
    // Tiles whose rows are powers of two apart lie in few sets.
    if (wrong > uneven * all) return {};
    return found_;
  }

  // As a visitor of walk() has them.
  bool skips(const Iteration& it) {
    if (static_cast<int>(it.depth) != leaf_) return false;
    const Tile& tile = *it.tile;
    for (TensorId t : all_tensors) {
      const PackPlan* const pack = t == TensorId::C ? nullptr : plan_.pack(t);
      if (pack == nullptr) {
        touch_region(t, tile);
      } else if (nest_.pack_depth(t) > leaf_) {
        packs_ = true;
        touch_region(t, tile);
        const std::int64_t size = elements(*pack, tile) * places(*pack, tile);
        lines_.touch(pack->buffer, 0, std::min(pack->capacity, size), true);
        packs_ = false;
      } else {
        touch_packed(*pack, tile, t == plan_.left() ? it.left_offset : it.right_offset);
      }
    }
    return true;
  }
  void pack(const PackPlan& pack, const Tile& tile) {
    packs_ = true;
    lines_.copy(pack, tile);
    packs_ = false;
  }

 private:
  // Of a tensor: its groups, the one in which neighbours lie last, and how many of them there are
  // from each index of that one on.
  struct Rows {
    std::array<DimClass, 4> groups{};
    std::size_t count = 0;
    Runs runs;
  };

  void find_rows(TensorId t) {
    Rows& rows = rows_[t];
    for (DimClass g : all_dim_classes) {
      if (plan_.follows(t, g)) rows.groups[rows.count++] = g;
    }
    if (rows.count == 0) return;  // a single number
    const auto step = [&](DimClass g) {
      if (plan_.extent(g) < 2) return std::numeric_limits<std::int64_t>::max();
      return std::abs(plan_.offset(t, g, 1) - plan_.offset(t, g, 0));
    };
    std::stable_sort(rows.groups.begin(), rows.groups.begin() + static_cast<int>(rows.count),
                     [&](DimClass a, DimClass b) { return step(a) > step(b); });
    const DimClass last = rows.groups[rows.count - 1];
    rows.runs = Runs::of_neighbours(plan_.offsets(t, last));
  }

  // All lines of a tensor's tile, those that several rows share more than once.
  void touch_region(TensorId t, const Tile& tile) {
    const Rows& rows = rows_[t];
    if (rows.count == 0) return lines_.touch(array_of(t), 0, 1, t == TensorId::C);
    const auto visit = [&](const auto& self, std::size_t i, std::int64_t start) -> void {
      const DimClass g = rows.groups[i];
      if (i + 1 == rows.count) return lines_.row(t, g, tile[g], start, rows.runs);
      for (std::int64_t j = tile[g].begin; j < tile[g].begin + tile[g].size; ++j) {
        self(self, i + 1, start + plan_.offset(t, g, j));
      }
    };
    visit(visit, 0, 0);
  }

  // What a tile has of a packed copy, from an offset on.
  void touch_packed(const PackPlan& pack, const Tile& tile, std::int64_t from) {
    const Interval batch = tile[DimClass::batch];
    const std::int64_t size = elements(pack, tile);
    if (pack.places == 1 || place_is_known(pack)) {
      return lines_.touch(pack.buffer, from, size, false);
    }
    for (std::int64_t b = batch.begin; b < batch.begin + batch.size; ++b) {
      lines_.touch(pack.buffer, from + b % pack.places * pack.place, size, false);
    }
  }

  // Whether loops up to the leaf go through the places of the batch one by one: then offsets in the
  // copy know them.
  bool place_is_known(const PackPlan& pack) const {
    for (int d = nest_.pack_depth(pack.tensor); d <= leaf_; ++d) {
      const Step& s = nest_.step(d);
      if (s.kind == Step::Kind::loop && s.group == DimClass::batch && s.tile == 1) return true;
    }
    return false;
  }

  // Of a tile's copy, of one place of the batch.
  static std::int64_t elements(const PackPlan& pack, const Tile& tile) {
    const std::int64_t panels = (tile[pack.rows].size + pack.panel - 1) / pack.panel;
    return panels * pack.panel * tile[DimClass::k].size;
  }
  static std::int64_t places(const PackPlan& pack, const Tile& tile) {
    return pack.places == 1 ? 1 : tile[DimClass::batch].size;
  }

  friend class LineTouches<LeafWalk>;
  std::int64_t next(std::int64_t line) const { return looked_at_.next(line); }
  void touch_line(ArrayId a, std::int64_t line, bool writes) {
    ++looked_up_[a];
    std::optional<std::pair<std::int64_t, bool>> left;  // the cache inside, and whether dirty
    const bool there = inside_.touch(
        line, writes, [&](std::int64_t old, bool dirty) { left = std::pair(old, dirty); });
    if (there) return;
    bool found = false;
    if (exclusive_) {
      const std::optional<bool> dirty = cache_.take(line);
      found = dirty.has_value();
      if (dirty.value_or(false)) inside_.touch(line, true, [](std::int64_t, bool) {});
    }
    // What leaves the cache inside changed is the newest here again.
    if (left && (exclusive_ || left->second)) enter(left->first, left->second);
    if (!exclusive_) found = enter(line, false);
    if (!found) (packs_ ? found_.packing : found_.kernels)[a] += 1;
  }

  // What is dirty at the end leaves, too.
  void write_back() {
    std::vector<std::int64_t> lines;
    inside_.add_dirty(lines);
    cache_.add_dirty(lines);
    std::ranges::sort(lines);
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    for (std::int64_t line : lines) found_.written[lines_.owner(line)] += 1;
  }

  // Whether the line was in the cache; it is afterwards.
  bool enter(std::int64_t line, bool changed) {
    return cache_.touch(line, changed, [&](std::int64_t old, bool dirty) {
      if (dirty) found_.written[lines_.owner(old)] += 1;
    });
  }

  const Nest& nest_;
  Plan plan_;
  LineTouches<LeafWalk> lines_;
  int leaf_;
  bool exclusive_;
  SomeSets looked_at_;
  CountedCache inside_, cache_;
  ByTensor<Rows> rows_;
  bool packs_ = false;
  ByArray<std::int64_t> looked_up_{max_arrays};  // touches of lines that are looked at
  CountedLines found_;
};

// Whether a walk is short enough.
bool is_short(const Nest& nest, int leaf, double stands_for) {
  const Extents e = nest.whole();
  const std::vector<Extents> narrowed = nest.narrowed(0, e);
  const auto executions = [&](int d) {
    return indices_in(e) / indices_in(narrowed[static_cast<std::size_t>(d)]);
  };
  double touches = executions(leaf + 1) * sum_of(nest.lines(leaf + 1, narrowed)), copied = 0;
  for (int d = 0; d < leaf; ++d) {
    if (nest.step(d).kind != Step::Kind::move) continue;
    const Extents& tile = narrowed[static_cast<std::size_t>(d)];
    const TensorId t = nest.step(d).tensor;
    touches += executions(d) * (nest.tensor_lines(t, tile) + nest.buffer_lines(t, tile));
    Extents own = tile;
    for (DimClass g : all_dim_classes) own[g] = nest.path().follows(t, g) ? tile[g] : 1;
    copied += executions(d) * indices_in(own);
  }
  return touches <= std::min(most_leaf_touches, most_looked_up * stands_for) &&
         copied <= most_copied;
}

}  // namespace

int leaf_of(const Nest& nest, const SetAssociative& cache) {
  const std::vector<Extents> narrowed = nest.narrowed(0, nest.whole());
  for (int d = 0; d + 1 < nest.depth(); ++d) {
    if (nest.step(d).kind != Step::Kind::loop) continue;
    if (sum_of(nest.lines(d + 1, narrowed)) <= largest_leaf * cache.lines()) return d;
  }
  return -1;
}

std::optional<CountedLines> count_leaves(const Contraction& contraction, const Schedule& schedule,
                                         const Nest& nest, int leaf, const LeafCaches& caches,
                                         Bytes line) {
  SomeSets looked_at = some_sets(caches);
  if (!nest.has_plan() || !is_short(nest, leaf, looked_at.stands_for())) return {};
  return LeafWalk(contraction, schedule, nest, leaf, caches, std::move(looked_at), line).count();
}

}  // namespace tcsim
