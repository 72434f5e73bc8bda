// Any line leaves, with equal chance: the n-th victim of a set depends on the seed, the set and n.
#pragma once

#include <vector>

#include "sim/policy/policy.hpp"

namespace tcsim::sim {

class RandomChoice {
 public:
  RandomChoice(std::int64_t sets, std::uint32_t ways, std::uint64_t seed)
      : ways_(ways), seed_(seed), drawn_(std::size_t(sets)) {}
  void filled(std::int64_t, std::uint32_t) {}
  void used(std::int64_t, std::uint32_t) {}
  void emptied(std::int64_t, std::uint32_t) {}
  std::uint32_t victim(std::int64_t set) {
    const std::uint64_t number = drawn_[std::size_t(set)]++;
    return static_cast<std::uint32_t>(draw(seed_, std::uint64_t(set), number) % ways_);
  }
  std::uint64_t age(std::int64_t, std::uint32_t) const { return 0; }

 private:
  std::uint32_t ways_;
  std::uint64_t seed_;
  std::vector<std::uint64_t> drawn_;
};

}  // namespace tcsim::sim
