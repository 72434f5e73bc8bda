#include "core/model/held_tiles.hpp"

#include <algorithm>
#include <cmath>

#include "core/machine/share.hpp"
#include "core/model/countable.hpp"
#include "core/model/tile_lines.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

namespace {

HeldTile tile_of(const Contraction& contraction, const Groups& groups, const Path& path,
                 const ByGroup<std::int64_t>& extents) {
  HeldTile tile;
  for (DimClass c : {DimClass::m, DimClass::n, DimClass::k}) tile.extents[at(c)] = extents[c];
  for (TensorId t : all_tensors) {
    std::int64_t elements = 1, all = 1;
    for (DimClass c : all_dim_classes) {
      if (!path.follows(t, c)) continue;
      elements *= extents[c];
      all *= path.extents[c];
    }
    tile.whole[t] = elements == all;
    if (!contraction.is_plain(t)) {
      Extents real;
      for (DimClass c : all_dim_classes) real[c] = static_cast<double>(extents[c]);
      const TileLines tensor(contraction, groups, t, 1);
      elements = std::llround(tensor.elements(real));
      // What it shares along k is the filter's, not its neighbours'.
      Extents together = real;
      double tiles = 1;
      for (DimClass c : {DimClass::m, DimClass::n}) {
        if (!path.follows(t, c)) continue;
        together[c] = static_cast<double>(path.extents[c]);
        tiles *= together[c] / real[c];
      }
      const double own = tensor.elements(together) / tiles;
      tile.halo[t] =
          std::max<std::int64_t>(0, elements - std::llround(own)) * size_of(contraction.type());
    }
    tile.bytes[t] = elements * size_of(contraction.type());
  }
  return tile;
}

}  // namespace

std::vector<HeldInCache> held_tiles(const Contraction& contraction, const Schedule& schedule,
                                    const Machine& machine) {
  require_countable(contraction);
  const Machine one = view_of_one_core(machine);
  const Path path = only_path(contraction, schedule);
  std::vector<HeldTile> tiles{tile_of(contraction, schedule.groups, path, path.extents)};
  ByGroup<std::int64_t> extents = path.extents;
  for (const Step& step : path.steps) {
    if (step.kind != Step::Kind::loop) continue;
    extents[step.group] = std::min(extents[step.group], step.largest_tile());
    tiles.push_back(tile_of(contraction, schedule.groups, path, extents));
  }
  std::vector<HeldInCache> all;
  for (int l = 0; l < one.cache_count(); ++l) {
    HeldInCache held{LevelId{l}, one.level(LevelId{l}).capacity.value, {}};
    const auto fits = [&](const HeldTile& t) { return t.total() <= held.capacity; };
    const auto found = std::find_if(tiles.begin(), tiles.end(), fits);
    if (found != tiles.end()) held.tile = *found;
    all.push_back(held);
  }
  return all;
}

}  // namespace tcsim
