// Runs schedules over explicit levels on tensors in memory: each level has blocks of its own, what
// a hold moves is copied element by element from the next level outside, and counted. It knows
// nothing of count() and simulate().
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/levels/count.hpp"
#include "tests/core/fusion/interpreter.hpp"

namespace tcsim::levels {

class LevelInterpreter {
 public:
  LevelInterpreter(const OperationTree& tree, const Hierarchy& hierarchy)
      : tree_(tree),
        hierarchy_(hierarchy),
        outermost_(hierarchy.links()),
        held_(tree.arrays.size()) {
    const fusion::Ranges all = fusion::all_of(tree);
    for (int a = 0; a < static_cast<int>(tree.arrays.size()); ++a) {
      files_.emplace_back(fusion::ranges_of(tree, a, all));
      touched_.emplace_back(static_cast<std::size_t>(outermost_));
      for (auto& of : touched_.back()) of.assign(files_.back().values.size(), false);
      if (tree.array(a).producer >= 0) continue;
      double n = a + 1;
      for (double& v : files_.back().values) {
        n = std::fmod(n * 7 + 3, 11);
        v = n - 5;
      }
    }
    in.assign(static_cast<std::size_t>(outermost_), std::vector<std::int64_t>(files_.size()));
    out = rows = in;
  }

  void run(const Node& node) {
    ranges_ = fusion::all_of(tree_);
    visit(node);
  }
  std::vector<std::vector<double>> results() const {
    std::vector<std::vector<double>> all;
    for (std::size_t a = 0; a < files_.size(); ++a) {
      if (tree_.arrays[a].consumer < 0) all.push_back(files_[a].values);
    }
    return all;
  }

  // Elements over each link, by array. What is stored and touched there for the first time was not
  // read; with `shared` around it was.
  std::vector<std::vector<std::int64_t>> in, out;
  // Of these, both ways, elements that are no neighbours, outside, of the one before.
  std::vector<std::vector<std::int64_t>> rows;

 private:
  struct Held {
    int level;
    fusion::Block block;
  };

  // The place of an element in the whole array.
  std::size_t number(int array, const std::vector<std::int64_t>& where) const {
    std::size_t n = 0;
    for (std::size_t axis = 0; axis < where.size(); ++axis) {
      n = n * static_cast<std::size_t>(tree_.extents(array)[axis]) +
          static_cast<std::size_t>(where[axis]);
    }
    return n;
  }

  fusion::Block& outside(int array, int level) {
    std::vector<Held>& held = held_[static_cast<std::size_t>(array)];
    if (!held.empty()) {
      EXPECT_EQ(held.back().level, level + 1);  // neighbours alone
      return held.back().block;
    }
    EXPECT_EQ(level + 1, outermost_);
    return files_[static_cast<std::size_t>(array)];
  }

  void hold(const Hold& h) {
    const auto a = static_cast<std::size_t>(h.array), l = static_cast<std::size_t>(h.level);
    Held mine{h.level, fusion::Block(fusion::ranges_of(tree_, h.array, ranges_))};
    std::int64_t holders = 1;  // processes that share loops inside
    if (h.kind != Kind::buffer) {
      fusion::Block& from = outside(h.array, h.level);
      bool added = false;
      for (int i : shared_) {
        added |= !fusion::contains(tree_.array(h.array).set(), i);
      }
      for (const Loop* shared : shared_inside(hierarchy_, h)) {
        const std::int64_t size = ranges_[static_cast<std::size_t>(shared->index)].size;
        std::int64_t tiles = 0;
        for (std::int64_t i = 0; i < size; i += shared->tile) ++tiles;
        holders *= std::min(tiles, shared->processes);
        added |= !fusion::contains(tree_.array(h.array).set(), shared->index);
      }
      const double* before = nullptr;
      fusion::for_each_place(mine.block.at, [&](const std::vector<std::int64_t>& at) {
        mine.block.value(at) = from.value(at);
        const bool begins = &from.value(at) != std::exchange(before, &from.value(at)) + 1;
        auto touched = touched_[a][l].begin() + static_cast<std::ptrdiff_t>(number(h.array, at));
        if (h.kind == Kind::load || added || *touched) {
          in[l][a] += holders;
          rows[l][a] += begins ? holders : 0;
        }
        *touched = true;
      });
    }
    held_[a].push_back(std::move(mine));
    visit(*h.body);
    Held done = std::move(held_[a].back());
    held_[a].pop_back();
    if (h.kind != Kind::store) return;
    fusion::Block& to = outside(h.array, h.level);
    const double* before = nullptr;
    fusion::for_each_place(done.block.at, [&](const std::vector<std::int64_t>& at) {
      to.value(at) = done.block.value(at);
      out[l][a] += holders;
      const bool begins = &to.value(at) != std::exchange(before, &to.value(at)) + 1;
      rows[l][a] += begins ? holders : 0;
    });
  }

  void visit(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      fusion::Range& range = ranges_[static_cast<std::size_t>(loop->index)];
      const fusion::Range whole = range;
      if (loop->processes > 1) shared_.push_back(loop->index);
      for (std::int64_t i = 0; i < whole.size; i += loop->tile) {
        range = {whole.begin + i, std::min(loop->tile, whole.size - i)};
        visit(*loop->body);
      }
      if (loop->processes > 1) shared_.pop_back();
      range = whole;
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) visit(part);
    } else if (const auto* h = std::get_if<Hold>(&node.is)) {
      hold(*h);
    } else {
      compute(std::get<Do>(node.is).statement);
    }
  }

  void compute(int s) {
    const OperationTree::Statement& statement = tree_.statement(s);
    std::vector<fusion::Range> loops;
    for (int i : statement.indices) loops.push_back(ranges_[static_cast<std::size_t>(i)]);
    fusion::for_each_place(loops, [&](const std::vector<std::int64_t>& at) {
      const auto value = [&](int a) -> double& {
        std::vector<std::int64_t> where;
        for (int i : tree_.array(a).indices) {
          const auto place = std::ranges::lower_bound(statement.indices, i);
          where.push_back(at[static_cast<std::size_t>(place - statement.indices.begin())]);
        }
        Held& held = held_[static_cast<std::size_t>(a)].back();
        EXPECT_EQ(held.level, 0);
        return held.block.value(where);
      };
      value(statement.out) += value(statement.left) * value(statement.right);
    });
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  const int outermost_;
  std::vector<fusion::Block> files_;
  std::vector<std::vector<Held>> held_;                  // by array, the innermost last
  std::vector<std::vector<std::vector<bool>>> touched_;  // by array and link, by element
  std::vector<int> shared_;                              // indices of loops that processes share
  fusion::Ranges ranges_;
};

}  // namespace tcsim::levels
