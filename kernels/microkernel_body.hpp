// The one body of all vector microkernels. Include it only from the files that are compiled for an
// instruction set: everything here is local to the file, because the same template means other
// instructions in each.
#pragma once

#include <cstdint>

namespace tcsim {
namespace {

// `vectors` vectors of `bytes` for the rows, `columns` columns; vectors * columns accumulators
// must fit into the registers with one vector of each operand to spare. As Microkernel.
template <class T, int bytes, int vectors, int columns>
[[gnu::always_inline]] inline void multiply(std::int64_t kc, const T* left, const T* right, T* c,
                                            const std::int64_t* column, bool overwrite) {
  typedef T Vector __attribute__((vector_size(bytes)));
  // In memory only as aligned as an element, since a tile of C may begin anywhere.
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  constexpr int rows = vectors * lanes;

  // C is needed only after the loop: fetch its lines meanwhile.
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) __builtin_prefetch(c + column[j] + v * lanes, 1);
  }

  // Else the compiler would keep all those addresses through the loop, in vector registers too.
  asm("" : "+r"(column));

  Vector sum[columns][vectors] = {};
  for (std::int64_t p = 0; p < kc; ++p) {
    Vector l[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) l[v] = *reinterpret_cast<const Stored*>(left + v * lanes);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) sum[j][v] += l[v] * right[j];
    }
    left += rows;
    right += columns;
  }

#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      auto* to = reinterpret_cast<Stored*>(c + column[j] + v * lanes);
      *to = overwrite ? sum[j][v] : *to + sum[j][v];
    }
  }
}

}  // namespace
}  // namespace tcsim
