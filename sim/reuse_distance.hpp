// LRU stack distances of a stream of lines, by Olken's method (1981): a tree over the times of last
// uses counts how many lines were used since. A line takes about 60 bytes, a use O(log lines).
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tcsim::sim {

class ReuseDistance {
 public:
  ReuseDistance() : tree_(smallest + 1) {}

  struct Use {
    // Distinct other lines used since the line's last use; none if this is its first use.
    std::optional<std::int64_t> distance;
    std::uint64_t last_mark = 0;  // mark of its last use
  };
  // `mark` is kept with the line, for the caller's own purposes.
  Use use(std::uint64_t line, std::uint64_t mark) {
    Use result;
    const auto [found, is_new] = last_.try_emplace(line, Last{});
    if (!is_new) {
      const std::int64_t until = static_cast<std::int64_t>(last_.size());
      result.distance = until - count(found->second.time);  // those used after it
      result.last_mark = found->second.mark;
      add(found->second.time, -1);
    }
    if (now_ + 1 == tree_.size()) compact(line);
    found->second = {++now_, mark};
    add(now_, 1);
    return result;
  }

 private:
  static constexpr std::size_t smallest = 1 << 10;
  struct Last {
    std::size_t time = 0;
    std::uint64_t mark = 0;
  };

  // Fenwick tree over times 1, 2, ...: 1 where a line was last used.
  void add(std::size_t time, std::int64_t by) {
    for (; time < tree_.size(); time += time & (~time + 1)) tree_[time] += by;
  }
  std::int64_t count(std::size_t until) const {
    std::int64_t sum = 0;
    for (; until > 0; until -= until & (~until + 1)) sum += tree_[until];
    return sum;
  }
  // Times become 1, 2, ... again in the same order; `current` is in no place of the tree.
  void compact(std::uint64_t current);

  std::unordered_map<std::uint64_t, Last> last_;
  std::vector<std::int64_t> tree_;
  std::size_t now_ = 0;
};

}  // namespace tcsim::sim
