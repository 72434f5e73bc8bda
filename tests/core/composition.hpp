// Puts two kernels that cover a range one after the other into a schedule, for tests that hold for
// all schedules.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/schedule/path.hpp"

namespace tcsim::test {

namespace detail {

inline Node* body_of(Node& node) {
  if (auto* loop = std::get_if<Loop>(&node.is)) return &*loop->body;
  if (auto* move = std::get_if<Move>(&node.is)) return &*move->body;
  return nullptr;
}

inline Kernel& kernel_of(Node& node) {
  Node* inner = &node;
  while (Node* body = body_of(*inner)) inner = body;
  return std::get<Kernel>(inner->is);
}

// What may become two parts: the loop, and the range that it runs over.
struct Divisible {
  Node* loop;
  DimClass group;
  std::int64_t range;
};

inline std::vector<Divisible> divisible(Node& root, const Contraction& c, const Groups& groups) {
  ByGroup<std::int64_t> range{};
  for (DimClass g : all_dim_classes) range[g] = extent_of(c, groups[g]);
  std::vector<Divisible> found;
  for (Node* node = &root; node; node = body_of(*node)) {
    if (const auto* move = std::get_if<Move>(&node->is)) {
      // What is outside a move is divided into parts with a move each, which no interpreter does.
      found.clear();
      for (DimClass g : all_dim_classes) {
        if (follows(c, groups, move->tensor, g)) range[g] = 1;
      }
    }
    const auto* loop = std::get_if<Loop>(&node->is);
    if (!loop) continue;
    std::erase_if(found, [&](const Divisible& d) { return d.group == loop->group; });
    if (loop->group != DimClass::batch && range[loop->group] > 1) {
      found.push_back({node, loop->group, range[loop->group]});
    }
    range[loop->group] = std::min(range[loop->group], loop->tile.value());
  }
  return found;
}

}  // namespace detail

// Divides the range of one of the loops at random, if there is one that can be. `between(a, b)`
// gives a whole number of [a, b].
template <class Between>
void compose(Schedule& schedule, const Contraction& c, Between&& between) {
  const auto all = detail::divisible(schedule.root, c, schedule.groups);
  if (all.empty()) return;
  const auto& [node, g, range] =
      all[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(all.size()) - 1))];
  const Node body = *std::get<Loop>(node->is).body;
  Seq seq{g, {}};
  const std::int64_t head = between(1, range - 1);
  for (std::int64_t size : {head, range - head}) {
    Node inside = body;
    Kernel& kernel = detail::kernel_of(inside);
    Elements* const side = g == DimClass::m ? &kernel.mr : g == DimClass::n ? &kernel.nr : nullptr;
    const std::int64_t tile = between(1, side ? std::min(size, side->value()) : size);
    if (side && between(0, 1) == 1) *side = Elements(tile);
    if (tile < size) inside = Node{Loop{g, Elements(tile), std::move(inside)}};
    seq.parts.push_back({Elements(size), std::move(inside)});
  }
  *node = Node{std::move(seq)};
}

}  // namespace tcsim::test
