#include "chains/tile_places.hpp"

#include <algorithm>

#include "chains/tensors.hpp"

namespace tcsim::chains {

using fusion::Hold;
using fusion::Ranges;

namespace {

constexpr std::int64_t line = 64;

}  // namespace

TilePlaces::TilePlaces(const fusion::OperationTree& tree, const fusion::FusedNode& node,
                       fusion::Buffering buffering) {
  struct Visitor {
    const fusion::OperationTree& tree;
    fusion::Buffering buffering;
    TilePlaces& to;
    std::int64_t top = 0;

    void open(const Hold& hold, const Ranges& ranges) {
      const std::int64_t bytes = product(extents_of(ranges_of(tree, hold.array, ranges))) *
                                 tree.array(hold.array).element.value();
      const std::int64_t size = (bytes + line - 1) / line * line;
      const auto copies = static_cast<int>(fusion::copies(hold, buffering));
      to.places_[&hold] = {Bytes(top), Bytes(size), copies};
      top += copies * size;
      to.size_ = std::max(to.size_, Bytes(top));
    }
    void close(const Hold& hold, const Ranges&) { top = to.of(hold).begin.value(); }
    void run(int, const Ranges&) {}
  };
  Visitor visitor{tree, buffering, *this};
  Ranges ranges = fusion::all_of(tree);
  walk_first_tiles(node, ranges, visitor);
}

}  // namespace tcsim::chains
