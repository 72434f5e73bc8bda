#include "core/model/overlap.hpp"

#include <algorithm>

namespace tcsim {

std::vector<SharedLines> shared_lines(const TileLines& tensor, const Extents& tile, DimClass group,
                                      double extent) {
  const double tiles = extent / tile[group];
  const auto together = [&](double n) {
    Extents e = tile;
    e[group] = std::min(extent, e[group] * n);
    return tensor.lines(e, tile);
  };
  std::vector<SharedLines> all;
  for (double step : tensor.steps(group)) {
    const double steps = std::max(1.0, step / tile[group]);
    if (steps >= tiles || (!all.empty() && steps - all.back().steps < 1e-9)) continue;
    all.push_back({steps, 0});
  }
  if (all.empty()) return {{1, 1}};

  // New lines of a tile beside the last 0, steps[0], steps[1], ... ones. They become fewer with
  // more tiles; where D bends the other way, the tile at hand is no typical one.
  std::vector<double> fresh{together(1)};
  for (const SharedLines& s : all) {
    fresh.push_back(together(s.steps + 1) - together(s.steps));
  }
  for (std::size_t i = fresh.size() - 1; i-- > 0;) fresh[i] = std::max(fresh[i], fresh[i + 1]);
  double sum = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].share = (fresh[i] - fresh[i + 1]) * (tiles - all[i].steps);
    sum += all[i].share;
  }
  if (sum <= 0) return {{1, 1}};
  std::erase_if(all, [](const SharedLines& s) { return s.share <= 0; });
  for (SharedLines& s : all) s.share /= sum;
  return all;
}

}  // namespace tcsim
