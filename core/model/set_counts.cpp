#include "core/model/set_counts.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace tcsim {

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
  // first % sets without a division: the quotient by the reciprocal is at most one off.
  const double reciprocal = 1 / static_cast<double>(sets);
  const auto remainder = [&](std::int64_t first) {
    const auto quotient = static_cast<std::int64_t>(static_cast<double>(first) * reciprocal);
    const std::int64_t rest = first - quotient * sets;
    return rest < 0 ? rest + sets : rest >= sets ? rest - sets : rest;
  };
  const auto for_each_change = [&](auto&& prepare, auto&& change) {
    tensor.for_each_run(tile, first_element, prepare, [&](std::int64_t first, std::int64_t lines) {
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
    for_each_change([](std::size_t) {},
                    [&](std::int64_t set, int change) { changes_.emplace_back(set, change); });
    std::sort(changes_.begin(), changes_.end());
    for (const auto& [set, change] : changes_) sweep(set, change);
  } else {
    std::size_t runs = 0;
    const auto prepare = [&](std::size_t all) {
      runs = all;
      // A sum of so few changes fits in half the memory, which is what adding them up takes.
      if (runs < 32768) {
        short_sum_.assign(static_cast<std::size_t>(sets) + 1, 0);
      } else {
        sum_.assign(static_cast<std::size_t>(sets) + 1, 0);
      }
    };
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
    for_each_change(prepare, [&](std::int64_t set, int change) {
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

}  // namespace tcsim
