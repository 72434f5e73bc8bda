// A tile's way to a device and back, piece by piece through memory from which the device reads
// fastest: one piece is on its way while the next is put together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "chains/levels/device.hpp"
#include "chains/rows.hpp"
#include "chains/tensors.hpp"

namespace tcsim::chains {

// Calls f(part, first) for parts of a tile that lie as they are, one behind another, in its memory,
// of at most so many elements: the first one of each.
template <class F>
void for_each_piece(const std::vector<fusion::Range>& tile, std::int64_t most, F&& f) {
  Extents piece = extents_of(tile), origin;
  for (const fusion::Range& r : tile) origin.push_back(r.begin);
  for (std::size_t axis = piece.size(); axis-- > 0;) {
    piece[axis] = std::clamp<std::int64_t>(most, 1, piece[axis]);
    most /= piece[axis];
    // An axis that is cut is all that a piece has of those outside.
    if (piece[axis] < tile[axis].size) most = 1;
  }
  std::int64_t first = 0;
  for_each_block(tile, piece, origin, [&](const std::vector<fusion::Range>& part) {
    f(part, first);
    first += elements_of(part);
  });
}

// `copy(part, to)` puts a part of the tile together.
template <class T, class Copy>
void send_tile(Device<T>& device, std::int64_t place, const std::vector<fusion::Range>& tile,
               Copy&& copy) {
  for_each_piece(tile, Device<T>::piece,
                 [&](const std::vector<fusion::Range>& part, std::int64_t first) {
                   copy(part, device.next_piece());
                   device.send(place + first, elements_of(part));
                 });
  device.finish();
}

// `copy(part, from)` has a part of the tile.
template <class T, class Copy>
void fetch_tile(Device<T>& device, std::int64_t place, const std::vector<fusion::Range>& tile,
                Copy&& copy) {
  std::deque<std::vector<fusion::Range>> asked;
  const auto take = [&] {
    copy(std::as_const(asked.front()), device.arrived());
    asked.pop_front();
  };
  for_each_piece(tile, Device<T>::piece,
                 [&](const std::vector<fusion::Range>& part, std::int64_t first) {
                   device.ask(place + first, elements_of(part));
                   asked.push_back(part);
                   if (asked.size() > 1) take();
                 });
  while (!asked.empty()) take();
}

}  // namespace tcsim::chains
