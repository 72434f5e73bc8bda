// What the chain window shows, as functions of its scene: words, a table, a curve, and the
// operation tree, with no widget and no pixel.
#pragma once

#include <string>
#include <vector>

#include "gui/chain/chain_scene.hpp"
#include "gui/charts/plot.hpp"
#include "gui/charts/table.hpp"

namespace tcsim::gui {

// What decides, in a sentence, then what it costs beside the unfused chain, then what more memory
// would bring as far as that is known.
struct ChainVerdict {
  std::string headline;
  std::vector<std::string> sentences;
  std::vector<std::string> more;
};
ChainVerdict chainVerdict(const ChainScene& scene);

// The chain and the disk, in a line or two.
std::string aboutChain(const ChainAnswer& answer);

// A row for each program. In a file columns are called by their units.
Table chainTable(const ChainAnswer& answer);
Table chainFileTable(const ChainAnswer& answer);

std::string scheduleOf(const ChainAnswer& answer, std::size_t program);

// Of the chosen program and of the unfused one, over the memory.
enum class MemoryCurve { diskTime, bytesMoved };
Plot memoryPlot(const ChainScene& scene, MemoryCurve what);

// A program's operation tree: each node is a tensor, below a result are the two that it is made of.
struct ChainTree {
  enum class Place { input, memory, cutPoint, output };
  struct Node {
    std::string name;     // "T1[a,q,r,s]"
    std::string about;    // "1.382 GB, in memory"
    std::string moved;    // on the way to its reader: "1.659 GB read"
    std::string reading;  // all of it, in words
    Place place = Place::input;
    int level = -1;          // in memory: of several explicit levels which, from the innermost
    std::vector<int> below;  // nodes
  };
  std::string title;
  std::string missing;  // why there is nothing to draw; then nothing else counts
  bool hollow = false;  // the inputs have moved on
  std::vector<Node> nodes;
  std::vector<int> roots;
};
ChainTree chainTree(const ChainScene& scene, std::size_t program);

}  // namespace tcsim::gui
