// Hierarchies and plans drawn at random.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>

#include "core/levels/plan.hpp"

namespace tcsim::levels {

class RandomLevels {
 public:
  explicit RandomLevels(std::mt19937_64& random) : random_(random) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  double real(double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random_));
  }

  // Of two to four levels; processes at one or two of them.
  Hierarchy hierarchy() {
    Hierarchy h;
    const auto links = static_cast<int>(pick(1, 3));
    double rate = real(1e8, 1e10);
    std::int64_t capacity = 0;
    for (int l = 0; l < links; ++l) {
      capacity += (pick(0, 1) == 0 ? pick(8, 60) : pick(40, 2000)) * 8;
      h.levels.push_back({"level" + std::to_string(l), Bytes(capacity),
                          pick(0, 1) == 0 ? 1 : pick(2, 6), BytesPerSecond(rate),
                          Seconds(pick(0, 1) == 0 ? 0 : real(1e-9, 1e-6)),
                          Seconds(pick(0, 1) == 0 ? 0 : real(1e-10, 1e-7))});
      rate /= real(1, 30);
      capacity *= pick(1, 8);
    }
    h.levels.push_back({"disk", Bytes(0), 1, BytesPerSecond(0), Seconds(0)});
    h.rate = FlopsPerSecond(real(1e8, 1e11));
    if (pick(0, 1) == 0) h.tile_byte = Seconds(real(1e-11, 1e-8));
    h.overlap = pick(0, 2) == 0;
    return h;
  }

  // Any member of the family: homes, splits, orders and tiles drawn.
  LevelPlan plan(const OperationTree& tree, const Hierarchy& h) {
    Homes homes = unfused(tree, h);
    for (std::size_t a = 0; a < homes.size(); ++a) {
      if (tree.arrays[a].is_intermediate()) homes[a] = static_cast<int>(pick(0, h.links()));
    }
    std::vector<PlannedPart> parts;
    for (const Part& part : parts_of(tree, h, homes)) {
      PlannedPart p{part, {}, {}};
      while (true) {
        const Shape shape = shape_of(tree, h, part, homes, p.decisions);
        if (p.decisions.splits.size() < shape.splits.size()) {
          p.decisions.splits.push_back(
              static_cast<int>(pick(0, shape.splits[p.decisions.splits.size()].options - 1)));
        } else if (p.decisions.orders.size() < shape.orders.size()) {
          p.decisions.orders.push_back(
              static_cast<int>(pick(0, shape.orders[p.decisions.orders.size()].options - 1)));
        } else {
          p.values.assign(shape.variables.size(), 1);
          for (std::size_t v = 0; v < p.values.size(); ++v) {
            p.values[v] = pick(1, most_of(tree, h, shape, p.values, static_cast<int>(v)));
          }
          break;
        }
      }
      parts.push_back(std::move(p));
    }
    return plan_of(tree, h, std::move(homes), std::move(parts));
  }

 private:
  std::mt19937_64& random_;
};

}  // namespace tcsim::levels
