// The level that all processes share, the outermost one inside the disk: tiles that each process
// gets parts of, puts parts to, and adds parts to. Two implementations: one process's own memory,
// and windows of MPI-3 that others reach into without the owner's help (MPI_Get, MPI_Put,
// MPI_Accumulate; passive target), or on one computer without MPI. A tile's elements, row-major,
// are dealt to processes in pieces of equal length, one each. Tiles are opened and closed as a
// stack, by all processes in the same order.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/fusion/walk.hpp"
#include "processes/processes.hpp"

namespace tcsim::chains {

template <class T>
class GlobalMemory {
 public:
  struct Tile {
    std::vector<fusion::Range> at;
    std::int64_t begin = 0;  // in each process's part of the memory
    std::int64_t piece = 0;  // elements of each process
  };

  // Elements that each process needs for a tile of so many.
  static std::int64_t piece(std::int64_t elements, int processes) {
    return (elements + processes - 1) / processes;
  }

  explicit GlobalMemory(int processes) : processes_(processes) {}
  virtual ~GlobalMemory() = default;
  GlobalMemory(const GlobalMemory&) = delete;
  GlobalMemory& operator=(const GlobalMemory&) = delete;

  Tile open(std::vector<fusion::Range> at);
  void close(const Tile& tile);

  // Of this process's own piece: zeros.
  virtual void clear(const Tile& tile) = 0;
  // A part of a tile, row-major in the caller's memory. Done when they return; others see it after
  // a fence. Several may add to the same elements at the same time.
  virtual void get(const Tile& tile, const std::vector<fusion::Range>& part, T* to) = 0;
  virtual void put(const Tile& tile, const std::vector<fusion::Range>& part, const T* from) = 0;
  virtual void add(const Tile& tile, const std::vector<fusion::Range>& part, const T* from) = 0;
  // Collective: what was put and added before is seen by all after it.
  virtual void fence() = 0;
  // Where the tile lies, where one process has it all; null otherwise.
  virtual T* whole(const Tile& tile) = 0;

 protected:
  int processes_;

 private:
  std::int64_t used_ = 0;
};

// `elements` of each process. Collective. Throws UnsupportedError where they cannot be had.
template <class T>
std::unique_ptr<GlobalMemory<T>> global_memory(const Processes& team, std::int64_t elements);

extern template class GlobalMemory<float>;
extern template class GlobalMemory<double>;

}  // namespace tcsim::chains
