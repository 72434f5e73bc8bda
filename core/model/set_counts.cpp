#include "core/model/set_counts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace tcsim {

namespace {

// Caches of at most so many sets have the places of tiles looked at. Source: chosen: with the
// thousands of outer caches choosing a schedule takes several times as long.
constexpr std::int64_t placed_sets = 128;

}  // namespace

const SetCounts* SetCounter::count(const TileLines& tensor, const Extents& tile, std::int64_t sets,
                                   int most) {
  Key key{};
  Extents whole;
  for (DimClass g : all_dim_classes) {
    std::int64_t& rounded = key[at(g)];
    rounded = std::clamp<std::int64_t>(std::llround(tile[g]), 1, tensor.extent(g));
    whole[g] = static_cast<double>(rounded);
  }
  key[4] = sets;
  key[5] = most;
  key[6] = static_cast<std::int64_t>(tensor.shape());
  if (const auto known = known_.find(key); known != known_.end()) return &known->second;
  const double tile_lines = tensor.lines(whole);
  if (tile_lines > max_lines_) return nullptr;

  // Tiles that begin within a line reach into one more: what they do at their several beginnings
  // is averaged.
  const std::vector<std::int64_t> beginnings = tensor.beginnings(whole);
  SetCounts counts;
  counts.least = std::numeric_limits<int>::max();
  counts.share.assign(static_cast<std::size_t>(most) + 1, 0);
  const TileLines::Places places = tensor.places(whole);
  for (std::int64_t begin : beginnings) {
    if (sets <= placed_sets) counts.by_set.emplace_back();
    add(counts, tensor, places, begin, sets, tile_lines);
  }
  counts.beginnings = beginnings;
  const auto times = static_cast<double>(beginnings.size());
  counts.lines /= times;
  counts.gathered /= times * static_cast<double>(sets);
  for (double& share : counts.share) share /= times * static_cast<double>(sets);
  return &known_.emplace(key, std::move(counts)).first->second;
}

// Adds sets instead of shares.
void SetCounter::add(SetCounts& counts, const TileLines& tensor, const TileLines::Places& places,
                     std::int64_t first_element, std::int64_t sets, double tile_lines) {
  const int most = static_cast<int>(counts.share.size()) - 1;
  std::vector<std::uint16_t>* by_set = counts.by_set.empty() ? nullptr : &counts.by_set.back();
  int n = 0;  // lines in the current set
  const auto stretch = [&](std::int64_t length) {
    if (length == 0) return;
    counts.share[static_cast<std::size_t>(std::min(n, most))] += static_cast<double>(length);
    if (by_set != nullptr) {
      by_set->insert(by_set->end(), static_cast<std::size_t>(length),
                     static_cast<std::uint16_t>(std::min(n, most)));
    }
    if (n >= most) counts.gathered += static_cast<double>(n) * static_cast<double>(length);
    counts.least = std::min(counts.least, n);
    counts.most = std::max(counts.most, n);
  };

  // Every run changes the number of lines at its two ends. Few changes are sorted; many are added
  // up by set.
  const bool power_of_two = (sets & (sets - 1)) == 0;
  // first % sets without a division: the quotient by the reciprocal is at most one off.
  const double reciprocal = 1 / static_cast<double>(sets);
  const auto remainder = [&](std::int64_t first) {
    const auto quotient = static_cast<std::int64_t>(static_cast<double>(first) * reciprocal);
    const std::int64_t rest = first - quotient * sets;
    return rest < 0 ? rest + sets : rest >= sets ? rest - sets : rest;
  };
  const auto for_each_change = [&](auto&& change) {
    tensor.for_each_run(places, first_element, [&](std::int64_t first, std::int64_t lines) {
      counts.lines += static_cast<double>(lines);
      if (lines >= sets) {
        n += static_cast<int>(lines / sets);
        lines %= sets;
      }
      const std::int64_t begin = power_of_two ? first & (sets - 1) : remainder(first);
      std::int64_t end = begin + lines;
      if (end > sets) {
        ++n;
        end -= sets;
      }
      change(begin, 1);
      change(end, -1);
    });
  };
  std::int64_t begin = 0;
  const auto sweep = [&](std::int64_t set, int change) {
    if (change == 0) return;
    stretch(set - begin);
    begin = set;
    n += change;
  };
  if (tile_lines * 32 < static_cast<double>(sets)) {
    changes_.clear();
    for_each_change([&](std::int64_t set, int change) { changes_.emplace_back(set, change); });
    std::sort(changes_.begin(), changes_.end());
    for (const auto& [set, change] : changes_) sweep(set, change);
  } else {
    // A sum of so few changes fits in half the memory, which is what adding them up takes.
    const std::size_t runs = places.count();
    if (runs < 32768) {
      short_sum_.assign(static_cast<std::size_t>(sets) + 1, 0);
    } else {
      sum_.assign(static_cast<std::size_t>(sets) + 1, 0);
    }
    // Most sets change nothing; eight of them are passed at once.
    const auto sweep_all = [&](const auto* sum) {
      std::int64_t set = 0;
      for (; set + 8 <= sets; set += 8) {
        std::uint64_t any[2] = {0, 0};
        if constexpr (sizeof *sum == 2) {
          std::memcpy(any, sum + set, sizeof any);
        } else {
          any[0] = 1;
        }
        if ((any[0] | any[1]) == 0) continue;
        for (std::int64_t i = set; i < set + 8; ++i) sweep(i, sum[i]);
      }
      for (; set < sets; ++set) sweep(set, sum[set]);
    };
    for_each_change([&](std::int64_t set, int change) {
      if (runs < 32768) {
        auto& sum = short_sum_[static_cast<std::size_t>(set)];
        sum = static_cast<std::int16_t>(sum + change);
      } else {
        sum_[static_cast<std::size_t>(set)] += change;
      }
    });
    if (runs < 32768) {
      sweep_all(short_sum_.data());
    } else {
      sweep_all(sum_.data());
    }
  }
  stretch(sets - begin);
}

SetCounts SetCounter::together(std::span<const PlacedTile> tiles, int own, std::int64_t sets,
                               int most, std::int64_t line) {
  SetCounts all;
  all.share.assign(static_cast<std::size_t>(most) + 1, 0);
  all.least = most;
  for (const PlacedTile& t : tiles) all.lines += t.lines;
  const auto all_sets = static_cast<std::size_t>(sets);
  const auto last = static_cast<std::size_t>(most);
  double weight = 0;
  // A set's lines of every tile, 16 bits for each: neighbouring sets mostly hold the same.
  std::array<std::uint64_t, placed_sets> held;
  const auto lines_of = [](std::uint64_t in_set, std::size_t tile) {
    return static_cast<double>(in_set >> (16 * tile) & 0xffff);
  };
  for (std::size_t place = 0; place < tile_places; ++place) {
    std::fill_n(held.begin(), all_sets, 0);
    for (std::size_t i = 0; i < tiles.size(); ++i) {
      const PlacedTile& t = tiles[i];
      const std::int64_t begin = t.begin[place];
      // Counted was what begins at the nearest place in a line before it.
      const auto& beginnings = t.counts->beginnings;
      const auto behind = std::upper_bound(beginnings.begin() + 1, beginnings.end(), begin % line);
      const std::vector<std::uint16_t>& lines =
          t.counts->by_set[static_cast<std::size_t>(behind - beginnings.begin() - 1)];
      const auto first = static_cast<std::size_t>(begin / line % sets), rest = all_sets - first;
      const auto add = [&](std::uint64_t in_set, std::uint64_t n) {
        return in_set + (n << 16 * i);
      };
      const auto split = lines.begin() + static_cast<std::ptrdiff_t>(rest);
      const auto middle = held.begin() + static_cast<std::ptrdiff_t>(first);
      std::transform(middle, held.begin() + sets, lines.begin(), middle, add);
      std::transform(held.begin(), middle, split, held.begin(), add);
    }
    for (std::size_t s = 0, next = 0; s < all_sets; s = next) {
      for (next = s + 1; next < all_sets && held[next] == held[s];) ++next;
      double w = static_cast<double>(next - s);
      if (own >= 0) w *= lines_of(held[s], static_cast<std::size_t>(own));
      if (w <= 0) continue;
      weight += w;
      // How likely one more line is, two more, and so on: parts of lines are as likely as large.
      std::array<double, most_placed + 1> more{1};
      std::size_t whole = 0, parts = 0;
      for (std::size_t i = 0; i < tiles.size(); ++i) {
        const double others = lines_of(held[s], i) - (static_cast<int>(i) == own ? 1 : 0);
        const double lines = others * tiles[i].lines / tiles[i].counts->lines;
        const auto below = static_cast<std::size_t>(lines);
        const double part = lines - static_cast<double>(below);
        whole += below;
        if (part <= 0) continue;
        ++parts;
        for (std::size_t n = parts; n > 0; --n) more[n] += part * (more[n - 1] - more[n]);
        more[0] *= 1 - part;
      }
      for (std::size_t n = 0; n <= parts; ++n) all.share[std::min(last, whole + n)] += w * more[n];
      all.least = std::min(all.least, static_cast<int>(std::min(last, whole)));
      all.most = std::max(all.most, static_cast<int>(whole + parts));
    }
  }
  for (double& share : all.share) share /= weight;
  return all;
}

}  // namespace tcsim
