#include <fmt/format.h>

#include <vector>

#include "bench/tune.hpp"

namespace tcsim::bench {

namespace {

// Beyond so many, the rest is only counted.
constexpr std::size_t most_parts = 4;

std::string names(const Contraction& contraction, const Group& group) {
  std::string text;
  for (DimId d : group) text += contraction.dim(d).name;
  return text;
}

std::string words(const std::array<DimClass, 3>& order) {
  std::string text;
  for (DimClass c : order) text += to_text(c);
  return text;
}

const char* words(bool in_place) { return in_place ? "in place" : "packed"; }

}  // namespace

std::string difference(const Contraction& contraction, const Machine& machine, const Tiling& from,
                       const Tiling& to) {
  std::vector<std::string> parts;
  if (to.kernel != from.kernel) {
    parts.push_back(fmt::format("kernel {}x{}", to.kernel.mr.value(), to.kernel.nr.value()));
  }
  if (to.groups != from.groups) {
    parts.push_back(fmt::format("groups m={} n={} k={}", names(contraction, to.groups[DimClass::m]),
                                names(contraction, to.groups[DimClass::n]),
                                names(contraction, to.groups[DimClass::k])));
  }
  if (to.in_place.left != from.in_place.left) {
    parts.push_back(fmt::format("left operand {}", words(to.in_place.left)));
  }
  if (to.in_place.right != from.in_place.right) {
    parts.push_back(fmt::format("right operand {}", words(to.in_place.right)));
  }
  if (to.m_inside != from.m_inside) parts.emplace_back("register loops exchanged");
  for (std::size_t l = 0; l < to.tiles.size(); ++l) {
    const std::string& level = machine.level(LevelId{static_cast<int>(l)}).name;
    for (std::size_t c = 0; c < loop_classes.size(); ++c) {
      if (to.tiles[l][c] == from.tiles[l][c]) continue;
      parts.push_back(fmt::format("{} of {} {} to {}", to_text(loop_classes[c]), level,
                                  from.tiles[l][c], to.tiles[l][c]));
    }
    if (to.orders[l] != from.orders[l]) {
      parts.push_back(
          fmt::format("loops of {} {} to {}", level, words(from.orders[l]), words(to.orders[l])));
    }
  }
  const std::size_t shown = parts.size() > most_parts + 1 ? most_parts : parts.size();
  std::string text;
  for (std::size_t i = 0; i < shown; ++i) text += (i > 0 ? ", " : "") + parts[i];
  if (shown < parts.size()) text += fmt::format(" and {} more", parts.size() - shown);
  return text;
}

}  // namespace tcsim::bench
