// Of the 7! orders of a convolution's loops over tiles few matter. ioopt (section 4.3, Algorithm 1)
// lists those that let arrays be reused most, ttile (section 5.2) counts 6 of them for each level
// of the memory hierarchy, and the optimizer tries the 3! orders of its groups m, n and k. Here all
// orders are gone through, by ioopt's count and by a simulation.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/optimize/search.hpp"
#include "core/workload/request.hpp"
#include "tests/core/build.hpp"

namespace tcsim::orders_of_loops {
namespace {

// Loops over tiles of O[n,k,y,x] += I[n,c,y+r,x+s] * W[k,c,r,s], one for each dimension.
enum Loop : std::size_t { n, k, c, y, x, r, s };
constexpr std::size_t loops = 7;
using Order = std::vector<Loop>;  // innermost first
using PerLoop = std::array<std::int64_t, loops>;
const Order all_loops{n, k, c, y, x, r, s};

enum Tensor : std::size_t { O, I, W };
// The loops along which successive tiles of a tensor are the same, or nearly so: the filter is
// small, so that a step along it leaves most of an image's tile in place.
using Reuse = std::array<std::set<Loop>, 3>;
const Reuse reuse{{{c, r, s}, {k, r, s}, {n, y, x}}};

std::vector<Order> permutations(Order loops_left) {
  std::vector<Order> all;
  std::sort(loops_left.begin(), loops_left.end());
  do {
    all.push_back(loops_left);
  } while (std::next_permutation(loops_left.begin(), loops_left.end()));
  return all;
}

// ioopt, Algorithm 1: the orders that it keeps, without the loops that it leaves arbitrary.
std::vector<Order> kept_orders(const Order& left, const Reuse& of) {
  const auto reused = [&](Loop d) {
    std::set<std::size_t> tensors;
    for (std::size_t t : {O, I, W}) {
      if (of[t].contains(d)) tensors.insert(t);
    }
    return tensors;
  };
  std::vector<Order> all;
  for (Loop d : left) {
    const auto mine = reused(d);
    const bool dominated = std::ranges::any_of(left, [&](Loop other) {
      const auto its = reused(other);
      return its.size() > mine.size() && std::ranges::includes(its, mine);
    });
    if (mine.empty() || dominated) continue;
    Order outside = left;
    std::erase(outside, d);
    Reuse still;
    for (std::size_t t : mine) still[t] = of[t];
    for (Order& order : kept_orders(outside, still)) {
      order.insert(order.begin(), d);
      all.push_back(std::move(order));
    }
  }
  if (all.empty()) all.emplace_back();
  return all;
}

// With the loops that are missing outside the others.
Order completed(Order order) {
  for (Loop d : all_loops) {
    if (std::ranges::find(order, d) == order.end()) order.push_back(d);
  }
  return order;
}

struct Layer {
  PerLoop tile, tiles;  // indices of a tile, and how many tiles

  // Elements of a tensor in a box of so many indices.
  std::int64_t elements(Tensor t, const PerLoop& e) const {
    switch (t) {
      case O:
        return e[n] * e[k] * e[y] * e[x];
      case I:
        return e[n] * e[c] * (e[y] + e[r] - 1) * (e[x] + e[s] - 1);
      default:
        return e[k] * e[c] * e[r] * e[s];
    }
  }

  // ioopt, section 4.2: a tensor's tiles stay while the innermost loops reuse them, and what those
  // loops touch together is moved once for each iteration of the others.
  std::array<std::int64_t, 3> moved(const Order& order) const {
    std::array<std::int64_t, 3> all{};
    for (Tensor t : {O, I, W}) {
      PerLoop box = tile;
      std::int64_t times = 1;
      bool reused = true;
      for (Loop d : order) {
        reused = reused && reuse[t].contains(d);
        (reused ? box[d] : times) *= tiles[d];
      }
      all[t] = times * elements(t, box);
    }
    return all;
  }
};

// Whether another of the costs is nowhere higher.
std::set<std::array<std::int64_t, 3>> least(const std::set<std::array<std::int64_t, 3>>& costs) {
  std::set<std::array<std::int64_t, 3>> kept;
  for (const auto& cost : costs) {
    const bool beaten = std::ranges::any_of(costs, [&](const auto& other) {
      return other != cost && other[O] <= cost[O] && other[I] <= cost[I] && other[W] <= cost[W];
    });
    if (!beaten) kept.insert(cost);
  }
  return kept;
}

// Different numbers of tiles, so that different costs are not the same number by chance.
const Layer layer{{2, 4, 4, 5, 7, 1, 1}, {2, 7, 11, 13, 17, 3, 5}};

TEST(Permutation_classes, All_orders_of_seven_loops_have_28_costs_of_which_3_are_least) {
  std::set<std::array<std::int64_t, 3>> costs;
  const std::vector<Order> orders = permutations(all_loops);
  ASSERT_EQ(orders.size(), 5040);
  for (const Order& order : orders) costs.insert(layer.moved(order));
  EXPECT_EQ(costs.size(), 28);
  // Weights stay over all pixels; or results stay over all of the sum; or the image stays over the
  // filter and the output channels.
  const std::set<std::array<std::int64_t, 3>> expected{layer.moved({n, y, x, k, c, r, s}),
                                                       layer.moved({r, s, c, n, y, x, k}),
                                                       layer.moved({r, s, k, n, y, x, c})};
  EXPECT_EQ(least(costs), expected);
}

// Fig. 2 of ioopt keeps three orders for a 1-D convolution of one image.
TEST(Permutation_classes, Orders_that_the_algorithm_keeps) {
  EXPECT_EQ(kept_orders({k, c, x, s}, reuse).size(), 3);
  // ttile's six: a network that looks at one image has no loop over images.
  EXPECT_EQ(kept_orders({k, c, y, x, r, s}, reuse).size(), 6);
  EXPECT_EQ(kept_orders(all_loops, reuse).size(), 10);
}

TEST(Permutation_classes, Orders_that_the_algorithm_keeps_have_the_least_costs) {
  std::set<std::array<std::int64_t, 3>> all, kept;
  for (const Order& order : permutations(all_loops)) all.insert(layer.moved(order));
  for (const Order& order : kept_orders(all_loops, reuse)) {
    kept.insert(layer.moved(completed(order)));
  }
  EXPECT_EQ(kept, least(all));
}

// Misses of each tensor in a fully associative LRU cache of so many elements: every step touches
// the elements of its tiles of O, I and W one after the other.
class Simulation {
 public:
  explicit Simulation(const Layer& simulated) : layer_(simulated) {
    for (Loop d : all_loops) whole_[d] = layer_.tile[d] * layer_.tiles[d];
    for (Tensor t : {O, I, W}) {
      first_[t] = elements_;
      elements_ += static_cast<std::size_t>(layer_.elements(t, whole_));
    }
  }

  std::int64_t misses(const Order& order, std::size_t room) {
    // A ring of all elements, most recent first, whose head stands behind the last one.
    next_.resize(elements_ + 1);
    before_.resize(elements_ + 1);
    kept_.assign(elements_, false);
    head_ = elements_;
    next_[head_] = before_[head_] = head_;
    room_ = room;
    held_ = 0;
    misses_ = 0;
    PerLoop step{};
    for (;;) {
      touch_tiles(step);
      std::size_t d = 0;
      while (d < loops && ++step[order[d]] == layer_.tiles[order[d]]) step[order[d++]] = 0;
      if (d == loops) return misses_;
    }
  }

 private:
  void touch_tiles(const PerLoop& step) {
    PerLoop b{}, e{};  // from, to
    for (Loop d : all_loops) {
      b[d] = step[d] * layer_.tile[d];
      e[d] = b[d] + layer_.tile[d];
    }
    const auto box = [&](Tensor t, std::array<std::array<std::int64_t, 3>, 4> axes) {
      for (std::int64_t i = axes[0][0]; i < axes[0][1]; ++i)
        for (std::int64_t j = axes[1][0]; j < axes[1][1]; ++j)
          for (std::int64_t l = axes[2][0]; l < axes[2][1]; ++l)
            for (std::int64_t m = axes[3][0]; m < axes[3][1]; ++m)
              touch(first_[t] + static_cast<std::size_t>(
                                    ((i * axes[1][2] + j) * axes[2][2] + l) * axes[3][2] + m));
    };
    const auto axis = [&](Loop d) { return std::array{b[d], e[d], whole_[d]}; };
    const auto sum = [&](Loop d, Loop f) {
      return std::array{b[d] + b[f], e[d] + e[f] - 1, whole_[d] + whole_[f] - 1};
    };
    box(O, {axis(n), axis(k), axis(y), axis(x)});
    box(I, {axis(n), axis(c), sum(y, r), sum(x, s)});
    box(W, {axis(k), axis(c), axis(r), axis(s)});
  }

  void touch(std::size_t at) {
    if (kept_[at]) {
      next_[before_[at]] = next_[at];
      before_[next_[at]] = before_[at];
    } else {
      ++misses_;
      kept_[at] = true;
      if (++held_ > room_) {
        const std::size_t oldest = before_[head_];
        kept_[oldest] = false;
        before_[head_] = before_[oldest];
        next_[before_[head_]] = head_;
        --held_;
      }
    }
    next_[at] = next_[head_];
    before_[at] = head_;
    before_[next_[at]] = at;
    next_[head_] = at;
  }

  Layer layer_;
  PerLoop whole_{};
  std::array<std::size_t, 3> first_{};
  std::size_t elements_ = 0;
  std::vector<std::size_t> next_, before_;
  std::vector<bool> kept_;
  std::size_t head_ = 0, room_ = 0, held_ = 0;
  std::int64_t misses_ = 0;
};

// Orders of the loops over tiles of one level that the optimizer's moves lead to: of its groups,
// with the dimensions within each as they run.
std::set<Order> tried(const std::string& layout) {
  const Contraction contraction =
      find_workload({"conv2d", "n=4,k=32,c=32,y=48,x=48,r=3,s=3,layout=" + layout, {}, {}});
  const Machine machine = test::machine({{64, 8}});
  const Search search(contraction, machine, {}, RowOrders::apart, {}, {});
  Tiling tiling;
  tiling.groups = groupings(contraction).front();
  tiling.kernel = kernel_choices(machine.core, contraction.type()).front();
  tiling.tiles = {{16, 12, 16}};
  tiling.orders = {loop_classes};
  std::set<std::array<DimClass, 3>> orders;
  std::vector<Groups> groups;
  for (const Tiling& t : search.neighbours(tiling)) {
    if (t.tiles == tiling.tiles) orders.insert(t.orders.front());
    groups.push_back(t.groups);
  }
  orders.insert(loop_classes);
  EXPECT_EQ(orders.size(), 6);

  const std::map<char, Loop> named{{'n', n}, {'k', k}, {'c', c}, {'y', y},
                                   {'x', x}, {'r', r}, {'s', s}};
  std::set<Order> all;
  for (const Groups& g : groups) {
    for (const auto& order : orders) {
      Order fused;
      for (std::size_t i = order.size(); i-- > 0;) {
        for (DimId d : g[order[i]]) fused.push_back(named.at(contraction.dim(d).name));
      }
      EXPECT_EQ(fused.size(), loops);
      all.insert(std::move(fused));
    }
  }
  return all;
}

struct Case {
  Layer layer;
  std::vector<std::string> layouts;
};

// Groups are fused, so tiles of c, r and s grow in the order in which they lie in memory: with nchw
// the filter's places first, with nhwc the channels.
TEST(Permutation_classes, The_best_of_all_orders_when_simulated_is_among_those_that_are_tried) {
  // Two layers whose loops run over the filter, one of them over whole channels; two whose tiles
  // hold the filter.
  const std::vector<Case> cases{{{{1, 2, 2, 4, 4, 1, 1}, {2, 2, 2, 2, 2, 3, 3}}, {"nchw"}},
                                {{{1, 4, 8, 6, 6, 1, 1}, {2, 3, 1, 2, 2, 3, 3}}, {"nchw", "nhwc"}},
                                {{{1, 4, 4, 6, 6, 3, 3}, {2, 3, 3, 3, 3, 1, 1}}, {"nchw", "nhwc"}},
                                {{{1, 6, 2, 2, 2, 3, 3}, {2, 3, 3, 3, 3, 1, 1}}, {"nchw", "nhwc"}}};
  // Beside the classes' cost, what a cache keeps over a loop's last iteration counts. It moves the
  // best by little as long as a cache holds few tiles.
  constexpr double little = 1.03;
  for (const auto& [small, layouts] : cases) {
    Simulation simulation(small);
    std::int64_t tile = 0;
    for (Tensor t : {O, I, W}) tile += small.elements(t, small.tile);
    Order running, single;
    for (Loop d : all_loops) (small.tiles[d] > 1 ? running : single).push_back(d);
    for (const std::int64_t room : {tile, tile * 5 / 4, tile * 3 / 2}) {
      const auto least_misses = [&](const auto& orders) {
        std::int64_t misses = std::numeric_limits<std::int64_t>::max();
        for (const Order& order : orders) {
          misses = std::min(misses, simulation.misses(order, static_cast<std::size_t>(room)));
        }
        return static_cast<double>(misses);
      };
      // Loops of one iteration may stand anywhere.
      std::vector<Order> all = permutations(running);
      for (Order& order : all) order.insert(order.end(), single.begin(), single.end());
      const double best = least_misses(all);
      for (const std::string& layout : layouts) {
        EXPECT_LE(least_misses(tried(layout)), little * best) << layout << ' ' << room;
      }
      std::vector<Order> kept;
      for (const Order& order : kept_orders(running, reuse)) kept.push_back(completed(order));
      EXPECT_LE(least_misses(kept), little * best) << room;
    }
  }
}

}  // namespace
}  // namespace tcsim::orders_of_loops
