// The files of a schedule, and in what chunks tensors lie in them: what the schedule's tiles move
// of whole chunks shall be little more than the tiles, and chunks neither too small for a table of
// them nor too large to be kept in memory.
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
inline constexpr Bytes usual_chunk{std::int64_t{2} << 20};
// What a disk could move while a chunk begins. Source: measured on an AMD EPYC (Zen 4, virtual
// machine): chunks of 1 MiB come at 2.9 GB/s, below that at 2.2.
inline constexpr Bytes begin_of_chunk{std::int64_t{128} << 10};

class Chunks {
 public:
  // For all these schedules, which must have passed check().
  Chunks(const OperationTree& tree, const std::vector<const FusedNode*>& schedules);
  // By axis; at most so many bytes, of which one element is always allowed.
  std::vector<std::int64_t> of(int array, Bytes most = usual_chunk) const;

 private:
  // Tiles in which a tensor is moved: all combinations of these along its axes, so often.
  struct Use {
    std::vector<std::vector<Range>> tiles;  // by axis
    double reads = 0, writes = 0;
  };
  using Tiles = std::vector<std::vector<Range>>;  // by index
  void visit(const FusedNode& node, Tiles& tiles);
  // What a disk could move meanwhile, in bytes.
  double cost(const std::vector<Use>& uses, const std::vector<std::int64_t>& chunk,
              const OperationTree::Array& array) const;

  const OperationTree& tree_;
  std::map<std::string, std::vector<Use>> uses_;  // by name
};

}  // namespace tcsim::fusion
