#include "bench/transpose.hpp"

#include <algorithm>

#include "kernels/vector_code.hpp"

namespace tcsim::bench {

namespace {

using Dim = Transposition::Dim;

// Of a block that is transposed at a time: it and its copy lie in the first cache, and a row is
// several lines.
constexpr std::int64_t block = 32;

// Dimensions that are neighbours on both sides become one. `dims` are in the order of `from`.
std::vector<Dim> fused(const std::vector<Dim>& dims) {
  std::vector<Dim> all;
  for (const Dim& d : dims) {
    if (d.extent == 1) continue;
    if (!all.empty() && d.from == all.back().from * all.back().extent &&
        d.to == all.back().to * all.back().extent) {
      all.back().extent *= d.extent;
    } else {
      all.push_back(d);
    }
  }
  return all;
}

}  // namespace

Transposition::Transposition(std::vector<Dim> dims) {
  std::ranges::sort(dims, {}, &Dim::from);
  dims = fused(dims);
  const auto take = [&](std::int64_t Dim::*stride) {
    const auto fastest = std::ranges::min_element(dims, {}, stride);
    const Dim d = *fastest;
    dims.erase(fastest);
    return d;
  };
  if (!dims.empty()) {
    runs_ = std::ranges::min_element(dims, {}, &Dim::from) ==
            std::ranges::min_element(dims, {}, &Dim::to);
    // Without a stride of one on both sides nothing runs along memory in blocks.
    fast_ = take(&Dim::from);
    if (!runs_) slow_ = take(&Dim::to);
    if (!runs_ && (fast_.from != 1 || slow_.to != 1)) {
      dims.push_back(slow_);
      runs_ = true;
    }
  } else {
    runs_ = true;
  }
  std::ranges::sort(dims, std::ranges::greater(), &Dim::to);
  for (const Dim& d : dims) others_.dims.push_back({d.extent, {d.from, d.to}});
  for (std::int64_t i = 0; i < block; ++i) {
    rows_.push_back(i * slow_.from);
    columns_.push_back(i * fast_.to);
  }
}

template <class T>
void Transposition::operator()(const T* from, T* to) const {
  others_.run(2, [&](const std::int64_t* offset) {
    if (runs_) {
      copy_runs(from + offset[0], to + offset[1]);
    } else {
      copy_squares(from + offset[0], to + offset[1]);
    }
  });
}

template <class T>
void Transposition::copy_runs(const T* from, T* to) const {
  if (fast_.from == 1 && fast_.to == 1) {
    std::copy_n(from, fast_.extent, to);
    return;
  }
  for (std::int64_t i = 0; i < fast_.extent; ++i) to[i * fast_.to] = from[i * fast_.from];
}

template <class T>
void Transposition::copy_squares(const T* from, T* to) const {
  static const auto code = transpose_code<T>();
  for (std::int64_t f = 0; f < fast_.extent; f += block) {
    for (std::int64_t s = 0; s < slow_.extent; s += block) {
      const Rows<T> rows{from + f + s * slow_.from, rows_.data()};
      code(std::min(block, slow_.extent - s), std::min(block, fast_.extent - f), rows, rows,
           to + f * fast_.to + s, columns_.data());
    }
  }
}

template void Transposition::operator()(const double*, double*) const;
template void Transposition::operator()(const float*, float*) const;

}  // namespace tcsim::bench
