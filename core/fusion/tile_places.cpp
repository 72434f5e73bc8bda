#include "core/fusion/tile_places.hpp"

#include <algorithm>

#include "core/fusion/walk.hpp"

namespace tcsim::fusion {

namespace {

constexpr std::int64_t line = 64;

}  // namespace

TilePlaces::TilePlaces(const OperationTree& tree, const FusedNode& node, Buffering buffering) {
  struct Visitor {
    const OperationTree& tree;
    Buffering buffering;
    TilePlaces& to;
    std::int64_t top = 0;

    void open(const Hold& hold, const Ranges& ranges) {
      std::int64_t bytes = tree.array(hold.array).element.value();
      for (const Range& r : ranges_of(tree, hold.array, ranges)) bytes *= r.size;
      const std::int64_t size = (bytes + line - 1) / line * line;
      const auto copies = static_cast<int>(tcsim::fusion::copies(hold, buffering));
      to.places_[&hold] = {Bytes(top), Bytes(size), copies};
      top += copies * size;
      to.size_ = std::max(to.size_, Bytes(top));
    }
    void close(const Hold& hold, const Ranges&) { top = to.of(hold).begin.value(); }
    void run(int, const Ranges&) {}
  };
  Visitor visitor{tree, buffering, *this};
  Ranges ranges = all_of(tree);
  walk_first_tiles(node, ranges, visitor);
}

}  // namespace tcsim::fusion
