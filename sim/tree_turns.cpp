#include "sim/tree_turns.hpp"

#include <algorithm>
#include <bit>

namespace tcsim::sim {

namespace {

// A node over the ways [first, first + 2 * half), known by the first way of its right half.
struct TreeNode {
  std::uint32_t first = 0, half = 0;
  std::uint32_t middle() const { return first + half; }
};

// All ones where the node is turned.
std::uint32_t all_if(std::uint32_t turns, TreeNode node) {
  return 0 - (turns >> node.middle() & 1);
}

// A word whose nodes below this one change sides where `mask` is all ones.
std::uint32_t exchange_sides(std::uint32_t word, TreeNode node, std::uint32_t mask) {
  const std::uint32_t left = ((std::uint32_t{1} << node.half) - 2) << node.first;
  const std::uint32_t changed = ((word >> node.half) ^ word) & left & mask;
  return word ^ changed ^ (changed << node.half);
}

// One node in all sets of a group.
void turn_node(const LevelData& level, TreeNode node, Tag* tags, std::uint32_t* words,
               const std::uint32_t* turns) {
  const std::uint32_t width = level.width;
  for (std::uint32_t way = node.first; way < node.middle(); ++way) {
    Tag* const left = tags + std::size_t{way} * width;
    Tag* const right = left + std::size_t{node.half} * width;
    for (std::uint32_t lane = 0; lane < width; ++lane) {
      const Tag changed = (left[lane] ^ right[lane]) & all_if(turns[lane], node);
      left[lane] ^= changed;
      right[lane] ^= changed;
    }
  }
  for (std::uint32_t lane = 0; lane < width; ++lane) {
    const std::uint32_t mask = all_if(turns[lane], node);
    words[lane] = exchange_sides(words[lane], node, mask) ^ (mask & 1u << node.middle());
  }
}

template <class F>
void for_each_node(std::uint32_t half, std::uint32_t ways, F&& f) {
  for (std::uint32_t first = 0; first < ways; first += 2 * half) f(TreeNode{first, half});
}

// f(group's tags, words, turns)
template <class F>
void for_each_group(const LevelData& level, F&& f) {
  for (std::size_t group = 0; group < level.groups; ++group) {
    f(group * level.group_stride, group * level.width);
  }
}

}  // namespace

bool has_turns(const LevelData& level) {
  return !level.paths.empty() && std::has_single_bit(level.ways);
}

void find_turns(const LevelData& level, const Tag* tags, const std::uint32_t* words,
                std::uint32_t* turns) {
  for_each_group(level, [&](std::size_t tag, std::size_t word) {
    for (std::uint32_t lane = 0; lane < level.width; ++lane) {
      bool is_full = true;
      for (std::uint32_t way = 0; way < level.ways; ++way) {
        is_full &= tags[tag + std::size_t{way} * level.width + lane] != no_tag;
      }
      std::uint32_t rest = is_full ? words[word + lane] : 0;
      for (std::uint32_t half = level.ways / 2; half > 0; half /= 2) {
        for_each_node(half, level.ways, [&](TreeNode node) {
          rest = exchange_sides(rest, node, all_if(rest, node));
        });
      }
      turns[word + lane] = rest;
    }
  });
}

void turn(const LevelData& level, Tag* tags, std::uint32_t* words, const std::uint32_t* turns) {
  for_each_group(level, [&](std::size_t tag, std::size_t word) {
    for (std::uint32_t half = level.ways / 2; half > 0; half /= 2) {
      for_each_node(half, level.ways, [&](TreeNode node) {
        turn_node(level, node, tags + tag, words + word, turns + word);
      });
    }
  });
}

void turn_back(const LevelData& level, Tag* tags, std::uint32_t* words,
               const std::uint32_t* turns) {
  for_each_group(level, [&](std::size_t tag, std::size_t word) {
    for (std::uint32_t half = 1; half < level.ways; half *= 2) {
      for_each_node(half, level.ways, [&](TreeNode node) {
        turn_node(level, node, tags + tag, words + word, turns + word);
      });
    }
  });
}

}  // namespace tcsim::sim
