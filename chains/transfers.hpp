// Moves the tiles of one part of a schedule between files and memory, in the order of its walk().
// Either where the walk stands, one thing after another; or ahead of it and behind it, on threads
// of their own: one reads what comes next as soon as its place in memory is free, one writes what
// is done. Both see the same places (tile_places.hpp) and move the same tiles.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "chains/tensor_files.hpp"
#include "core/fusion/tile_places.hpp"
#include "core/fusion/walk.hpp"

namespace tcsim::chains {

// What one part moves, and where.
struct TransferOf {
  const fusion::OperationTree& tree;
  const fusion::FusedNode& node;
  const fusion::TilePlaces& places;
  std::byte* memory;                         // places.size() of it
  std::map<std::string, TensorFile>& files;  // of all that the part loads or stores, by name
  // Each transfer goes to the disk, past what the system keeps of it: chunks of up to `cold` bytes
  // straight, through blocks of that size, one for each way.
  std::optional<Bytes> cold = {};
  std::stop_token stop = {};
};

struct Moved {
  std::vector<fusion::DiskTraffic::OfArray> arrays;  // as the tree's
  Bytes chunks_read, chunks_written;                 // of chunks that tiles have a part of
  Seconds reading, writing;
};

class Transfers {
 public:
  virtual ~Transfers() = default;

  // As a visitor of walk() calls them. The tile is at the address: read, or zeros. Throw InputError
  // where a file does not do it, and Interrupted.
  virtual std::byte* open(const fusion::Hold& hold, const fusion::Ranges& ranges) = 0;
  virtual void close(const fusion::Hold& hold) = 0;
  // After the walk: all is written. The same errors.
  virtual Moved finish() = 0;
};

std::unique_ptr<Transfers> transfers_in_turn(const TransferOf& of);
std::unique_ptr<Transfers> transfers_ahead(const TransferOf& of);

}  // namespace tcsim::chains
