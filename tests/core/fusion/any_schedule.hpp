// Fused schedules for tests that no optimizer would choose.
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "tests/core/fusion/chains.hpp"

namespace tcsim::fusion {

// Schedules that are legal and no more: any loops, holds and parts in any order.
class AnySchedule {
 public:
  AnySchedule(const OperationTree& tree, std::mt19937_64& random)
      : tree_(tree), random_(random), held_(tree.arrays.size()) {
    for (const OperationTree::Index& i : tree.indices) ranges_.push_back(i.extent);
  }

  FusedNode draw() { return draw(whole_chain(tree_)); }

 private:
  int pick(int most) { return std::uniform_int_distribution<int>(0, most)(random_); }
  bool is_held(int a) const { return held_[static_cast<std::size_t>(a)]; }

  FusedNode draw(const std::vector<int>& statements) {
    const bool alone = statements.size() == 1;
    const std::vector<Hold> holds = holds_for(statements);
    const int what = pick(5);
    if (what <= 1) {
      IndexSet shared = tree_.statement(statements[0]).indices;
      for (int s : statements) shared = common(shared, tree_.statement(s).indices);
      if (!shared.empty()) return loop(shared, statements);
    }
    if (!holds.empty() && (what <= 3 || alone)) {
      Hold hold = holds[static_cast<std::size_t>(pick(static_cast<int>(holds.size()) - 1))];
      held_[static_cast<std::size_t>(hold.array)] = true;
      hold.body = draw(statements);
      held_[static_cast<std::size_t>(hold.array)] = false;
      return hold;
    }
    if (alone) return Do{statements[0]};
    const auto middle = statements.begin() + 1 + pick(static_cast<int>(statements.size()) - 2);
    const std::vector<int> first(statements.begin(), middle), second(middle, statements.end());
    InOrder parts;
    parts.parts.push_back(draw(first));
    parts.parts.push_back(draw(second));
    return parts;
  }

  FusedNode loop(const IndexSet& shared, const std::vector<int>& statements) {
    const int i = shared[static_cast<std::size_t>(pick(static_cast<int>(shared.size()) - 1))];
    std::int64_t& range = ranges_[static_cast<std::size_t>(i)];
    const std::int64_t whole = range;
    range = 1 + pick(static_cast<int>(whole) - 1);
    TileLoop made{i, range, draw(statements)};
    ranges_[static_cast<std::size_t>(i)] = whole;
    return made;
  }

  // What may be held around these statements.
  std::vector<Hold> holds_for(const std::vector<int>& statements) const {
    const auto here = [&](int s) { return std::ranges::find(statements, s) != statements.end(); };
    std::vector<Hold> all;
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const int a = static_cast<int>(i);
      const OperationTree::Array& array = tree_.array(a);
      if (is_held(a)) continue;
      const bool made = here(array.producer), read = here(array.consumer);
      if (made && read) all.push_back({Hold::Kind::buffer, a, {}});
      if (made && !read) all.push_back({Hold::Kind::store, a, {}});
      if (read && !made) all.push_back({Hold::Kind::load, a, {}});
    }
    return all;
  }

  const OperationTree& tree_;
  std::mt19937_64& random_;
  std::vector<bool> held_;
  std::vector<std::int64_t> ranges_;
};

}  // namespace tcsim::fusion
