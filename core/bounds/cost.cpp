#include "core/bounds/cost.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/bounds/footprint.hpp"

namespace tcsim::bounds {

namespace {

// The tiles of a dimension: so many of one size, and the last one.
struct Cut {
  std::int64_t full = 0, size = 0;  // all but the last
  std::int64_t last = 0;
  std::int64_t count() const { return full + 1; }
};
Cut cut(std::int64_t extent, std::int64_t tile) {
  const std::int64_t full = (extent - 1) / tile;
  return {full, tile, extent - full * tile};
}

// One array under one tiling.
class Counter {
 public:
  Counter(const Nest& nest, const Nest::Array& array, const Tiling& tiling)
      : nest_(nest), array_(array), box_(is_box_shaped(array)) {
    for (std::size_t d = 0; d < nest.extents.size(); ++d) {
      cuts_.push_back(cut(nest.extents[d], tiling.tiles[d]));
    }
    order_.assign(tiling.permutation.rbegin(), tiling.permutation.rend());
    for (DimId d : order_) used_.push_back(has(array, d));
  }

  int levels() const { return static_cast<int>(order_.size()) + 1; }

  ArrayCost cost(int level) const {
    const auto first_outer = static_cast<std::size_t>(level - 1);
    std::vector<bool> outer(nest_.extents.size());
    for (std::size_t i = first_outer; i < order_.size(); ++i) outer[place(order_[i])] = true;
    std::vector<std::int64_t> largest = nest_.extents;
    double visits = 1;  // of the same elements
    for (std::size_t i = first_outer; i < order_.size(); ++i) {
      const Cut& c = cuts_[place(order_[i])];
      largest[place(order_[i])] = c.full > 0 ? c.size : c.last;
      if (i > first_outer && !used_[i]) visits *= static_cast<double>(c.count());
    }
    ArrayCost result{level, footprint(array_, largest), visits};
    const bool slides = first_outer < order_.size() && used_[first_outer];
    if (!box_) {
      // Every visit of a tile is taken for the largest one.
      for (std::size_t i = first_outer; i < order_.size(); ++i) {
        if (used_[i]) result.moved *= static_cast<double>(cuts_[place(order_[i])].count());
      }
      result.moved *= result.held;
      return result;
    }
    for (const Affine& axis : array_.axes) {
      result.moved *=
          brought(axis, outer, slides ? std::optional(order_[first_outer]) : std::nullopt);
    }
    return result;
  }

 private:
  // Places along the axis, summed over the tiles of its outer dimensions; along `sliding`, if it is
  // one of them, those alone that the tile before did not have.
  double brought(const Affine& axis, const std::vector<bool>& outer,
                 std::optional<DimId> sliding) const {
    SizedTerms terms;
    for (const Affine::Term& t : axis.terms) {
      terms.emplace_back(t.coefficient, nest_.extents[place(t.dim)]);
    }
    if (!is_counted(terms)) sliding.reset();
    return sum(axis, outer, sliding, 0, terms);
  }

  double sum(const Affine& axis, const std::vector<bool>& outer, std::optional<DimId> sliding,
             std::size_t term, SizedTerms& terms) const {
    if (term == axis.terms.size()) {
      bool exact = true;
      return places_along(terms, exact);
    }
    const DimId d = axis.terms[term].dim;
    const Cut& c = cuts_[place(d)];
    const auto with = [&](std::int64_t size) {
      terms[term].second = size;
      return sum(axis, outer, sliding, term + 1, terms);
    };
    if (!outer[place(d)]) return with(nest_.extents[place(d)]);
    const double full = static_cast<double>(c.full);
    if (c.full == 0) return with(c.last);
    const double tile = with(c.size);
    if (sliding != d) return full * tile + with(c.last);
    // Two neighbouring tiles together are a tile too: what the second one adds is the difference.
    double all = tile;
    if (c.full > 1) all += (full - 1) * (with(2 * c.size) - tile);
    return all + (with(c.size + c.last) - tile);
  }

  const Nest& nest_;
  const Nest::Array& array_;
  bool box_;
  std::vector<Cut> cuts_;     // by dimension
  std::vector<DimId> order_;  // innermost first
  std::vector<bool> used_;    // by place in order_: whether the array has the dimension
};

}  // namespace

std::vector<ArrayCost> costs_by_level(const Nest& nest, const Nest::Array& array,
                                      const Tiling& tiling) {
  const Counter counter(nest, array, tiling);
  std::vector<ArrayCost> costs;
  for (int level = 1; level <= counter.levels(); ++level) costs.push_back(counter.cost(level));
  return costs;
}

namespace {

// Tries the levels of the arrays from `a` on.
void choose(const Nest& nest, const std::vector<std::vector<ArrayCost>>& options, std::size_t a,
            double capacity, const NestCost& current, std::optional<NestCost>& best) {
  if (current.held > capacity || (best && current.moved >= best->moved)) return;
  if (a == options.size()) {
    best = current;
    return;
  }
  for (const ArrayCost& option : options[a]) {
    NestCost next = current;
    next.held += option.held;
    next.moved += option.moved * nest.arrays[a].weight;
    next.arrays.push_back(option);
    choose(nest, options, a + 1, capacity, next, best);
  }
}

}  // namespace

std::optional<NestCost> cost_of(const Nest& nest, const Tiling& tiling, double capacity) {
  std::vector<std::vector<ArrayCost>> options;
  for (const Nest::Array& array : nest.arrays) {
    std::vector<ArrayCost> all = costs_by_level(nest, array, tiling), useful;
    // Of levels that hold as much, the one that moves least; none that moves no less than a
    // smaller one. What is held grows with the level.
    for (const ArrayCost& cost : all) {
      if (cost.held > capacity) break;
      while (!useful.empty() && useful.back().held >= cost.held &&
             useful.back().moved >= cost.moved) {
        useful.pop_back();
      }
      if (useful.empty() || cost.moved < useful.back().moved) useful.push_back(cost);
    }
    if (useful.empty()) return {};
    options.push_back(std::move(useful));
  }
  std::optional<NestCost> best;
  choose(nest, options, 0, capacity, {}, best);
  for (const Nest::Array& array : nest.arrays) {
    if (best && array.starts_at_zero) best->moved -= footprint(array, nest.extents);
  }
  return best;
}

}  // namespace tcsim::bounds
