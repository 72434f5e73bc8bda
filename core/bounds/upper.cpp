#include "core/bounds/upper.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/bounds/permutations.hpp"
#include "core/error.hpp"

namespace tcsim::bounds {

namespace {

// Real tilings from which whole ones are searched, and how much more than the best of them one may
// move: what rounding changes is less.
constexpr std::size_t most_rounded = 12;
constexpr double worth_rounding = 1.5;
// Orders of loops that a store behind others is tried with, and what another one must save.
constexpr std::size_t most_orders = 12;
constexpr double worth_changing = 1e-4;

// Orders with and without reuse along dimensions that are short beside their partners.
std::vector<std::vector<DimId>> orders_of(const Nest& nest) {
  std::set<std::vector<DimId>> orders;
  for (const std::vector<bool>& small :
       {small_dims(nest), std::vector<bool>(nest.extents.size())}) {
    for (const auto& order : permutations(reuse_of(nest, small))) orders.insert(order);
  }
  return {orders.begin(), orders.end()};
}

// Calls visit(levels) for all choices of one level for each array.
template <class Visit>
void for_each_choice(const std::vector<std::vector<int>>& options, std::vector<int>& chosen,
                     Visit&& visit) {
  if (chosen.size() == options.size()) {
    visit(chosen);
    return;
  }
  for (int level : options[chosen.size()]) {
    chosen.push_back(level);
    for_each_choice(options, chosen, visit);
    chosen.pop_back();
  }
}

// The best of each order of loops and choice of levels, the best first.
std::vector<RealTiling> real_tilings(const Nest& nest, double capacity) {
  std::vector<RealTiling> found;
  for (const std::vector<DimId>& order : orders_of(nest)) {
    std::vector<std::vector<int>> options;
    for (const Nest::Array& array : nest.arrays) options.push_back(useful_levels(array, order));
    std::vector<int> chosen;
    for_each_choice(options, chosen, [&](const std::vector<int>& levels) {
      const std::vector<Band> bands{{order, levels, capacity}};
      if (auto tilings = best_real_tiles(nest, bands)) found.push_back(std::move(tilings->front()));
    });
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.moved < b.moved; });
  return found;
}

Band band_of(const RealTiling& tiling, double capacity, double weight) {
  return {tiling.permutation, tiling.levels, capacity, weight};
}

// Of tilings that are almost the same as a better one only that.
std::vector<RealTiling> different(const std::vector<RealTiling>& tilings) {
  const auto close = [](double a, double b) { return std::abs(a - b) <= 1e-6 * std::abs(b); };
  std::vector<RealTiling> kept;
  for (const RealTiling& t : tilings) {
    const bool known = std::any_of(kept.begin(), kept.end(), [&](const RealTiling& k) {
      return close(t.moved, k.moved) && close(t.held, k.held) &&
             std::equal(t.tiles.begin(), t.tiles.end(), k.tiles.begin(), close);
    });
    if (!known) kept.push_back(t);
  }
  return kept;
}

}  // namespace

FusedNest tiled_nest(const Nest& nest) {
  FusedNest loops = fused(nest);
  if (std::ranges::find(loops.nest.extents, most_extent) != loops.nest.extents.end()) {
    throw UsageError("", "loops that are always together have more than 2^62 iterations",
                     "use smaller sizes");
  }
  return loops;
}

std::optional<UpperBound> upper_bound(const Nest& nest, double capacity) {
  FusedNest loops = tiled_nest(nest);
  const std::vector<RealTiling> real = real_tilings(loops.nest, capacity);
  if (real.empty()) return {};
  std::optional<WholeTiling> best;
  std::size_t rounded = 0;
  for (const RealTiling& r : different(real)) {
    if (rounded == most_rounded || r.moved > worth_rounding * real.front().moved) break;
    const std::vector<Band> bands{band_of(r, capacity, 1)};
    auto whole = best_whole_tiles(loops.nest, bands, {r});
    if (!whole) continue;
    ++rounded;
    if (!best || whole->weighted < best->weighted) best = std::move(whole);
  }
  if (!best) return {};
  return UpperBound{std::move(loops), best->tilings[0], best->costs[0], real.front()};
}

std::optional<ProblemUpperBound> upper_bound(const Problem& problem, Moves moves, double capacity) {
  ProblemUpperBound all;
  for (std::size_t s = 0; s < problem.statements.size(); ++s) {
    auto bound = upper_bound(nest_of(problem, s, moves).nest, capacity);
    if (!bound) return {};
    all.moved += bound->cost.moved;
    all.statements.push_back(std::move(*bound));
  }
  return all;
}

namespace {

std::string name_of(const UpperBound& bound, DimId d, const std::vector<std::string>& names) {
  std::string text;
  for (DimId of : bound.nest.dims[place(d)]) {
    if (!text.empty()) text += '*';
    text += names[place(of)];
  }
  return text;
}

}  // namespace

std::string permutation_text(const UpperBound& bound, const std::vector<std::string>& names) {
  std::string text;
  for (DimId d : bound.tiling.permutation) {
    if (!text.empty()) text += ' ';
    text += name_of(bound, d, names);
  }
  return text;
}

std::string tiles_text(const UpperBound& bound, const std::vector<std::string>& names) {
  std::string text;
  for (DimId d : bound.tiling.permutation) {
    if (!text.empty()) text += ' ';
    text += name_of(bound, d, names) + "=" + std::to_string(bound.tiling.tiles[place(d)]);
  }
  return text;
}

namespace {

// Bands for all stores, and their tiles together.
struct Bands {
  std::vector<Band> bands;
  std::vector<RealTiling> tilings;
  double weighted = 0;
};

std::optional<Bands> solved(const Nest& nest, std::vector<Band> bands) {
  auto tilings = best_real_tiles(nest, bands);
  if (!tilings) return {};
  Bands result{std::move(bands), std::move(*tilings), 0};
  for (std::size_t b = 0; b < result.bands.size(); ++b) {
    result.weighted += result.bands[b].weight * result.tilings[b].moved;
  }
  return result;
}

}  // namespace

std::optional<std::vector<UpperBound>> upper_bounds(const Nest& nest,
                                                    std::span<const double> capacities,
                                                    std::span<const double> weights) {
  if (capacities.size() == 1) {
    auto bound = upper_bound(nest, capacities[0]);
    if (!bound) return {};
    return std::vector<UpperBound>{std::move(*bound)};
  }
  const FusedNest loops = tiled_nest(nest);
  // What each store may do by itself. Relative to what moves then, all count alike.
  std::vector<std::vector<RealTiling>> alone;
  std::vector<Band> first;
  for (double capacity : capacities) {
    alone.push_back(different(real_tilings(loops.nest, capacity)));
    if (alone.back().empty()) return {};
    if (alone.back().size() > most_orders) alone.back().resize(most_orders);
    const RealTiling& best = alone.back().front();
    const double weight = weights.empty() ? 1 / best.moved : weights[first.size()];
    first.push_back(band_of(best, capacity, weight));
  }
  std::optional<Bands> best = solved(loops.nest, first);
  // Store by store another order of loops, as long as that helps.
  for (bool better = true; best && better;) {
    better = false;
    for (std::size_t b = 0; b < capacities.size(); ++b) {
      for (const RealTiling& other : alone[b]) {
        std::vector<Band> bands = best->bands;
        bands[b] = band_of(other, capacities[b], bands[b].weight);
        auto next = solved(loops.nest, std::move(bands));
        if (!next || next->weighted > best->weighted * (1 - worth_changing)) continue;
        best = std::move(next);
        better = true;
      }
    }
  }
  if (!best) return {};
  const auto whole = best_whole_tiles(loops.nest, best->bands, best->tilings);
  if (!whole) return {};
  std::vector<UpperBound> bounds;
  for (std::size_t b = 0; b < capacities.size(); ++b) {
    bounds.push_back({loops, whole->tilings[b], whole->costs[b], best->tilings[b]});
  }
  return bounds;
}

}  // namespace tcsim::bounds
