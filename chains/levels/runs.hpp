// A part of a tile as runs: elements that are neighbours in both, row-major.
#pragma once

#include <cstdint>
#include <vector>

#include "core/fusion/walk.hpp"

namespace tcsim::chains {

inline std::int64_t elements_of(const std::vector<fusion::Range>& at) {
  std::int64_t product = 1;
  for (const fusion::Range& r : at) product *= r.size;
  return product;
}

// Calls f(place in the whole, length) for each run of `part`, which is inside `whole`; in the
// order in which they lie in both.
template <class F>
void for_each_run(const std::vector<fusion::Range>& whole, const std::vector<fusion::Range>& part,
                  F&& f) {
  // Axes that the run goes over: the last ones, as long as the part has all of them.
  std::size_t axis = whole.size();
  std::int64_t length = 1, stride = 1;
  std::vector<std::int64_t> strides(whole.size());
  for (std::size_t a = whole.size(); a-- > 0;) {
    strides[a] = stride;
    stride *= whole[a].size;
  }
  while (axis > 0) {
    --axis;
    length *= part[axis].size;
    if (part[axis].size != whole[axis].size) break;
  }
  std::int64_t place = 0;
  for (std::size_t a = 0; a < whole.size(); ++a) {
    place += (part[a].begin - whole[a].begin) * strides[a];
  }
  std::vector<std::int64_t> at(axis, 0);
  while (true) {
    f(place, length);
    std::size_t a = axis;
    for (; a > 0; --a) {
      place += strides[a - 1];
      if (++at[a - 1] < part[a - 1].size) break;
      place -= at[a - 1] * strides[a - 1];
      at[a - 1] = 0;
    }
    if (a == 0) return;
  }
}

}  // namespace tcsim::chains
