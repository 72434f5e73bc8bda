#include "core/model/set_counts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace tcsim {

const SetCounts* SetCounter::count(const TileLines& tensor, const Extents& tile, std::int64_t sets,
                                   int most) {
  Key key{};
  Extents whole;
  for (std::size_t g = 0; g < tile.size(); ++g) {
    key[g] = std::clamp<std::int64_t>(std::llround(tile[g]), 1, tensor.extent(g));
    whole[g] = static_cast<double>(key[g]);
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
  for (std::int64_t begin : beginnings) add(counts, tensor, whole, begin, sets, tile_lines);
  const auto times = static_cast<double>(beginnings.size());
  counts.lines /= times;
  counts.gathered /= times * static_cast<double>(sets);
  for (double& share : counts.share) share /= times * static_cast<double>(sets);
  return &known_.emplace(key, std::move(counts)).first->second;
}

// Adds sets instead of shares.
void SetCounter::add(SetCounts& counts, const TileLines& tensor, const Extents& tile,
                     std::int64_t first_element, std::int64_t sets, double tile_lines) {
  const int most = static_cast<int>(counts.share.size()) - 1;
  int n = 0;  // lines in the current set
  const auto stretch = [&](std::int64_t length) {
    if (length == 0) return;
    counts.share[static_cast<std::size_t>(std::min(n, most))] += static_cast<double>(length);
    if (n >= most) counts.gathered += static_cast<double>(n) * static_cast<double>(length);
    counts.least = std::min(counts.least, n);
    counts.most = std::max(counts.most, n);
  };

  // Every run changes the number of lines at its two ends. Few changes are sorted; many are added
  // up by set.
  const bool power_of_two = (sets & (sets - 1)) == 0;
  const auto for_each_change = [&](auto&& change) {
    tensor.for_each_run(tile, first_element, [&](std::int64_t first, std::int64_t lines) {
      counts.lines += static_cast<double>(lines);
      if (lines >= sets) {
        n += static_cast<int>(lines / sets);
        lines %= sets;
      }
      const std::int64_t begin = power_of_two ? first & (sets - 1) : first % sets;
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
    sum_.assign(static_cast<std::size_t>(sets) + 1, 0);
    for_each_change(
        [&](std::int64_t set, int change) { sum_[static_cast<std::size_t>(set)] += change; });
    for (std::int64_t set = 0; set < sets; ++set) sweep(set, sum_[static_cast<std::size_t>(set)]);
  }
  stretch(sets - begin);
}

}  // namespace tcsim
