#include "core/fusion/reuse_windows.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace tcsim::fusion {

namespace {

// Places of an array that stand for all. Source: chosen.
constexpr int places_full = 16, places_rough = 3;

double halton(int i, int base) {
  double x = 0, digit = 1;
  for (int rest = i + 1; rest > 0; rest /= base) {
    digit /= base;
    x += digit * (rest % base);
  }
  return x;
}

constexpr std::array halton_bases{2, 3, 5, 7, 11, 13, 17, 19};

}  // namespace

ReuseWindows::ReuseWindows(const OperationTree& tree, const Machine& machine, const Storey& storey,
                           const std::vector<const LeafModel*>& leaves,
                           const std::vector<const LeafModel*>& packing, SetCounter* counter)
    : tree_(tree),
      storey_(storey),
      leaves_(leaves),
      packing_(packing),
      counter_(counter),
      line_(static_cast<double>(common_line(machine).value()) /
            static_cast<double>(size_of(element_type(tree)).value())),
      caches_(sets_of_caches(machine)) {}

std::vector<ReuseWindows::Reuse> ReuseWindows::classes(const Touch& x) const {
  std::vector<Reuse> all;
  double left = 1;
  const auto meet = [&](int subtree, int common, double share) {
    double here = share;
    for (const auto& [touch, part] : touches(subtree, x)) {
      all.push_back({here * part, touch, common});
      left -= here * part;
      here *= 1 - part;
    }
  };
  for (int n = x.leaf; left > 1e-9 && storey_.node(n).parent >= 0;) {
    const int parent = storey_.node(n).parent;
    const Storey::Node& p = storey_.node(parent);
    if (p.is_loop()) {
      const bool moves = x.array >= 0 && storey_.moves(parent, x.array);
      if (p.count > 1) {
        meet(n, parent, left * (moves ? edges(x.array, parent, n) : (p.count - 1) / p.count));
      }
    } else {
      for (int i = storey_.node(n).place; i-- > 0 && left > 1e-9;) {
        meet(p.children[slot(i)], parent, left);
      }
    }
    n = parent;
  }
  if (left > 1e-9) all.push_back({left, {}, -1});
  return all;
}

std::vector<double> ReuseWindows::gone(const Touch& x, const Reuse& reuse) const {
  std::vector<double> p(caches_.size(), 1);
  if (reuse.common < 0) return p;
  std::fill(p.begin(), p.end(), 0.0);
  const int points = counter_ != nullptr ? places_full : places_rough;
  for (int i = 0; i < points; ++i) {
    const std::vector<double> here = gone_at(x, reuse, i);
    for (std::size_t l = 0; l < p.size(); ++l) p[l] += here[l] / points;
  }
  return p;
}

double ReuseWindows::edges(int array, int loop, int body) const {
  const Storey::Node& node = storey_.node(loop);
  const double tiles =
      static_cast<double>(node.ranges[slot(node.index)]) / static_cast<double>(node.tile);
  return std::clamp(1 - storey_.lines(array, loop) / (tiles * storey_.lines(array, body)), 0.0,
                    1.0);
}

std::vector<std::pair<ReuseWindows::Touch, double>> ReuseWindows::touches(int n,
                                                                          const Touch& x) const {
  std::vector<std::pair<Touch, double>> all;
  const auto visit = [&](const auto& self, int here) -> void {
    const Storey::Node& node = storey_.node(here);
    for (auto child = node.children.rbegin(); child != node.children.rend(); ++child) {
      self(self, *child);
    }
    if (!node.is_leaf()) return;
    if (x.array < 0) {
      const double lines = model({here}).packed(), own = model(x).packed();
      if (lines > 0 && own > 0) {
        all.push_back({{here, -1, TensorId::A}, std::min(1.0, lines / own)});
      }
      return;
    }
    std::optional<std::pair<Touch, double>> most;
    for (TensorId t : all_tensors) {
      const int a = array_of(tree_, node.statement, t);
      if (storey_.row(a) != storey_.row(x.array)) continue;
      const double share = a == x.array ? 1 : std::min(1.0, storey_.lines(a, n) / storey_.whole(a));
      if (!most || most->second < share) most = {{here, a, t}, share};
    }
    if (most) all.push_back(*most);
  };
  visit(visit, n);
  return all;
}

ReuseWindows::Place ReuseWindows::place_of(const Touch& x, int n, int point) const {
  Place place;
  if (x.array < 0) return place;
  const std::vector<std::int64_t> extents = storey_.extents(x.array, n);
  for (std::size_t axis = 0; axis < extents.size(); ++axis) {
    place.push_back(halton(point, halton_bases[axis % halton_bases.size()]) *
                    static_cast<double>(extents[axis]));
  }
  return place;
}

double ReuseWindows::iteration(const Storey::Node& loop, int array, Place& place) const {
  const auto& indices = tree_.array(array).indices;
  const auto axis =
      slot(static_cast<int>(std::ranges::find(indices, loop.index) - indices.begin()));
  const auto tile = static_cast<double>(loop.tile);
  const double i = std::min(std::floor(place[axis] / tile), loop.count - 1);
  place[axis] = std::max(0.0, place[axis] - i * tile);
  return i;
}

Rows ReuseWindows::beside_in_leaf(const Touch& x, const Place& place, int point, bool after) const {
  const LeafModel& leaf = model(x);
  Rows rows(slot(storey_.rows()), 0);
  const int s = storey_.node(x.leaf).statement;
  const auto add = [&](ArrayId a, double lines) {
    const int row = leaf.warm.arrays.is_buffer(a)
                        ? storey_.packed_row()
                        : storey_.row(array_of(tree_, s, leaf.warm.arrays.tensor_of(a)));
    rows[slot(row)] += lines;
  };
  if (!leaf.execution) {
    for (ArrayId a : leaf.warm.arrays.ids()) add(a, leaf.warm.first[a] / 2);
    return rows;
  }
  ByGroup<double> where{0, 0, 0, 0};
  ArrayId own = tcsim::array_of(x.tensor);
  if (x.array < 0) {
    own = buffer_at(leaf, halton(point, 7));
    const int depth = leaf.warm.arrays.depth_of(own);
    std::size_t i = 0;
    for (DimClass g : all_dim_classes) {
      where[g] = std::floor(halton(point, halton_bases[i++]) * leaf.execution->extents(depth)[g]);
    }
  } else {
    const auto& indices = tree_.array(x.array).indices;
    const IndexSet& dims = tree_.statement(s).indices;
    for (DimClass g : all_dim_classes) {
      double before = 1;
      for (DimId d : leaf.groups[g]) {
        const auto axis = std::ranges::find(indices, dims[slot(tcsim::index(d))]);
        if (axis != indices.end()) {
          where[g] += before * std::floor(place[slot(static_cast<int>(axis - indices.begin()))]);
        }
        before *= static_cast<double>(leaf.tile[slot(tcsim::index(d))]);
      }
    }
  }
  const Execution::Sides sides = leaf.execution->sides_of(own, where);
  const PerArray& side = after ? sides.after : sides.before;
  for (ArrayId a : leaf.warm.arrays.ids()) add(a, side[a]);
  return rows;
}

ArrayId ReuseWindows::buffer_at(const LeafModel& leaf, double share) {
  double left = share * leaf.packed();
  ArrayId last = ArrayId::A;
  for (ArrayId a : leaf.warm.arrays.ids()) {
    if (!leaf.warm.arrays.is_buffer(a)) continue;
    last = a;
    left -= leaf.warm.first[a];
    if (left <= 0) break;
  }
  return last;
}

Rows ReuseWindows::outward(const Touch& x, int common, Place place, int point, bool after) const {
  std::vector<int> path;  // from the leaf out
  for (int n = x.leaf; n != common; n = storey_.node(n).parent) path.push_back(n);
  std::vector<double> iterations(path.size(), 0);
  for (std::size_t i = path.size(); i-- > 1;) {
    const Storey::Node& loop = storey_.node(path[i]);
    if (!loop.is_loop() || x.array < 0 || !storey_.moves(path[i], x.array)) continue;
    iterations[i] = iteration(loop, x.array, place);
  }
  Rows rows = beside_in_leaf(x, place, point, after);
  for (std::size_t i = 1; i < path.size(); ++i) {
    const Storey::Node &here = storey_.node(path[i]), &child = storey_.node(path[i - 1]);
    if (!here.is_loop()) {
      for (int sibling = 0; sibling < static_cast<int>(here.children.size()); ++sibling) {
        if (after ? sibling <= child.place : sibling >= child.place) continue;
        add(rows, storey_.node(here.children[slot(sibling)]).full, here.full);
      }
      continue;
    }
    if (here.count <= 1 || x.array < 0 || !storey_.moves(path[i], x.array)) continue;
    const double others = after ? here.count - 1 - iterations[i] : iterations[i];
    if (others <= 0) continue;
    for (std::size_t row = 0; row < rows.size(); ++row) {
      if (storey_.moves_row(path[i], static_cast<int>(row))) {
        const double fresh = (here.full[row] - child.full[row]) / (here.count - 1);
        rows[row] = std::min(here.full[row], rows[row] + others * fresh);
      } else {
        rows[row] = child.full[row];
      }
    }
  }
  return rows;
}

std::vector<double> ReuseWindows::gone_at(const Touch& x, const Reuse& reuse, int point) const {
  const Storey::Node& common = storey_.node(reuse.common);
  const int child = child_of(x.leaf, reuse.common);
  const int from = child_of(reuse.from.leaf, reuse.common);
  const int scope = common.is_loop() ? child : reuse.common;
  Rows window = outward(reuse.from, reuse.common, place_of(reuse.from, scope, point), point, true);
  const Rows before = outward(x, reuse.common, place_of(x, scope, point), point, false);
  if (common.is_loop()) {
    for (std::size_t row = 0; row < window.size(); ++row) {
      const bool moves = storey_.moves_row(reuse.common, static_cast<int>(row));
      const double most = moves ? common.full[row] : storey_.node(child).full[row];
      window[row] = std::min(most, window[row] + before[row]);
    }
  } else {
    for (int i = storey_.node(from).place + 1; i < storey_.node(child).place; ++i) {
      add(window, storey_.node(common.children[slot(i)]).full, common.full);
    }
    add(window, before, common.full);
  }
  return chances(window, x, scope, reuse.common);
}

std::vector<double> ReuseWindows::chances(const Rows& window, const Touch& x, int scope,
                                          int common) const {
  const int own = x.array < 0 ? storey_.packed_row() : storey_.row(x.array);
  double total = 0;
  for (double lines : window) total += lines;
  std::vector<double> p(caches_.size(), 0);
  double inner = 1;
  for (std::size_t l = 0; l < caches_.size() && inner > 0; ++l) {
    const SetAssociative& cache = caches_[l];
    if (counter_ == nullptr) {
      p[l] = inner = std::min(inner, total + 1 > 0.9 * cache.lines() ? 1.0 : 0.0);
      continue;
    }
    const bool near =
        cache.sets > 1 && total >= static_cast<double>(cache.ways) && total < 3 * cache.lines();
    std::vector<WindowPart> parts;
    for (int row = 0; row < storey_.rows(); ++row) {
      const double lines = window[slot(row)];
      if (lines <= 0) continue;
      parts.push_back(part_of(row, lines, row == own, near ? &cache : nullptr, scope, common));
    }
    p[l] = inner = std::min(inner, miss_probability(cache, parts));
  }
  return p;
}

WindowPart ReuseWindows::part_of(int row, double lines, bool own, const SetAssociative* cache,
                                 int scope, int common) const {
  WindowPart part{lines, lines + 1, nullptr, own};
  if (row == storey_.packed_row()) return part;
  int array = -1;
  for (int a = 0; a < static_cast<int>(tree_.arrays.size()); ++a) {
    if (storey_.row(a) == row && storey_.node(common).arrays[slot(a)]) array = a;
  }
  if (array < 0 || storey_.hold(array) >= 0) return part;
  const TileLines& tensor = storey_.tensor(array);
  std::vector<std::int64_t> extents = storey_.extents(array, scope);
  part.run = std::max(1.0, tensor.run(TileLines::box(extents)) / line_);
  if (cache == nullptr || lines < 1 || lines > most_counted_lines) return part;
  const double rounded = lines < 256 ? lines : std::exp2(std::round(std::log2(lines) * 4) / 4);
  resize(array, extents, rounded, common);
  part.counts =
      counter_->count(tensor, TileLines::box(extents), static_cast<std::int64_t>(cache->sets),
                      static_cast<int>(4 * std::min<std::int64_t>(cache->ways, 1 << 20)));
  return part;
}

void ReuseWindows::resize(int array, std::vector<std::int64_t>& extents, double lines,
                          int common) const {
  double times = lines / storey_.tensor(array).lines(TileLines::box(extents));
  const auto& indices = tree_.array(array).indices;
  if (times > 1) {
    const auto axis = std::ranges::find(indices, storey_.node(common).index);
    if (axis == indices.end()) return;
    const auto i = static_cast<std::size_t>(axis - indices.begin());
    extents[i] = std::min<std::int64_t>(std::llround(static_cast<double>(extents[i]) * times),
                                        tree_.extent(indices[i]));
    return;
  }
  for (std::size_t axis = 0; axis < extents.size() && times < 1; ++axis) {
    const auto whole = static_cast<double>(extents[axis]);
    const double part = std::max(1.0, std::round(whole * times));
    extents[axis] = std::llround(part);
    times *= whole / part;
  }
}

}  // namespace tcsim::fusion
