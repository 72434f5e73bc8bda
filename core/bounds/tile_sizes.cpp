#include "core/bounds/tile_sizes.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "core/bounds/footprint.hpp"
#include "core/optimize/slsqp.hpp"

namespace tcsim::bounds {

namespace {

// Of SLSQP, chosen: tolerance of constraints and of the objective, all in logarithms; evaluations
// at most.
constexpr double solver_tolerance = 1e-9;
constexpr int most_solver_evaluations = 200;
// Share of the store that the tiles fill where it begins.
constexpr double filled_at_start = 0.5;
// Steps of the search for whole tiles, far more than it takes.
constexpr int most_steps = 200;
// How many pieces more or fewer it looks at. Whole numbers make valleys of a few.
constexpr std::int64_t pieces_apart = 4;

double to_real(std::int64_t n) { return static_cast<double>(n); }

// log of a sum of positive terms, each with its logarithm's gradient.
class LogSum {
 public:
  explicit LogSum(std::size_t variables) : gradient_(variables) {}

  void add(double log_term, const std::vector<double>& gradient) {
    const double term = std::exp(log_term);
    sum_ += term;
    for (std::size_t v = 0; v < gradient_.size(); ++v) gradient_[v] += term * gradient[v];
  }
  double sum() const { return sum_; }
  // log of the sum less `constant`, which is smaller.
  double value(double constant = 0) const { return std::log(sum_ - constant); }
  void gradient(double* to, double constant = 0) const {
    for (std::size_t v = 0; v < gradient_.size(); ++v) to[v] = gradient_[v] / (sum_ - constant);
  }

 private:
  double sum_ = 0;
  std::vector<double> gradient_;
};

// An array in a band, as products of sums. Logarithms of tiles stand in one table: those of the
// innermost band by dimension, then the next band's, last the nest's extents.
class RealArray {
 public:
  RealArray(const Nest& nest, std::size_t array, std::span<const Band> bands, std::size_t band)
      : log_weight_(std::log(nest.arrays[array].weight * bands[band].weight)) {
    const std::size_t dims = nest.extents.size();
    const std::vector<DimId>& permutation = bands[band].permutation;
    const auto outer = permutation.size() + 1 - static_cast<std::size_t>(bands[band].levels[array]);
    const auto tile = [&](DimId d) { return band * dims + place(d); };
    std::vector<bool> is_tiled(dims), is_visited(dims);
    for (std::size_t i = 0; i < outer; ++i) {
      is_tiled[place(permutation[i])] = true;
      // Along the innermost of these loops neighbours share what they can.
      if (i + 1 == outer) continue;
      is_visited[place(permutation[i])] = true;
      counts_.emplace_back(tile(permutation[i]) + dims, tile(permutation[i]));
    }
    for (std::size_t d = 0; d < dims; ++d) {
      counts_.emplace_back(bands.size() * dims + d, (band + 1) * dims + d);
    }
    for (const Affine& axis : nest.arrays[array].axes) {
      std::int64_t common = 0;
      for (const Affine::Term& t : axis.terms) common = std::gcd(common, t.coefficient);
      Places held, moved;
      for (const Affine::Term& t : axis.terms) {
        const double c = to_real(t.coefficient / common);
        held.emplace_back(tile(t.dim) + (is_tiled[place(t.dim)] ? 0 : dims), c);
        moved.emplace_back(tile(t.dim) + (is_visited[place(t.dim)] ? 0 : dims), c);
      }
      held_.push_back(std::move(held));
      moved_.push_back(std::move(moved));
    }
  }

  void add_moved(const std::vector<double>& y, LogSum& sum) const {
    std::vector<double> gradient(y.size());
    double value = log_weight_;
    for (const auto& [extent, tile] : counts_) {
      value += y[extent] - y[tile];
      gradient[extent] += 1;
      gradient[tile] -= 1;
    }
    add(moved_, y, value, gradient);
    sum.add(value, gradient);
  }
  void add_held(const std::vector<double>& y, LogSum& sum) const {
    std::vector<double> gradient(y.size());
    double value = 0;
    add(held_, y, value, gradient);
    sum.add(value, gradient);
  }

 private:
  // 1 + sum of coefficient x (T - 1), by place in the table.
  using Places = std::vector<std::pair<std::size_t, double>>;
  static void add(const std::vector<Places>& axes, const std::vector<double>& y, double& value,
                  std::vector<double>& gradient) {
    for (const Places& axis : axes) {
      double places = 1;
      for (const auto& [v, c] : axis) places += c * (std::exp(y[v]) - 1);
      value += std::log(places);
      for (const auto& [v, c] : axis) gradient[v] += c * std::exp(y[v]) / places;
    }
  }

  double log_weight_;
  std::vector<std::pair<std::size_t, std::size_t>> counts_;  // N / T tiles: places of N and of T
  std::vector<Places> held_, moved_;                         // by axis
};

class RealProblem {
 public:
  RealProblem(const Nest& nest, std::span<const Band> bands)
      : bands_(bands), dims_(nest.extents.size()) {
    for (std::size_t b = 0; b < bands.size(); ++b) {
      arrays_.emplace_back();
      for (std::size_t a = 0; a < nest.arrays.size(); ++a) {
        arrays_.back().emplace_back(nest, a, bands, b);
      }
    }
    for (std::int64_t extent : nest.extents) log_extents_.push_back(std::log(to_real(extent)));
    for (const Nest::Array& array : nest.arrays) {
      if (array.starts_at_zero) zeros_ += footprint(array, nest.extents);
    }
  }

  std::size_t variables() const { return bands_.size() * dims_; }
  const std::vector<double>& log_extents() const { return log_extents_; }
  // Also how far tiles stand out of those of the next band.
  int constraints() const { return static_cast<int>(bands_.size() + (bands_.size() - 1) * dims_); }

  double moved(const double* y, std::size_t band) const {
    LogSum sum(variables());
    for (const RealArray& array : arrays_[band]) array.add_moved(table(y), sum);
    return sum.sum() / bands_[band].weight - zeros_;
  }
  double held(const double* y, std::size_t band) const {
    LogSum sum(variables());
    for (const RealArray& array : arrays_[band]) array.add_held(table(y), sum);
    return sum.sum();
  }

  // As slsqp() calls them.
  double objective(const double* y, double* gradient) const {
    LogSum sum(variables());
    for (const auto& band : arrays_) {
      for (const RealArray& array : band) array.add_moved(table(y), sum);
    }
    if (gradient != nullptr) sum.gradient(gradient);
    return sum.value();
  }
  void constrain(const double* y, double* result, double* gradient) const {
    const std::size_t n = variables();
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      LogSum sum(n);
      for (const RealArray& array : arrays_[b]) array.add_held(table(y), sum);
      result[b] = sum.value() - std::log(bands_[b].capacity);
      if (gradient != nullptr) sum.gradient(gradient + b * n);
    }
    for (std::size_t v = 0; v + dims_ < n; ++v) {
      const std::size_t row = bands_.size() + v;
      result[row] = y[v] - y[v + dims_];
      if (gradient == nullptr) continue;
      gradient[row * n + v] = 1;
      gradient[row * n + v + dims_] = -1;
    }
  }

 private:
  std::vector<double> table(const double* y) const {
    std::vector<double> all(y, y + variables());
    all.insert(all.end(), log_extents_.begin(), log_extents_.end());
    return all;
  }

  std::span<const Band> bands_;
  std::size_t dims_;
  std::vector<double> log_extents_;
  std::vector<std::vector<RealArray>> arrays_;  // by band
  double zeros_ = 0;
};

std::vector<RealTiling> tilings_of(const RealProblem& problem, std::span<const Band> bands,
                                   const std::vector<double>& y) {
  std::vector<RealTiling> result;
  const std::size_t dims = problem.log_extents().size();
  for (std::size_t b = 0; b < bands.size(); ++b) {
    RealTiling tiling{bands[b].permutation,
                      bands[b].levels,
                      {},
                      problem.moved(y.data(), b),
                      problem.held(y.data(), b)};
    for (std::size_t d = 0; d < dims; ++d) tiling.tiles.push_back(std::exp(y[b * dims + d]));
    result.push_back(std::move(tiling));
  }
  return result;
}

// Tiles of one length in each band that fill a part of its store.
std::vector<double> start(const RealProblem& problem, std::span<const Band> bands) {
  const std::vector<double>& upper = problem.log_extents();
  std::vector<double> y(problem.variables(), 0);
  const double longest = *std::max_element(upper.begin(), upper.end());
  double shortest = 0;
  for (std::size_t b = 0; b < bands.size(); ++b) {
    double low = shortest, high = longest;
    const auto set = [&](double length) {
      for (std::size_t d = 0; d < upper.size(); ++d) {
        y[b * upper.size() + d] = std::min(upper[d], length);
      }
    };
    for (int i = 0; i < 30; ++i) {
      const double middle = (low + high) / 2;
      set(middle);
      (problem.held(y.data(), b) <= bands[b].capacity * filled_at_start ? low : high) = middle;
    }
    set(low);
    shortest = low;
  }
  return y;
}

}  // namespace

RealTiling real_cost(const Nest& nest, const std::vector<DimId>& permutation,
                     const std::vector<int>& levels, const std::vector<double>& tiles) {
  const std::vector<Band> bands{{permutation, levels}};
  std::vector<double> y;
  for (double tile : tiles) y.push_back(std::log(tile));
  return tilings_of(RealProblem(nest, bands), bands, y).front();
}

std::vector<int> useful_levels(const Nest::Array& array, const std::vector<DimId>& permutation) {
  const int all = static_cast<int>(permutation.size()) + 1;
  std::vector<int> levels;
  for (int level = 1; level < all && levels.size() < 2; ++level) {
    if (has(array, permutation[static_cast<std::size_t>(all - 1 - level)])) levels.push_back(level);
  }
  levels.push_back(all);
  return levels;
}

std::optional<std::vector<RealTiling>> best_real_tiles(const Nest& nest,
                                                       std::span<const Band> bands) {
  RealProblem problem(nest, bands);
  const std::size_t variables = problem.variables();
  const std::vector<double> lower(variables, 0);
  for (std::size_t b = 0; b < bands.size(); ++b) {
    if (problem.held(lower.data(), b) > bands[b].capacity) return {};
  }
  if (variables == 0) return tilings_of(problem, bands, {});
  std::vector<double> upper;
  for (std::size_t b = 0; b < bands.size(); ++b) {
    upper.insert(upper.end(), problem.log_extents().begin(), problem.log_extents().end());
  }
  std::vector<double> y = start(problem, bands);
  slsqp(problem, {lower, upper, problem.constraints(), solver_tolerance, most_solver_evaluations},
        y);
  return tilings_of(problem, bands, y);
}

namespace {

// The search for whole tiles. Of tiles that cut a dimension into as many pieces, the smallest is
// the best: so it steps by numbers of pieces, and by one.
class WholeSearch {
 public:
  WholeSearch(const Nest& nest, std::span<const Band> bands, std::vector<bool> fixed)
      : nest_(nest), inner_(nest), bands_(bands), fixed_(std::move(fixed)) {
    fixed_.resize(nest.extents.size());
    // Zeros are made once, not in every tile of a band.
    for (Nest::Array& array : inner_.arrays) {
      if (array.starts_at_zero) zeros_ += footprint(array, nest.extents);
      array.starts_at_zero = false;
    }
  }

  std::optional<WholeTiling> run(const std::vector<RealTiling>& near) {
    Tiles tiles;
    for (std::size_t b = bands_.size(); b > 0; --b) {
      std::vector<std::int64_t> of_band;
      for (std::size_t d = 0; d < nest_.extents.size(); ++d) {
        const std::int64_t most = b == bands_.size() ? nest_.extents[d] : tiles.front()[d];
        of_band.push_back(
            std::clamp<std::int64_t>(static_cast<std::int64_t>(near[b - 1].tiles[d]), 1, most));
      }
      tiles.insert(tiles.begin(), std::move(of_band));
    }
    for (std::size_t b = bands_.size(); b > 0; --b) {
      while (!fits(tiles, b - 1)) {
        const auto longest = std::max_element(tiles[b - 1].begin(), tiles[b - 1].end());
        if (longest == tiles[b - 1].end() || *longest == 1) return {};
        *longest -= std::max<std::int64_t>(1, *longest / 16);
        const auto d = static_cast<std::size_t>(longest - tiles[b - 1].begin());
        shrink_inner(tiles, b - 1, d);
      }
    }
    if (!try_it(tiles)) return {};
    for (int step = 0; step < most_steps && improve(); ++step) {
    }
    return best_;
  }

 private:
  using Tiles = std::vector<std::vector<std::int64_t>>;  // by band, by dimension

  Tiles best_tiles() const {
    Tiles tiles;
    for (const Tiling& tiling : best_->tilings) tiles.push_back(tiling.tiles);
    return tiles;
  }

  bool fits(const Tiles& tiles, std::size_t band) const {
    return footprint(nest_, tiles[band]) <= bands_[band].capacity;
  }
  std::int64_t most(const Tiles& tiles, std::size_t band, std::size_t d) const {
    return band + 1 == bands_.size() ? nest_.extents[d] : tiles[band + 1][d];
  }
  // Tiles of bands inside are no longer.
  static void shrink_inner(Tiles& tiles, std::size_t band, std::size_t d) {
    for (std::size_t b = 0; b < band; ++b) tiles[b][d] = std::min(tiles[b][d], tiles[band][d]);
  }

  bool try_it(const Tiles& tiles) {
    WholeTiling next;
    double repeats = 1;  // of the band's loops
    for (std::size_t b = bands_.size(); b > 0; --b) {
      const Band& band = bands_[b - 1];
      for (std::size_t d = 0; d < nest_.extents.size(); ++d) {
        inner_.extents[d] = most(tiles, b - 1, d);
      }
      const Tiling tiling{band.permutation, tiles[b - 1]};
      auto cost = cost_of(inner_, tiling, band.capacity);
      if (!cost) return false;
      for (ArrayCost& array : cost->arrays) array.moved *= repeats;
      cost->moved = cost->moved * repeats - zeros_;
      next.weighted += cost->moved * band.weight;
      if (best_ && next.weighted > best_->weighted) return false;
      next.costs.insert(next.costs.begin(), *cost);
      next.tilings.insert(next.tilings.begin(), tiling);
      for (std::size_t d = 0; d < nest_.extents.size(); ++d) {
        repeats *= to_real((inner_.extents[d] - 1) / tiles[b - 1][d] + 1);
      }
    }
    if (best_ && next.weighted == best_->weighted && held(next) >= held(*best_)) return false;
    best_ = std::move(next);
    return true;
  }
  static double held(const WholeTiling& tiling) {
    double sum = 0;
    for (const NestCost& cost : tiling.costs) sum += cost.held;
    return sum;
  }

  bool improve() {
    const Tiles from = best_tiles();
    bool better = false;
    for (std::size_t b = 0; b < bands_.size(); ++b) {
      for (std::size_t d = 0; d < nest_.extents.size(); ++d) {
        if (fixed_[d]) continue;
        const std::int64_t tile = from[b][d], extent = most(from, b, d);
        const std::int64_t count = (extent - 1) / tile + 1;
        std::vector<std::int64_t> steps{
            tile - 1, tile + 1, cut(extent, count / 2), cut(extent, 2 * count), 1, extent};
        for (std::int64_t more = 1; more <= pieces_apart; ++more) {
          steps.push_back(cut(extent, count - more));
          steps.push_back(cut(extent, count + more));
        }
        for (std::int64_t to : steps) {
          if (to < 1 || to > extent || to == tile) continue;
          Tiles next = from;
          next[b][d] = to;
          shrink_inner(next, b, d);
          if (fits(next, b)) better = try_it(next) || better;
          if (to > tile) better = try_smaller_others(next, b, d) || better;
        }
      }
    }
    return better;
  }

  // The smallest tile for so many pieces.
  static std::int64_t cut(std::int64_t extent, std::int64_t into) {
    return (extent - 1) / std::clamp<std::int64_t>(into, 1, extent) + 1;
  }

  // With one tile larger, another one so much smaller that all fit.
  bool try_smaller_others(const Tiles& larger, std::size_t band, std::size_t grown) {
    bool better = false;
    for (std::size_t d = 0; d < nest_.extents.size(); ++d) {
      if (d == grown || fixed_[d] || larger[band][d] == 1) continue;
      std::int64_t low = 1, high = larger[band][d];  // the largest that fits is in [low, high)
      Tiles next = larger;
      next[band][d] = low;
      if (!fits(next, band)) continue;
      while (high - low > 1) {
        next[band][d] = low + (high - low) / 2;
        (fits(next, band) ? low : high) = next[band][d];
      }
      const std::int64_t extent = most(next, band, d);
      next[band][d] = cut(extent, (extent - 1) / low + 1);
      shrink_inner(next, band, d);
      better = try_it(next) || better;
    }
    return better;
  }

  const Nest& nest_;
  Nest inner_;  // a band's loops, within a tile of the next band
  std::span<const Band> bands_;
  std::vector<bool> fixed_;  // by dimension
  double zeros_ = 0;
  std::optional<WholeTiling> best_;
};

}  // namespace

std::optional<WholeTiling> best_whole_tiles(const Nest& nest, std::span<const Band> bands,
                                            const std::vector<RealTiling>& near,
                                            const std::vector<bool>& fixed) {
  return WholeSearch(nest, bands, fixed).run(near);
}

}  // namespace tcsim::bounds
