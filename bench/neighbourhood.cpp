#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "bench/regret.hpp"
#include "core/error.hpp"
#include "core/model/window.hpp"
#include "core/optimize/blis.hpp"

namespace tcsim::bench {

namespace {

using Moves = std::deque<Neighbour>;  // of one kind, the first to try in front

// Every move is of this tiling; `add` makes a move a member of the family.
struct Middle {
  const Contraction& contraction;
  const Machine& machine;
  const Tiling& tiling;

  void add(Moves& moves, Tiling t, const std::string& difference) const {
    snap(contraction, common_line(machine), t);
    if (t != tiling) moves.push_back({std::move(t), difference});
  }
};

// Changes one tile; the others of its class follow where they have to.
Tiling resized(Tiling t, std::size_t l, std::size_t c, std::int64_t wanted) {
  t.tiles[l][c] = std::max<std::int64_t>(1, wanted);
  for (std::size_t up = l + 1; up < t.tiles.size(); ++up) {
    t.tiles[up][c] = std::max(t.tiles[up][c], t.tiles[up - 1][c]);
  }
  for (std::size_t down = l; down-- > 0;) {
    t.tiles[down][c] = std::min(t.tiles[down][c], t.tiles[down + 1][c]);
  }
  return t;
}

// k first, whose tile decides how often C is read and written; inner levels before outer ones.
Moves tiles(const Middle& middle, bool larger) {
  Moves moves;
  for (DimClass c : {DimClass::k, DimClass::m, DimClass::n}) {
    const auto column = static_cast<std::size_t>(index(c));
    for (std::size_t l = 0; l < middle.tiling.tiles.size(); ++l) {
      const std::int64_t size = middle.tiling.tiles[l][column];
      Tiling t = resized(middle.tiling, l, column, larger ? 2 * size : size / 2);
      snap(middle.contraction, common_line(middle.machine), t);
      middle.add(moves, t,
                 fmt::format("{} of {} {} to {}", to_text(c),
                             middle.machine.level(LevelId{static_cast<int>(l)}).name, size,
                             t.tiles[l][column]));
    }
  }
  return moves;
}

Moves kernels(const Middle& middle) {
  Moves moves;
  for (const Kernel& k : kernel_choices(middle.machine.core, middle.contraction.type())) {
    Tiling t = middle.tiling;
    t.kernel = k;
    middle.add(moves, t, fmt::format("kernel {}x{}", k.mr.value(), k.nr.value()));
  }
  return moves;
}

Moves orders(const Middle& middle) {
  Moves moves;
  const std::array<DimClass, 3>& now = middle.tiling.orders.back();
  for (const auto& [a, b] : {std::pair<std::size_t, std::size_t>{1, 2}, {0, 1}, {0, 2}}) {
    Tiling t = middle.tiling;
    std::swap(t.orders.back()[a], t.orders.back()[b]);
    middle.add(moves, t,
               fmt::format("outermost {} and {} exchanged", to_text(now[a]), to_text(now[b])));
  }
  Tiling t = middle.tiling;
  t.m_inside = !t.m_inside;
  middle.add(moves, t, "register loops exchanged");
  return moves;
}

Moves groups(const Middle& middle) {
  Moves moves;
  const auto names = [&](const Group& group) {
    std::string text;
    for (DimId d : group) text += middle.contraction.dim(d).name;
    return text;
  };
  for (const auto& g : groupings(middle.contraction)) {
    Tiling t = middle.tiling;
    t.groups = g;
    middle.add(moves, t,
               fmt::format("groups m={} n={} k={}", names(g[DimClass::m]), names(g[DimClass::n]),
                           names(g[DimClass::k])));
  }
  return moves;
}

// All blocks by BLIS's rule: B in the last cache, A in the second.
Moves blis(const Middle& middle) {
  Moves moves;
  const BlisBlocks blocks =
      blis_blocks(middle.machine, middle.tiling.kernel, middle.contraction.type());
  const auto whole = [&](DimClass c) {
    return group_extent(middle.contraction, middle.tiling, static_cast<std::size_t>(index(c)));
  };
  const std::int64_t mc = blocks.mc ? blocks.mc->value() : whole(DimClass::m);
  const std::int64_t nc = blocks.nc ? blocks.nc->value() : whole(DimClass::n);
  Tiling t = middle.tiling;
  t.tiles.assign(t.tiles.size(), {mc, nc, blocks.kc.value()});
  t.orders.back() = {DimClass::n, DimClass::k, DimClass::m};
  t.m_inside = true;
  snap(middle.contraction, common_line(middle.machine), t);
  const auto& [m, n, k] = t.tiles.back();
  middle.add(moves, t, fmt::format("blocks of BLIS: m {} n {} k {}", m, n, k));
  return moves;
}

}  // namespace

std::vector<Neighbour> neighbourhood(const Contraction& contraction, const Machine& machine,
                                     const Tiling& tiling, std::size_t count) {
  const Middle middle{contraction, machine, tiling};
  std::vector<Moves> kinds{tiles(middle, true), tiles(middle, false), kernels(middle),
                           orders(middle),      groups(middle),       blis(middle)};
  std::vector<Schedule> known{build(contraction, machine, tiling)};
  std::vector<Neighbour> chosen;
  while (std::ranges::any_of(kinds, [](const Moves& m) { return !m.empty(); })) {
    for (Moves& moves : kinds) {
      // The next of its kind that makes another schedule.
      for (bool taken = false; !moves.empty() && !taken;) {
        Schedule schedule = build(contraction, machine, moves.front().tiling);
        taken = std::ranges::find(known, schedule) == known.end();
        if (taken) {
          if (chosen.size() == count) return chosen;
          known.push_back(std::move(schedule));
          chosen.push_back(std::move(moves.front()));
        }
        moves.pop_front();
      }
    }
  }
  return chosen;
}

}  // namespace tcsim::bench
