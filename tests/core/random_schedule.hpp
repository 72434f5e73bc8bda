// Small random contractions and schedules that check() accepts, for tests that hold for all.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "core/schedule/path.hpp"
#include "core/workload/parse.hpp"
#include "tests/core/composition.hpp"

namespace tcsim::test {

// std's distributions differ between libraries; this gives the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // A whole number of [low, high].
  std::int64_t between(std::int64_t low, std::int64_t high) {
    const auto count = static_cast<std::uint64_t>(high - low + 1);
    return low + static_cast<std::int64_t>(engine_() % count);
  }
  bool chance(int percent) { return between(1, 100) <= percent; }

  template <class T>
  const T& pick(const std::vector<T>& from) {
    return from[static_cast<std::size_t>(between(0, std::ssize(from) - 1))];
  }
  template <class Sequence>
  void shuffle(Sequence& s) {
    for (auto i = std::ssize(s) - 1; i > 0; --i) {
      std::swap(s[static_cast<std::size_t>(i)], s[static_cast<std::size_t>(between(0, i))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

// Up to two dimensions of each class in any order within the tensors, extents 1 to 7. A and B have
// at least one dimension each.
inline Contraction random_contraction(Random& random) {
  std::string a, b, c;
  Sizes sizes;
  while (a.empty() || b.empty()) {
    a.clear(), b.clear(), c.clear(), sizes.clear();
    char name = 'a';
    for (DimClass g : all_dim_classes) {
      const std::int64_t count = random.between(0, g == DimClass::batch ? 1 : 2);
      for (std::int64_t i = 0; i < count; ++i, ++name) {
        if (g != DimClass::n) a += name;
        if (g != DimClass::m) b += name;
        if (g != DimClass::k) c += name;
        sizes[name] = random.between(1, 7);
      }
    }
  }
  for (std::string* s : {&a, &b, &c}) random.shuffle(*s);
  return parse_contraction(a + "," + b + "->" + c, sizes,
                           random.chance(50) ? Layout::row_major : Layout::column_major,
                           random.chance(50) ? ElementType::f64 : ElementType::f32);
}

// The levels that random schedules pack into.
inline std::vector<std::string> random_levels() { return {"L1", "L2", "L3", "memory"}; }

// Any nested tiles, packs of A and B anywhere or nowhere, m and n exchanged or not. Some have two
// kernels for a range.
class RandomSchedule {
 public:
  RandomSchedule(const Contraction& contraction, Random& random) : random_(random) {
    exchanged_ = random_.chance(50);
    for (DimClass g : all_dim_classes) {
      DimClass of = g;
      if (exchanged_ && g == DimClass::m) of = DimClass::n;
      if (exchanged_ && g == DimClass::n) of = DimClass::m;
      for (DimId d : contraction.dims_of(of)) {
        groups_[g].push_back(d);
        ranges_[g] *= contraction.dim(d).extent;
      }
      random_.shuffle(groups_[g]);
    }
    // Batch dimensions as lanes, and what the left operand has besides in group batch.
    lanes_ = !groups_[DimClass::batch].empty() && random_.chance(50);
    if (lanes_) {
      if (groups_[DimClass::n].empty()) {
        std::swap(groups_[DimClass::m], groups_[DimClass::n]);
        std::swap(ranges_[DimClass::m], ranges_[DimClass::n]);
      }
      std::swap(groups_[DimClass::m], groups_[DimClass::batch]);
      std::swap(ranges_[DimClass::m], ranges_[DimClass::batch]);
      exchanged_ = left_operand(contraction, groups_) == TensorId::B;
      return;
    }
    // With m and n both empty there is nothing to exchange, and A counts as the left operand.
    if (groups_[DimClass::m].empty() && groups_[DimClass::n].empty()) exchanged_ = false;
  }

  Schedule make() {
    panels_ = {random_.between(1, 8), random_.between(1, 6)};
    batch_anywhere_ = random_.chance(50);
    if (!batch_anywhere_ && (ranges_[DimClass::batch] > 1 || random_.chance(20))) {
      add_batch(1);
    }
    for (std::int64_t steps = random_.between(0, 9); steps > 0; --steps) add_any();
    if (ranges_[DimClass::batch] > 1) add_batch(1);
    std::vector<DimClass> last{DimClass::m, DimClass::n};
    random_.shuffle(last);
    for (DimClass g : last) {
      if (ranges_[g] > panels_[g]) add_loop(g, panels_[g]);
    }
    Kernel kernel{Elements(panels_[DimClass::m]), Elements(panels_[DimClass::n])};
    const auto may = [&](DimClass rows) { return !packed_[rows] || panels_[rows] == 1; };
    kernel.along_k = may(DimClass::m) && may(DimClass::n) && !lanes_ && random_.chance(40);
    return {groups_, nested(spine_, kernel)};
  }

 private:
  static std::size_t at(DimClass c) { return static_cast<std::size_t>(index(c)); }

  void add_batch(std::int64_t tile) {
    if (one_place_) return;
    add_loop(DimClass::batch, tile);
    one_place_ = tile == 1;
  }

  void add_any() {
    if (batch_anywhere_ && random_.chance(20)) {
      return add_batch(random_.between(1, ranges_[DimClass::batch]));
    }
    if (random_.chance(25)) return add_pack();
    const DimClass g = random_.pick(std::vector{DimClass::m, DimClass::n, DimClass::k});
    std::int64_t tile = random_.between(1, ranges_[g]);
    // Of lanes both operands' micropanels have rows of m.
    const bool packed = lanes_ ? g == DimClass::m && (packed_[DimClass::m] || packed_[DimClass::n])
                               : g != DimClass::k && packed_[g];
    if (packed && tile < ranges_[g]) {
      tile -= tile % panels_[g];
      if (tile == 0) tile = ranges_[g];
    }
    add_loop(g, tile);
  }

  void add_loop(DimClass g, std::int64_t tile) {
    spine_.push_back({Loop{g, Elements(tile), {}}});
    ranges_[g] = tile;
  }

  void add_pack() {
    const DimClass rows = random_.chance(50) ? DimClass::m : DimClass::n;
    const bool left = rows == DimClass::m;
    if (packed_[rows]) return;
    packed_[rows] = true;
    if (lanes_ && !left && ranges_[DimClass::n] > 1) add_loop(DimClass::n, 1);
    level_ = random_.between(1, level_);
    spine_.push_back({Move{Move::Kind::pack,
                           left != exchanged_ ? TensorId::A : TensorId::B,
                           random_levels()[static_cast<std::size_t>(level_ - 1)],
                           {}}});
  }

  Random& random_;
  bool exchanged_ = false, lanes_ = false, batch_anywhere_ = false, one_place_ = false;
  Groups groups_;
  ByGroup<std::int64_t> ranges_{1, 1, 1, 1};
  ByGroup<std::int64_t> panels_{};
  ByGroup<bool> packed_{};  // the left operand as m, the right one as n
  std::int64_t level_ = 3;
  std::vector<Node> spine_;
};

inline Schedule random_schedule(const Contraction& contraction, Random& random) {
  Schedule schedule = RandomSchedule(contraction, random).make();
  if (random.chance(30)) {
    compose(schedule, contraction,
            [&](std::int64_t low, std::int64_t high) { return random.between(low, high); });
  }
  return schedule;
}

// what() of the E that f throws, or a text that no error has.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(no error)";
}

}  // namespace tcsim::test
