#include "core/model/set_counts.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim {

const SetCounts* SetCounter::count(const TileLines& tensor, const Extents& tile, std::int64_t sets,
                                   int most) {
  std::array<std::int64_t, 7> key{};
  Extents whole;
  for (std::size_t g = 0; g < tile.size(); ++g) {
    key[g] = std::clamp<std::int64_t>(std::llround(tile[g]), 1, tensor.extent(g));
    whole[g] = static_cast<double>(key[g]);
  }
  key[4] = sets;
  key[5] = most;
  key[6] = static_cast<std::int64_t>(tensor.shape());
  if (const auto known = known_.find(key); known != known_.end()) return &known->second;
  if (tensor.lines(whole) > max_lines_) return nullptr;

  std::vector<int> lines_in(static_cast<std::size_t>(sets), 0);
  SetCounts counts;
  tensor.for_each_line(whole, [&](std::int64_t line) {
    ++lines_in[static_cast<std::size_t>(line % sets)];
    ++counts.lines;
  });
  std::vector<std::int64_t> sets_with(static_cast<std::size_t>(most) + 1, 0);
  for (int n : lines_in) ++sets_with[static_cast<std::size_t>(std::min(n, most))];
  for (std::int64_t n : sets_with) {
    counts.share.push_back(static_cast<double>(n) / static_cast<double>(sets));
  }
  const auto [least, largest] = std::minmax_element(lines_in.begin(), lines_in.end());
  counts.least = *least;
  counts.most = *largest;
  return &known_.emplace(key, std::move(counts)).first->second;
}

}  // namespace tcsim
