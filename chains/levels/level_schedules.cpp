#include "chains/levels/level_schedules.hpp"

#include <algorithm>

#include "chains/rows.hpp"
#include "core/fusion/walk.hpp"

namespace tcsim::chains {

using fusion::FusedNode;
using fusion::OperationTree;
using fusion::Range;
using fusion::Ranges;
using levels::Hold;
using levels::Loop;
using levels::Node;
using levels::Sequence;

namespace {

std::size_t room_place(int i) { return static_cast<std::size_t>(i); }

// The first tile of each loop is the largest.
class Room {
 public:
  Room(const OperationTree& tree, int links, int processes)
      : tree_(tree), processes_(processes), now_(room_place(links)), most_(room_place(links)) {}

  std::vector<std::int64_t> of(const Node& node) {
    ranges_ = fusion::all_of(tree_);
    visit(node);
    return most_;
  }

 private:
  void visit(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      Range& range = ranges_[room_place(loop->index)];
      const Range whole = range;
      range.size = std::min(range.size, loop->tile);
      visit(*loop->body);
      range = whole;
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) visit(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      const std::size_t l = room_place(hold->level);
      std::int64_t size = elements_of(fusion::ranges_of(tree_, hold->array, ranges_));
      if (l + 1 == now_.size()) size = (size + processes_ - 1) / processes_;
      size += tile_alignment;
      now_[l] += size;
      most_[l] = std::max(most_[l], now_[l]);
      visit(*hold->body);
      now_[l] -= size;
    }
  }

  const OperationTree& tree_;
  const int processes_;
  Ranges ranges_;
  std::vector<std::int64_t> now_, most_;
};

}  // namespace

FusedNode at_level(const Node& node, int level) {
  if (const auto* loop = std::get_if<Loop>(&node.is)) {
    return fusion::TileLoop{loop->index, loop->tile, at_level(*loop->body, level)};
  }
  if (const auto* parts = std::get_if<Sequence>(&node.is)) {
    fusion::InOrder all;
    for (const Node& part : parts->parts) all.parts.push_back(at_level(part, level));
    return all;
  }
  if (const auto* hold = std::get_if<Hold>(&node.is)) {
    FusedNode body = at_level(*hold->body, level);
    if (hold->level != level) return body;
    return fusion::Hold{hold->kind, hold->array, std::move(body)};
  }
  return fusion::Do{std::get<levels::Do>(node.is).statement};
}

std::vector<const Node*> disk_parts(const Node& node) {
  const auto* all = std::get_if<Sequence>(&node.is);
  if (all == nullptr) return {&node};
  std::vector<const Node*> parts;
  for (const Node& part : all->parts) parts.push_back(&part);
  return parts;
}

std::vector<std::int64_t> room_of(const OperationTree& tree, int levels, int processes,
                                  const Node& node) {
  return Room(tree, levels, processes).of(node);
}

}  // namespace tcsim::chains
