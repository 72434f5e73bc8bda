#include "core/bounds/upper_schedule.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/bounds/footprint.hpp"
#include "core/bounds/permutations.hpp"

namespace tcsim::bounds {

namespace {

// Choices of whole dimensions that are searched, the best at a glance.
constexpr std::size_t most_searched = 16;

// What a schedule can say: the dimensions of a class that are whole in every tile run fastest, then
// the one that is tiled, which among the class is the innermost of the loops, then those that go
// one by one.
struct Shape {
  std::vector<DimId> permutation;
  std::vector<bool> whole, one;  // by dimension of the fused nest
};

class ShapeSearch {
 public:
  ShapeSearch(const Contraction& contraction, const FusedNest& nest, double capacity)
      : nest_(nest.nest), capacity_(capacity) {
    for (const std::vector<DimId>& dims : nest.dims) {
      classes_.push_back(contraction.dim_class(dims.front()));
    }
  }

  std::optional<WholeTiling> run() const {
    struct Glance {
      double moved;
      Shape shape;
      std::vector<double> tiles;
    };
    std::vector<Glance> glances;
    for (const Shape& shape : shapes()) {
      const auto tiles = at_a_glance(shape);
      if (!tiles) continue;
      std::vector<std::int64_t> whole(tiles->begin(), tiles->end());
      if (const auto cost = cost_of(nest_, {shape.permutation, whole}, capacity_)) {
        glances.push_back({cost->moved, shape, *tiles});
      }
    }
    std::stable_sort(glances.begin(), glances.end(),
                     [](const auto& a, const auto& b) { return a.moved < b.moved; });
    if (glances.size() > most_searched) glances.resize(most_searched);
    std::optional<WholeTiling> best;
    for (const Glance& g : glances) {
      const std::vector<Band> bands{{g.shape.permutation, {}, capacity_, 1}};
      std::vector<bool> fixed;
      for (std::size_t d = 0; d < classes_.size(); ++d) {
        fixed.push_back(g.shape.whole[d] || g.shape.one[d]);
      }
      auto found =
          best_whole_tiles(nest_, bands, {{g.shape.permutation, {}, g.tiles, 0, 0}}, fixed);
      if (found && (!best || found->weighted < best->weighted)) best = std::move(found);
    }
    return best;
  }

 private:
  std::vector<Shape> shapes() const {
    std::set<std::vector<DimId>> orders;
    for (const std::vector<bool>& small :
         {small_dims(nest_), std::vector<bool>(nest_.extents.size())}) {
      for (std::vector<DimId> order : permutations(reuse_of(nest_, small))) {
        std::stable_partition(order.begin(), order.end(),
                              [&](DimId d) { return classes_[place(d)] == DimClass::batch; });
        orders.insert(std::move(order));
      }
    }
    std::vector<Shape> shapes;
    for (const std::vector<DimId>& order : orders) {
      // Any dimensions of a class that has several may be whole, but one.
      const std::size_t dims = order.size();
      for (std::uint64_t set = 0; set < std::uint64_t{1} << dims; ++set) {
        Shape shape{order, std::vector<bool>(dims), std::vector<bool>(dims)};
        ByGroup<std::size_t> tiled{};  // dimensions of a class that are not whole
        bool batch = false;
        for (std::size_t d = 0; d < dims; ++d) {
          shape.whole[d] = (set >> d & 1) != 0;
          batch = batch || (shape.whole[d] && classes_[d] == DimClass::batch);
          if (!shape.whole[d]) ++tiled[classes_[d]];
        }
        bool useful = !batch;
        for (DimClass g : classes_) useful = useful && tiled[g] > 0;
        if (!useful) continue;
        for (std::size_t i = 0; i < dims; ++i) {
          const std::size_t d = place(order[i]);
          shape.one[d] =
              !shape.whole[d] && (classes_[d] == DimClass::batch || !innermost(shape, i));
        }
        shapes.push_back(std::move(shape));
      }
    }
    return shapes;
  }

  bool innermost(const Shape& shape, std::size_t i) const {
    for (std::size_t j = i + 1; j < shape.permutation.size(); ++j) {
      const std::size_t d = place(shape.permutation[j]);
      if (classes_[d] == classes_[place(shape.permutation[i])] && !shape.whole[d]) return false;
    }
    return true;
  }

  // Tiles of one length that fit.
  std::optional<std::vector<double>> at_a_glance(const Shape& shape) const {
    const auto tiles_of = [&](double length) {
      std::vector<std::int64_t> tiles;
      for (std::size_t d = 0; d < classes_.size(); ++d) {
        const std::int64_t extent = nest_.extents[d];
        const auto side = std::min(extent, static_cast<std::int64_t>(length));
        tiles.push_back(shape.whole[d] ? extent : shape.one[d] ? 1 : side);
      }
      return tiles;
    };
    const auto fits = [&](double length) {
      return footprint(nest_, tiles_of(length)) <= capacity_;
    };
    if (!fits(1)) return {};
    double low = 1, high = capacity_ + 1;
    while (high - low >= 1) {
      const double middle = std::floor((low + high) / 2);
      if (middle == low) break;
      (fits(middle) ? low : high) = middle;
    }
    const std::vector<std::int64_t> tiles = tiles_of(low);
    return std::vector<double>(tiles.begin(), tiles.end());
  }

  const Nest& nest_;
  double capacity_;
  std::vector<DimClass> classes_;  // by dimension of the nest
};

class ScheduleMaker {
 public:
  ScheduleMaker(const Contraction& contraction, const UpperBound& bound)
      : contraction_(contraction), bound_(bound) {}

  Schedule make() {
    order_groups();
    Node node = Kernel{Elements(1), Elements(1)};
    // Within a tile, sums are innermost.
    for (DimClass g : {DimClass::n, DimClass::m}) {
      if (contraction_.extent(g) > Elements(1)) node = Loop{g, Elements(1), node};
    }
    for (auto d = bound_.tiling.permutation.rbegin(); d != bound_.tiling.permutation.rend(); ++d) {
      const std::size_t at = place(*d);
      const DimClass g = class_of(at);
      if (g == DimClass::batch || bound_.tiling.tiles[at] == bound_.nest.nest.extents[at]) continue;
      node = Loop{g, Elements(bound_.tiling.tiles[at] * stride_[at]), node};
    }
    if (contraction_.extent(DimClass::batch) > Elements(1)) {
      node = Loop{DimClass::batch, Elements(1), node};
    }
    schedule_.root = std::move(node);
    return schedule_;
  }

 private:
  DimClass class_of(std::size_t d) const {
    return contraction_.dim_class(bound_.nest.dims[d].front());
  }

  // Fastest those that have no loop, then the innermost loop's, last those of one iteration.
  void order_groups() {
    const std::size_t dims = bound_.nest.dims.size();
    stride_.assign(dims, 1);
    std::vector<std::size_t> fastest;
    for (std::size_t d = 0; d < dims; ++d) {
      if (is_whole(d)) fastest.push_back(d);
    }
    for (auto d = bound_.tiling.permutation.rbegin(); d != bound_.tiling.permutation.rend(); ++d) {
      if (!is_whole(place(*d))) fastest.push_back(place(*d));
    }
    ByGroup<std::int64_t> size;
    for (DimClass g : all_dim_classes) size[g] = 1;
    std::set<DimId> put;
    for (std::size_t d : fastest) {
      const DimClass g = class_of(d);
      stride_[d] = size[g];
      size[g] *= bound_.nest.nest.extents[d];
      for (DimId dim : bound_.nest.dims[d]) {
        schedule_.groups[g].push_back(dim);
        put.insert(dim);
      }
    }
    for (int d = 0; d < contraction_.dim_count(); ++d) {
      if (!put.contains(DimId{d}))
        schedule_.groups[contraction_.dim_class(DimId{d})].push_back(DimId{d});
    }
  }
  bool is_whole(std::size_t d) const {
    return bound_.tiling.tiles[d] == bound_.nest.nest.extents[d];
  }

  const Contraction& contraction_;
  const UpperBound& bound_;
  Schedule schedule_;
  std::vector<std::int64_t> stride_;  // of a nest's dimension in its group
};

}  // namespace

double lru_capacity(const Nest& nest, const Tiling& tiling, const NestCost& cost) {
  const std::vector<DimId> inward(tiling.permutation.rbegin(), tiling.permutation.rend());
  double needed = footprint(nest, tiling.tiles);
  for (std::size_t a = 0; a < nest.arrays.size(); ++a) {
    const Nest::Array& array = nest.arrays[a];
    // An element that is kept from one iteration of a loop to the next is used again in the same
    // iteration of the loops inside that the array has. So what runs between is those whole, and of
    // the loops outside them the last iteration and the first of the next.
    std::vector<std::int64_t> whole = nest.extents;  // of all loops inside
    for (DimId d : inward) whole[place(d)] = tiling.tiles[place(d)];
    std::vector<std::int64_t> between = whole;
    for (std::size_t i = 0; i < inward.size() && static_cast<int>(i) < cost.arrays[a].level; ++i) {
      const std::size_t d = place(inward[i]);
      const std::int64_t tile = tiling.tiles[d], rest = std::min(tile, nest.extents[d] - tile);
      if (rest == 0) continue;
      const auto with = [d](std::vector<std::int64_t> sizes, std::int64_t size) {
        sizes[d] = size;
        return sizes;
      };
      if (footprint(array, with(whole, tile + rest)) <
          footprint(array, with(whole, tile)) + footprint(array, with(whole, rest))) {
        needed = std::max(needed, std::min(footprint(nest, with(whole, tile + rest)),
                                           footprint(nest, with(between, tile)) +
                                               footprint(nest, with(between, rest))));
      }
      whole[d] = nest.extents[d];
      if (has(array, inward[i])) between = whole;
    }
  }
  return needed;
}

std::optional<ScheduledBound> scheduled_upper_bound(const Contraction& contraction, Moves moves,
                                                    double capacity) {
  FusedNest nest = tiled_nest(nest_of(contraction, moves));
  const auto found = ShapeSearch(contraction, nest, capacity).run();
  if (!found) return {};
  UpperBound bound{std::move(nest), found->tilings[0], found->costs[0], {}};
  Schedule schedule = ScheduleMaker(contraction, bound).make();
  const double lru = lru_capacity(bound.nest.nest, bound.tiling, bound.cost);
  return ScheduledBound{std::move(bound), std::move(schedule), lru};
}

}  // namespace tcsim::bounds
