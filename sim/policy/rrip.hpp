// Re-reference interval prediction with two bits (Jaleel, Theobald, Steely, Emer 2010, "High
// performance cache replacement using re-reference interval prediction", section 4): a line's
// prediction goes from 0, soon, to 3, distant; a use makes it 0 (hit priority), the first way with
// 3 is the victim, and if there is none all predictions grow until there is. SRRIP puts lines in
// with 2; BRRIP with 3, and with 2 one time in 32, by chance.
#pragma once

#include <vector>

#include "sim/policy/policy.hpp"

namespace tcsim::sim {

template <bool bimodal>
class Rrip {
 public:
  Rrip(std::int64_t sets, std::uint32_t ways, std::uint64_t seed)
      : ways_(ways),
        seed_(seed),
        predictions_(std::size_t(sets) * ways, distant),
        filled_(bimodal ? std::size_t(sets) : 0) {}
  void filled(std::int64_t set, std::uint32_t way) {
    std::uint8_t prediction = distant - 1;
    if constexpr (bimodal) {
      const std::uint64_t number = filled_[std::size_t(set)]++;
      if (draw(seed_, std::uint64_t(set), number) % 32 != 0) prediction = distant;
    }
    predictions_[place(set, ways_, way)] = prediction;
  }
  void used(std::int64_t set, std::uint32_t way) { predictions_[place(set, ways_, way)] = 0; }
  void emptied(std::int64_t, std::uint32_t) {}
  std::uint32_t victim(std::int64_t set) {
    while (true) {
      for (std::uint32_t way = 0; way < ways_; ++way) {
        if (predictions_[place(set, ways_, way)] == distant) return way;
      }
      for (std::uint32_t way = 0; way < ways_; ++way) ++predictions_[place(set, ways_, way)];
    }
  }
  std::uint64_t age(std::int64_t, std::uint32_t) const { return 0; }

 private:
  static constexpr std::uint8_t distant = 3;
  std::uint32_t ways_;
  std::uint64_t seed_;
  std::vector<std::uint8_t> predictions_;
  std::vector<std::uint64_t> filled_;
};

using Srrip = Rrip<false>;
using Brrip = Rrip<true>;

}  // namespace tcsim::sim
