// Runs fused schedules on tensors in memory that stand for files: what each Hold copies and each Do
// computes is done, by an interpreter that knows nothing of traffic().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/walk.hpp"
#include "tests/core/fusion/chains.hpp"

namespace tcsim::fusion {

// Numbers of an array, by index: row-major over ranges of its indices.
struct Block {
  std::vector<Range> at;  // of its indices, by axis
  std::vector<double> values;

  explicit Block(std::vector<Range> ranges) : at(std::move(ranges)) {
    std::size_t n = 1;
    for (const Range& r : at) n *= static_cast<std::size_t>(r.size);
    values.assign(n, 0);
  }
  // Nothing outside the block is touched.
  double& value(const std::vector<std::int64_t>& where) {
    std::size_t place = 0;
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      const std::int64_t i = where[axis] - at[axis].begin;
      EXPECT_TRUE(i >= 0 && i < at[axis].size);
      place = place * static_cast<std::size_t>(at[axis].size) + static_cast<std::size_t>(i);
    }
    return values.at(place);
  }
};

template <class F>
void for_each_place(const std::vector<Range>& ranges, F&& f) {
  std::vector<std::int64_t> at;
  for (const Range& r : ranges) at.push_back(r.begin);
  while (true) {
    f(at);
    std::size_t axis = ranges.size();
    while (axis > 0 && ++at[axis - 1] == ranges[axis - 1].begin + ranges[axis - 1].size) {
      at[axis - 1] = ranges[axis - 1].begin;
      --axis;
    }
    if (axis == 0) return;
  }
}

// Runs a fused schedule: files are whole arrays, a tile is copied where a Hold says so.
class Interpreter {
 public:
  explicit Interpreter(const OperationTree& tree) : tree_(tree), held_(tree.arrays.size()) {
    for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
      files_.emplace_back(ranges_of(static_cast<int>(a), all_of(tree)));
    }
  }

  Block& file(int array) { return files_[static_cast<std::size_t>(array)]; }

  void open(const Hold& hold, const Ranges& ranges) {
    Block block(ranges_of(hold.array, ranges));
    if (hold.kind != Hold::Kind::buffer) {
      for_each_place(block.at,
                     [&](const auto& at) { block.value(at) = file(hold.array).value(at); });
    }
    held_[static_cast<std::size_t>(hold.array)].push_back(std::move(block));
  }
  void close(const Hold& hold, const Ranges&) {
    std::vector<Block>& held = held_[static_cast<std::size_t>(hold.array)];
    if (hold.kind == Hold::Kind::store) {
      for_each_place(held.back().at,
                     [&](const auto& at) { file(hold.array).value(at) = held.back().value(at); });
    }
    held.pop_back();
  }
  void run(int s, const Ranges& ranges) {
    const OperationTree::Statement& statement = tree_.statement(s);
    std::vector<Range> loops;
    for (int i : statement.indices) loops.push_back(ranges[static_cast<std::size_t>(i)]);
    for_each_place(loops, [&](const std::vector<std::int64_t>& at) {
      const auto value = [&](int a) -> double& {
        std::vector<std::int64_t> where;
        for (int i : tree_.array(a).indices) {
          const auto place = std::ranges::lower_bound(statement.indices, i);
          where.push_back(at[static_cast<std::size_t>(place - statement.indices.begin())]);
        }
        return held_[static_cast<std::size_t>(a)].back().value(where);
      };
      value(statement.out) += value(statement.left) * value(statement.right);
    });
  }

 private:
  std::vector<Range> ranges_of(int a, const Ranges& ranges) const {
    std::vector<Range> of;
    for (int i : tree_.array(a).indices) of.push_back(ranges[static_cast<std::size_t>(i)]);
    return of;
  }

  const OperationTree& tree_;
  std::vector<Block> files_;
  std::vector<std::vector<Block>> held_;
};

// The result of each output, from whole-numbered inputs.
inline std::vector<std::vector<double>> results(const OperationTree& tree, const FusedNode& node) {
  Interpreter run(tree);
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (tree.arrays[a].producer >= 0) continue;
    double n = static_cast<double>(a) + 1;
    for (double& v : run.file(static_cast<int>(a)).values) {
      n = std::fmod(n * 7 + 3, 11);
      v = n - 5;
    }
  }
  Ranges ranges = all_of(tree);
  walk(node, ranges, run);
  std::vector<std::vector<double>> all;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (tree.arrays[a].consumer < 0) all.push_back(run.file(static_cast<int>(a)).values);
  }
  return all;
}

// Every array whole, one statement after the other.
inline FusedNode in_memory(const OperationTree& tree) {
  InOrder parts;
  for (int s : whole_chain(tree)) parts.parts.emplace_back(Do{s});
  FusedNode node = std::move(parts);
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    const OperationTree::Array& array = tree.arrays[a];
    const Hold::Kind kind = array.producer < 0   ? Hold::Kind::load
                            : array.consumer < 0 ? Hold::Kind::store
                                                 : Hold::Kind::buffer;
    node = Hold{kind, static_cast<int>(a), std::move(node)};
  }
  return node;
}

}  // namespace tcsim::fusion
