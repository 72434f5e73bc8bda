#include "core/model/evictions.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace tcsim {

namespace {

// Large numbers are rounded to quarter octaves, so that few boxes are counted, or to the lines
// of all, where those are nearer: a whole tensor lies more evenly than most of it.
double coarse(double lines, double all) {
  if (lines < 256) return lines;
  const double rounded = std::exp2(std::round(std::log2(lines) * 4) / 4);
  return std::abs(all - lines) <= std::abs(rounded - lines) ? all : rounded;
}

// Sets fill unevenly, so a window that is somewhat shorter than the cache may lose a line.
double chance_by_length(const SetAssociative& cache, double total) {
  const double fill = (total + 1) / cache.lines();
  if (cache.sets == 1) return fill > 1 ? 1 : 0;
  // Shares of the cache that a window fills: from the first on it loses lines, the second later
  // all of them. Source: chosen.
  constexpr double safe = 0.75, steep = 0.4;
  return std::clamp((fill - safe) / steep, 0.0, 1.0);
}

// Of a cache, windows that leave no doubt whether a line is kept, wherever arrays lie. Source:
// chosen.
constexpr double surely_kept = 0.25, surely_gone = 1.75;

// Lines in a set; far more than any cache has where it matters.
int told_apart_in_a_set(const SetAssociative& cache) {
  return static_cast<int>(4 * std::min<std::int64_t>(cache.ways, 1 << 20));
}

double halton(std::size_t i, int base) {
  double x = 0, digit = 1;
  for (auto rest = static_cast<int>(i); rest > 0; rest /= base) {
    digit /= base;
    x += digit * (rest % base);
  }
  return x;
}

}  // namespace

Evictions::Evictions(const Contraction& contraction, const Machine& machine, const Nest& nest,
                     SetCounter& counter, double margin, Detail detail)
    : nest_(nest),
      arrays_(nest.arrays()),
      counter_(counter),
      margin_(margin),
      detail_(detail),
      caches_(sets_of_caches(machine)),
      element_(size_of(contraction.type())),
      line_(static_cast<std::int64_t>(common_line(machine) / element_)),
      tensor_places_(tensor_places(contraction)) {}

void Evictions::find_parts(const Setting& at, const Execution::Sides& s) {
  parts_.clear();
  const PerArray& full = at.window.full(at.d);
  for (ArrayId a : arrays_.ids()) {
    const double after = s.after[a], before = s.before[a];
    double n = after + before;
    if (!at.moves_on[a]) n = std::min(n, full[a]);
    if (at.most != nullptr && (*at.most)[a] > 0) n = std::min(n, (*at.most)[a]);
    if (n <= 0) continue;
    n *= margin_;
    const bool own = a == at.x, buffer = arrays_.is_buffer(a);
    // Neighbouring tiles of a buffer lie side by side: whatever part is seen is one run.
    const double run =
        buffer ? n + 1 : nest_.run_lines(arrays_.tensor_of(a), at.window.extents(at.d));
    if (a == ArrayId::C && at.moves_on[a] && after >= 1 && before >= 1) {
      parts_.add(a, n * after / (after + before), run, own, true);
      parts_.add(a, n * before / (after + before), run, own);
    } else {
      parts_.add(a, n, run, own);
    }
  }
}

std::array<bool, max_levels> Evictions::take_open() { return std::exchange(open_, {}); }

PerLevel Evictions::gone(const Setting& at, const Execution::Sides& s) {
  find_parts(at, s);
  PerLevel p{};
  double inner = 1;  // a level is only asked for what the level inside it lacks
  for (std::size_t l = 0; l < caches_.size() && inner > 0; ++l) {
    const SetAssociative& cache = caches_[l];
    const auto ways = static_cast<double>(cache.ways);
    if (detail_ == Detail::coarse) {
      p[l] = inner = std::min(inner, chance_by_length(cache, parts_.lines));
      continue;
    }
    const double fill = parts_.lines / cache.lines();
    open_[l] = open_[l] || (fill > surely_kept && fill < surely_gone);
    const bool near = cache.sets > 1 && parts_.lines >= ways && parts_.lines < 3 * cache.lines();
    count_sets(at, near ? &cache : nullptr);
    const std::span<const WindowPart> all(parts_.all.data(), parts_.size);
    double lost = miss_probability(cache, all);
    if (near && lost > 0 && lost < 1) {
      if (auto placed = place_together(at, cache)) lost = placed->miss_probability(cache);
    }
    p[l] = inner = std::min(inner, lost);
  }
  return p;
}

// Null: their sets are not worth counting.
void Evictions::count_sets(const Setting& at, const SetAssociative* cache) {
  for (std::size_t i = 0; i < parts_.size; ++i) {
    WindowPart& part = parts_.all[i];
    part.counts = nullptr;
    if (cache == nullptr || arrays_.is_buffer(parts_.array[i]) || part.lines < 1) continue;
    const TensorId t = arrays_.tensor_of(parts_.array[i]);
    const double lines = coarse(part.lines, at.window.full(at.d)[parts_.array[i]]);
    parts_.box[i] = at.window.box(t, lines, at.outer);
    part.counts =
        counter_.count(nest_.tile_lines(t), parts_.box[i], static_cast<std::int64_t>(cache->sets),
                       told_apart_in_a_set(*cache));
  }
}

double Evictions::Placed::miss_probability(const SetAssociative& cache) {
  parts[size] = {together.lines, 1, &together, false};
  return tcsim::miss_probability(cache, {parts.data(), size + 1});
}

// None where fewer than two parts have counted sets, or the cache has too many.
std::optional<Evictions::Placed> Evictions::place_together(const Setting& at,
                                                           const SetAssociative& cache) {
  std::array<PlacedTile, max_arrays + 1> tiles;
  std::size_t count = 0;
  int own = -1;
  Placed placed;
  const Extents& node = at.window.extents(at.d);
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
    find_places(tile, arrays_.tensor_of(a), node, at.outer, seen[a]++, from);
    if (part.own && own < 0) own = static_cast<int>(count);
    ++count;
  }
  if (count < 2 || count > most_placed) return {};
  placed.together =
      counter_.together({tiles.data(), count}, own, static_cast<std::int64_t>(cache.sets),
                        told_apart_in_a_set(cache), line_);
  return placed;
}

// Where parts of tiles like the node's begin, `from` indices into the tile: tiles at places that
// are spread over the groups. The next one along `outer` is `later` tiles further.
void Evictions::find_places(PlacedTile& tile, TensorId t, const Extents& node, DimClass outer,
                            int later, const Extents& from) const {
  const TileLines& tensor = nest_.tile_lines(t);
  for (std::size_t place = 0; place < tile_places; ++place) {
    std::int64_t begin = tensor_places_[t].value() / element_.value();
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

}  // namespace tcsim
