// Designs that no other is at least as good as in everything and better in something.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tcsim {

// Grows by one design after another, in the order of their numbers; memory is that of the front.
// Of designs that are equal in everything the first stays. Less is better; a quantity that is
// unknown is the same number for all. `Numbers` is a range of them, of all designs as many.
template <class Numbers>
class ParetoFrontOf {
 public:
  using Values = Numbers;
  struct Entry {
    std::int64_t design;
    Values values;
  };

  void add(std::int64_t design, const Values& values) {
    for (std::size_t i = 0; i < front_.size(); ++i) {
      if (!covers(front_[i].values, values)) continue;
      // What covered one is likely to cover the next.
      std::swap(front_[i], front_[i / 2]);
      return;
    }
    std::erase_if(front_, [&](const Entry& e) { return covers(values, e.values); });
    front_.push_back({design, values});
  }

  // Sorted by design.
  std::vector<Entry> entries() const {
    std::vector<Entry> all = front_;
    std::sort(all.begin(), all.end(),
              [](const Entry& a, const Entry& b) { return a.design < b.design; });
    return all;
  }

 private:
  // At least as good in everything.
  static bool covers(const Values& a, const Values& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (!(a[i] <= b[i])) return false;
    }
    return true;
  }

  std::vector<Entry> front_;
};
using ParetoFront = ParetoFrontOf<std::array<double, 3>>;

}  // namespace tcsim
