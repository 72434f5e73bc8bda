// What of a schedule fits where: for each cache the largest tile of the nest - the outermost depth
// at which one execution of what is inside - whose parts of A, B and C fit in it together. A
// picture of the schedule for people; the window model does not rest on it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct HeldTile {
  std::array<std::int64_t, 3> extents{1, 1, 1};  // m, n, k
  ByTensor<Bytes> bytes{};
  // Of those, what other tiles of the same pixels' group have as well where tiles overlap: a
  // convolution's halo. The mean over all tiles, each place being counted as that of the first tile
  // that has it.
  ByTensor<Bytes> halo{};
  ByTensor<bool> whole{};  // the tensor is there as a whole

  Bytes total() const { return bytes[TensorId::A] + bytes[TensorId::B] + bytes[TensorId::C]; }
  bool operator==(const HeldTile&) const = default;
};

struct HeldInCache {
  LevelId cache{};
  Bytes capacity;                // of one core's share
  std::optional<HeldTile> tile;  // empty: not even a register tile with its panels fits
};

// One for each cache, innermost first. `schedule` must have passed check(). Throws TooLargeError.
std::vector<HeldInCache> held_tiles(const Contraction& contraction, const Schedule& schedule,
                                    const Machine& machine);

}  // namespace tcsim
