// A part of a tile as rows: elements that are neighbours in both, row-major. Rows at one distance
// from one another are copied together, the more so the shorter they are: what comes next is asked
// for ahead, on both sides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "core/fusion/walk.hpp"

namespace tcsim::chains {

inline std::int64_t elements_of(const std::vector<fusion::Range>& at) {
  std::int64_t product = 1;
  for (const fusion::Range& r : at) product *= r.size;
  return product;
}

// So many rows of so many elements: the first at a place in one memory and at one in the other,
// each at a distance behind the one before.
struct Rows {
  std::int64_t place = 0, other = 0, length = 1;
  std::int64_t distance = 0, other_distance = 0, count = 1;
};

// Calls f(rows) for all rows of `part`, which is inside `whole` and inside `other`: many at a time,
// or, `in_order`, as they lie one behind another in both.
template <class F>
void for_each_rows(const std::vector<fusion::Range>& whole, const std::vector<fusion::Range>& other,
                   const std::vector<fusion::Range>& part, bool in_order, F&& f) {
  struct Axis {
    std::int64_t size, stride, other_stride;
  };
  std::vector<Axis> axes;  // the last one first: those that rows are along, then the others
  Rows rows;
  bool along = true;  // each axis so far has all of both
  std::int64_t stride = 1, other_stride = 1;
  for (std::size_t a = whole.size(); a-- > 0;) {
    if (along) {
      rows.length *= part[a].size;
    } else {
      axes.push_back({part[a].size, stride, other_stride});
    }
    along = along && part[a].size == whole[a].size && part[a].size == other[a].size;
    rows.place += (part[a].begin - whole[a].begin) * stride;
    rows.other += (part[a].begin - other[a].begin) * other_stride;
    stride *= whole[a].size;
    other_stride *= other[a].size;
  }
  if (!axes.empty()) {
    constexpr std::int64_t many = 16;
    auto most = axes.begin();
    if (!in_order && most->size < many) most = std::ranges::max_element(axes, {}, &Axis::size);
    rows.count = most->size, rows.distance = most->stride, rows.other_distance = most->other_stride;
    axes.erase(most);
  }
  std::vector<std::int64_t> at(axes.size(), 0);
  while (true) {
    f(std::as_const(rows));
    std::size_t a = 0;
    for (; a < axes.size(); ++a) {
      rows.place += axes[a].stride;
      rows.other += axes[a].other_stride;
      if (++at[a] < axes[a].size) break;
      rows.place -= at[a] * axes[a].stride;
      rows.other -= at[a] * axes[a].other_stride;
      at[a] = 0;
    }
    if (a == axes.size()) return;
  }
}

// How many rows there are: the places of the axes before the last one that is cut.
inline std::int64_t count_rows(const std::vector<fusion::Range>& whole,
                               const std::vector<fusion::Range>& part) {
  std::int64_t count = 1;
  bool along = true;  // each axis behind has all of the whole's
  for (std::size_t a = whole.size(); a-- > 0;) {
    if (!along) count *= part[a].size;
    along = along && part[a].size == whole[a].size;
  }
  return count;
}

// Asks for what a row has and what it is copied to.
template <class T>
void bring_near(const T* from, T* to, std::int64_t length) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  for (std::int64_t i = 0; i < length; i += line) {
    __builtin_prefetch(from + i);
    __builtin_prefetch(to + i, 1);
  }
}

// Rows of a length that the compiler knows.
template <int length, class T>
void copy_short_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
                     std::int64_t count) {
  constexpr std::int64_t ahead = 8;
  for (std::int64_t r = 0; r < count; ++r, from += from_step, to += to_step) {
    if (r + ahead < count) bring_near(from + ahead * from_step, to + ahead * to_step, 1);
    std::memcpy(to, from, length * sizeof(T));
  }
}

// `count` rows of `length` elements, each a step behind the one before, on either side.
template <class T>
void copy_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step,
               std::int64_t length, std::int64_t count) {
  // Longer ones the processor fetches ahead itself.
  constexpr std::int64_t ahead = 4, longest = 1024 / static_cast<std::int64_t>(sizeof(T));
  switch (length) {
    case 1:
      return copy_short_rows<1>(from, from_step, to, to_step, count);
    case 2:
      return copy_short_rows<2>(from, from_step, to, to_step, count);
    case 3:
      return copy_short_rows<3>(from, from_step, to, to_step, count);
    case 4:
      return copy_short_rows<4>(from, from_step, to, to_step, count);
    case 5:
      return copy_short_rows<5>(from, from_step, to, to_step, count);
    case 6:
      return copy_short_rows<6>(from, from_step, to, to_step, count);
    case 7:
      return copy_short_rows<7>(from, from_step, to, to_step, count);
    case 8:
      return copy_short_rows<8>(from, from_step, to, to_step, count);
    default:
      break;
  }
  for (std::int64_t r = 0; r < count; ++r, from += from_step, to += to_step) {
    if (length <= longest && r + ahead < count) {
      bring_near(from + ahead * from_step, to + ahead * to_step, length);
    }
    std::copy_n(from, length, to);
  }
}

// A part that two memories have, from one into the other.
template <class T>
void copy_part(const std::vector<fusion::Range>& from_whole, const T* from,
               const std::vector<fusion::Range>& to_whole, T* to,
               const std::vector<fusion::Range>& part) {
  for_each_rows(from_whole, to_whole, part, false, [&](const Rows& r) {
    copy_rows(from + r.place, r.distance, to + r.other, r.other_distance, r.length, r.count);
  });
}

// The part of a tile into memory of its own, and back.
template <class T>
void copy_out(const std::vector<fusion::Range>& whole, const std::vector<fusion::Range>& part,
              const T* tile, T* own) {
  copy_part(whole, tile, part, own, part);
}
template <class T>
void copy_in(const std::vector<fusion::Range>& whole, const std::vector<fusion::Range>& part,
             T* tile, const T* own) {
  copy_part(part, own, whole, tile, part);
}

}  // namespace tcsim::chains
