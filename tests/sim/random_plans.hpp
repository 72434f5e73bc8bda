// Random contractions, legal schedules of them and machines to simulate them on.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/schedule.hpp"
#include "sim/hierarchy.hpp"
#include "tests/core/composition.hpp"
#include "tests/core/random_convolution.hpp"

namespace tcsim::plans {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }
  template <class Container>
  void shuffle(Container& c) {
    std::shuffle(c.begin(), c.end(), engine_);
  }
  template <class T>
  T one_of(std::initializer_list<T> choices) {
    return *(choices.begin() + between(0, static_cast<std::int64_t>(choices.size()) - 1));
  }

 private:
  std::mt19937 engine_;
};

// `regular`: extents are powers of two, so that the same happens again and again.
inline Contraction random_contraction(Random& random, bool regular = false) {
  std::vector<Dimension> dims;
  std::array<std::vector<DimId>, 3> tensors;
  const auto add = [&](DimClass c, std::int64_t count) {
    for (; count > 0; --count) {
      const DimId d{static_cast<int>(dims.size())};
      const std::int64_t extent =
          regular ? std::int64_t{1} << random.between(1, 5) : random.between(1, 9);
      dims.push_back({static_cast<char>('a' + dims.size()), extent});
      if (c != DimClass::n) tensors[0].push_back(d);
      if (c != DimClass::m) tensors[1].push_back(d);
      if (c != DimClass::k) tensors[2].push_back(d);
    }
  };
  add(DimClass::m, random.between(0, 2));
  add(DimClass::n, random.between(0, 2));
  add(DimClass::k, random.between(1, 2));
  add(DimClass::batch, random.between(0, 2));
  for (auto& t : tensors) random.shuffle(t);
  return Contraction("random", dims, tensors,
                     random.chance(50) ? Layout::row_major : Layout::column_major,
                     random.chance(50) ? ElementType::f64 : ElementType::f32);
}

inline Contraction random_convolution(Random& random) {
  return tcsim::test::random_convolution(
      [&](std::int64_t low, std::int64_t high) { return random.between(low, high); },
      random.chance(50) ? ElementType::f64 : ElementType::f32);
}

// The spine of a legal schedule (core/schedule/schedule.hpp), outermost first.
struct Part {
  bool is_pack = false;
  TensorId tensor = TensorId::A;
  DimClass group = DimClass::m;
  std::int64_t tile = 0;
};

inline Node nested(const std::vector<Part>& spine, std::int64_t mr, std::int64_t nr) {
  Node node{Kernel{Elements(mr), Elements(nr)}};
  for (auto p = spine.rbegin(); p != spine.rend(); ++p) {
    Node body = std::move(node);
    node = p->is_pack ? Node{Move{Move::Kind::pack, p->tensor, "L1", std::move(body)}}
                      : Node{Loop{p->group, Elements(p->tile), std::move(body)}};
  }
  return node;
}

// Loops in any order, packs at any place. `panels` are mr, nr and 1. Of lanes the right operand is
// packed by columns.
inline std::vector<Part> random_spine(ByGroup<std::int64_t> range, TensorId left, bool lanes,
                                      const ByGroup<std::int64_t>& panels, Random& random) {
  std::vector<std::string> order{"m", "m", "n", "n", "k", "k"};
  if (random.chance(70)) order.push_back("left");
  if (random.chance(70)) order.push_back("right");
  random.shuffle(order);
  order.insert(order.end(), {"m down to the kernel", "n down to the kernel"});
  const TensorId right = left == TensorId::A ? TensorId::B : TensorId::A;
  ByGroup<bool> packed{};
  std::vector<Part> spine;
  for (const std::string& what : order) {
    if (what == "left" || what == "right") {
      const bool by_column = lanes && what == "right";
      if (by_column && range[DimClass::n] > 1) {
        range[DimClass::n] = 1;
        spine.push_back({false, {}, DimClass::n, 1});
      }
      packed[what == "left" || by_column ? DimClass::m : DimClass::n] = true;
      spine.push_back({true, what == "left" ? left : right});
      continue;
    }
    const DimClass g = what[0] == 'm' ? DimClass::m : what[0] == 'n' ? DimClass::n : DimClass::k;
    const std::int64_t panel = panels[g];
    std::int64_t tile = random.between(1, range[g]);
    if (what.size() > 1) {
      if (range[g] <= panel) continue;
      tile = packed[g] ? panel : random.between(1, panel);
    } else if (packed[g]) {
      tile = (tile + panel - 1) / panel * panel;
      if (tile > range[g]) continue;
    }
    range[g] = tile;
    spine.push_back({false, {}, g, tile});
  }
  return spine;
}

inline Schedule random_schedule(const Contraction& c, Random& random) {
  Schedule schedule;
  ByGroup<std::int64_t> range{};
  const bool exchanged = random.chance(30);
  const bool lanes = !c.dims_of(DimClass::batch).empty() && random.chance(50);
  for (DimClass g : all_dim_classes) {
    DimClass from = g;
    if (exchanged && g == DimClass::m) from = DimClass::n;
    if (exchanged && g == DimClass::n) from = DimClass::m;
    // What the left operand shares with C alone has the place of the batch, which has its own.
    if (lanes && g == DimClass::m) from = DimClass::batch;
    if (lanes && g == DimClass::batch) from = exchanged ? DimClass::n : DimClass::m;
    for (DimId d : c.dims_of(from)) schedule.groups[g].push_back(d);
    random.shuffle(schedule.groups[g]);
    range[g] = c.extent(from).value();
  }
  // Where the left operand has nothing of its own, some of the batch may stay there.
  Group& batch = schedule.groups[DimClass::batch];
  Group& rows = schedule.groups[DimClass::m];
  if (lanes && batch.empty() && rows.size() > 1 && random.chance(50)) {
    batch.push_back(rows.back());
    rows.pop_back();
    for (DimClass g : {DimClass::m, DimClass::batch}) range[g] = extent_of(c, schedule.groups[g]);
  }
  const std::int64_t mr = random.between(1, 9), nr = random.between(1, 7);
  auto spine = random_spine(range, left_operand(c, schedule.groups), lanes, {mr, nr, 1}, random);
  // A loop over the batch stands anywhere, and one by more outside it.
  if (!schedule.groups[DimClass::batch].empty()) {
    const auto somewhere = [&](std::int64_t from) {
      return random.chance(50) ? from
                               : random.between(from, static_cast<std::int64_t>(spine.size()));
    };
    const std::int64_t outer = somewhere(0), inner = somewhere(outer);
    const std::int64_t tile = random.between(1, range[DimClass::batch]);
    spine.insert(spine.begin() + inner, {false, {}, DimClass::batch, 1});
    if (tile > 1) spine.insert(spine.begin() + outer, {false, {}, DimClass::batch, tile});
  }
  schedule.root = nested(spine, mr, nr);
  if (random.chance(30)) {
    test::compose(schedule, c,
                  [&](std::int64_t low, std::int64_t high) { return random.between(low, high); });
  }
  return schedule;
}

inline Machine random_machine(Random& random, std::vector<sim::CacheShape> caches) {
  Machine machine;
  machine.name = "random";
  const auto line = random.one_of<std::int64_t>({8, 16, 32, 64, 64, 128});
  for (const auto& shape : caches) {
    Level level;
    level.name = "L" + std::to_string(machine.levels.size() + 1);
    level.ways.value = shape.ways;
    level.line.value = Bytes(line);
    level.capacity.value = Bytes(shape.sets * shape.ways * line);
    machine.levels.push_back(level);
  }
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  machine.levels.push_back(memory);
  return machine;
}

}  // namespace tcsim::plans
