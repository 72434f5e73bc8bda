// The one body of all vector microkernels. Include it only from the files that are compiled for an
// instruction set: everything here is local to the file, because the same template means other
// instructions in each.
#pragma once

#include <cstdint>

#include "kernels/microkernel.hpp"

namespace tcsim {
namespace {

// `vectors` vectors of `bytes` for the rows, `columns` columns. As MicrokernelCode.
template <class T, int bytes, int vectors, int columns>
void multiply(std::int64_t kc, const T* left, std::int64_t left_step, const T* right,
              std::int64_t right_step, ResultTile<T> c, Update<T> update, ResultTile<T> ahead) {
  typedef T Vector __attribute__((vector_size(bytes)));
  // In memory only as aligned as an element, since a tile of C may begin anywhere.
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  constexpr int line = 64 / static_cast<int>(sizeof(T));

  // Else the compiler would keep all those addresses through the loop, in vector registers too.
  asm("" : "+r"(c.columns), "+r"(ahead.columns));

  Vector sum[columns][vectors] = {};
  const auto step = [&]() __attribute__((always_inline)) {
    Vector l[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) l[v] = *reinterpret_cast<const Stored*>(left + v * lanes);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[j][v] += l[v] * right[j];
    }
    left += left_step;
    right += right_step;
  };

  // A column of the tile ahead with every `vectors` steps of k.
  int fetched = 0;
  for (; fetched < columns && kc >= vectors; ++fetched, kc -= vectors) {
    const T* column = ahead.first + ahead.columns[fetched];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      if (v * lanes % line == 0) __builtin_prefetch(column + v * lanes, 1);
      step();
    }
  }
  for (; fetched < columns; ++fetched) {
    const T* column = ahead.first + ahead.columns[fetched];
#pragma GCC unroll 4
    for (int v = 0; v < vectors * lanes; v += line) __builtin_prefetch(column + v, 1);
  }
  for (; kc > 0; --kc) step();

  const auto store = [&](auto&& result) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        auto* to = reinterpret_cast<Stored*>(c.first + c.columns[j] + v * lanes);
        *to = result(sum[j][v], *to);
      }
    }
  };
  // The usual cases without a multiplication; the compiler drops the load where C is not used.
  if (update.alpha != 1) {
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[j][v] *= update.alpha;
    }
  }
  if (update.beta == 0) {
    store([](const Vector& s, const Stored&) -> Vector { return s; });
  } else if (update.beta == 1) {
    store([](const Vector& s, const Stored& old) -> Vector { return old + s; });
  } else {
    store([&](const Vector& s, const Stored& old) -> Vector { return update.beta * old + s; });
  }
}

// The code of a tile, or null if its accumulators leave less than a vector of each operand to
// spare: with AVX-512 the right one's elements are read from memory by the multiplication itself.
template <class T, int bytes, int vectors, int columns>
constexpr Microkernel<T> member() {
  constexpr int spare = bytes == 64 ? 32 - vectors : 16 - vectors - 1;
  if constexpr (vectors * columns <= spare) return multiply<T, bytes, vectors, columns>;
  return nullptr;
}

#define TCSIM_MEMBERS(T, bytes, v)                                                       \
  {                                                                                      \
    member<T, bytes, v, 1>(), member<T, bytes, v, 2>(), member<T, bytes, v, 3>(),        \
        member<T, bytes, v, 4>(), member<T, bytes, v, 5>(), member<T, bytes, v, 6>(),    \
        member<T, bytes, v, 7>(), member<T, bytes, v, 8>(), member<T, bytes, v, 9>(),    \
        member<T, bytes, v, 10>(), member<T, bytes, v, 11>(), member<T, bytes, v, 12>(), \
        member<T, bytes, v, 13>(), member<T, bytes, v, 14>()                             \
  }

template <class T, int bytes>
constexpr KernelFamily<T> family() {
  return {bytes / static_cast<int>(sizeof(T)),
          {TCSIM_MEMBERS(T, bytes, 1), TCSIM_MEMBERS(T, bytes, 2), TCSIM_MEMBERS(T, bytes, 3),
           TCSIM_MEMBERS(T, bytes, 4)}};
}

#undef TCSIM_MEMBERS

}  // namespace
}  // namespace tcsim
