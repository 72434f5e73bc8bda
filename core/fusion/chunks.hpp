// The files of a schedule, and in what chunks tensors lie in them, so that a tile is whole chunks:
// what divides all tiles in which a schedule moves a tensor, or else fits into them, neither too
// small for a table of them nor too large to be kept in memory.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/fusion/walk.hpp"

namespace tcsim::fusion {

struct FileUse {
  int array = 0;      // of the tensor
  bool made = false;  // the schedule stores it
};
// Of all that a schedule, or a part of one, loads or stores: by the tensor's name.
std::map<std::string, FileUse> files_of(const OperationTree& tree, const FusedNode& node);

// Each costs an entry in a file's table.
inline constexpr Bytes least_chunk{std::int64_t{64} << 10};
// What divides all tiles is taken from here on: below, calls take more than bytes that are moved
// twice.
inline constexpr Bytes least_common_chunk{std::int64_t{256} << 10};
inline constexpr Bytes usual_chunk{std::int64_t{2} << 20};

class Chunks {
 public:
  // For all these schedules, which must have passed check().
  Chunks(const OperationTree& tree, const std::vector<const FusedNode*>& schedules);
  // By axis; at most so many bytes, of which one element is always allowed.
  std::vector<std::int64_t> of(int array, Bytes most = usual_chunk) const;

  // As a visitor of walk_first_tiles().
  void open(const Hold& hold, const Ranges& ranges);
  void close(const Hold&, const Ranges&) {}
  void run(int, const Ranges&) {}

 private:
  const OperationTree& tree_;
  // By axis, of the tiles in which a tensor is moved.
  struct Tiles {
    std::vector<std::int64_t> smallest, common;  // the greatest common divisor
  };
  std::map<std::string, Tiles> tiles_;  // by name
};

}  // namespace tcsim::fusion
