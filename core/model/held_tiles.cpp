#include "core/model/held_tiles.hpp"

#include <algorithm>

#include "core/machine/share.hpp"
#include "core/model/countable.hpp"
#include "core/schedule/path.hpp"

namespace tcsim {

namespace {

HeldTile tile_of(const Contraction& contraction, const Path& path,
                 const std::array<std::int64_t, 4>& extents) {
  HeldTile tile;
  for (DimClass c : {DimClass::m, DimClass::n, DimClass::k}) tile.extents[at(c)] = extents[at(c)];
  for (TensorId t : all_tensors) {
    std::int64_t elements = 1, all = 1;
    for (DimClass c : all_dim_classes) {
      if (!has_group(t, path.left, c)) continue;
      elements *= extents[at(c)];
      all *= path.extents[at(c)];
    }
    const auto i = static_cast<std::size_t>(index(t));
    tile.bytes[i] = elements * size_of(contraction.type());
    tile.whole[i] = elements == all;
  }
  return tile;
}

}  // namespace

std::vector<HeldInCache> held_tiles(const Contraction& contraction, const Schedule& schedule,
                                    const Machine& machine) {
  require_countable(contraction);
  const Machine one = view_of_one_core(machine);
  const Path path = only_path(contraction, schedule);
  std::vector<HeldTile> tiles{tile_of(contraction, path, path.extents)};
  std::array<std::int64_t, 4> extents = path.extents;
  for (const Step& step : path.steps) {
    if (step.kind != Step::Kind::loop) continue;
    extents[at(step.group)] = std::min(extents[at(step.group)], step.tile);
    tiles.push_back(tile_of(contraction, path, extents));
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
