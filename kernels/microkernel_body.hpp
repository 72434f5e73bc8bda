// The one body of all vector microkernels. Include it only from the files that are compiled for an
// instruction set: everything here is local to the file, because the same template means other
// instructions in each.
#pragma once

#include <cstdint>

#include "kernels/microkernel.hpp"

namespace tcsim {
namespace {

// The columns of the right operand at one place along k, where they are neighbours.
template <class T>
struct Neighbours {
  static constexpr bool by_lane = false;
  explicit Neighbours(const Panel<T>& panel) : first(panel.first), step(panel.step) {}
  void hide() {}
  T operator[](int j) const { return first[j]; }
  void next() { first += step; }
  void move(std::int64_t elements) { first += elements; }

  const T* first;
  std::int64_t step;
};

// The same where they are evenly apart. A few odd multiples of the distance, in registers, and the
// scales of an address make all columns. There are too few registers for a pointer to each. A
// column is an element, or a vector of them: one for each lane of the left operand's.
template <class T, int bytes = sizeof(T)>
struct Apart {
  static constexpr bool by_lane = bytes != sizeof(T);
  typedef T Vector __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  explicit Apart(const Panel<T>& panel)
      : first(reinterpret_cast<const char*>(panel.first)),
        step(panel.step * static_cast<std::int64_t>(sizeof(T))),
        once(panel.apart * static_cast<std::int64_t>(sizeof(T))),
        three(3 * once),
        five(5 * once),
        seven(7 * once),
        eighth(first + 8 * once) {}
  // Made anew with each step: otherwise the compiler would keep the even multiples in registers
  // too.
  [[gnu::always_inline]] void hide() {
    asm("" : "+r"(once), "+r"(three), "+r"(five), "+r"(seven), "+r"(eighth));
  }
  auto operator[](int j) const {
    const std::int64_t multiples[] = {0, once, 2 * once, three, 4 * once, five, 2 * three, seven};
    const char* const column = (j < 8 ? first : eighth) + multiples[j % 8];
    if constexpr (by_lane) {
      return *reinterpret_cast<const Vector*>(column);
    } else {
      return *reinterpret_cast<const T*>(column);
    }
  }
  void next() { first += step, eighth += step; }
  void move(std::int64_t elements) {
    const std::int64_t bytes_on = elements * static_cast<std::int64_t>(sizeof(T));
    first += bytes_on, eighth += bytes_on;
  }

  const char* first;
  std::int64_t step, once, three, five, seven;
  const char* eighth;
};

// One tile. Its left panel begins at `left`.
template <class T, int bytes, int vectors, int columns, class Right>
[[gnu::always_inline]] inline void multiply_tile(const T* left, Right right, ResultTile<T> c,
                                                 ResultTile<T> ahead, const KernelTask<T>& task,
                                                 const Fetch<T>& fetch) {
  typedef T Vector __attribute__((vector_size(bytes)));
  // In memory only as aligned as an element, since a tile of C may begin anywhere.
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  constexpr int line = 64 / static_cast<int>(sizeof(T));

  std::int64_t kc = task.kc;
  const std::int64_t left_step = task.left.step, left_ahead = task.left_ahead;
  asm("" : "+r"(ahead.columns));  // else all those addresses would be kept through the loop
  Vector sum[columns][vectors];
  const auto step = [&](bool fetch_left, bool first) __attribute__((always_inline)) {
    right.hide();
    Vector l[vectors];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      l[v] = *reinterpret_cast<const Stored*>(left + v * lanes);
      if (fetch_left && v * lanes % line == 0) {
        __builtin_prefetch(left + left_ahead + v * lanes, 0, 2);
      }
    }
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 4
      for (int v = 0; v < vectors; ++v) {
        sum[j][v] = first ? l[v] * right[j] : sum[j][v] + l[v] * right[j];
      }
    }
    left += left_step;
    right.next();
  };

  step(true, true);  // there is at least one, and it spares setting the sums to zero
  --kc;
  std::int64_t runs = fetch.runs, lines = fetch.lines;
  const T *asked = fetch.first, *run = fetch.first;
  // A column of the tile ahead with every `vectors` steps of k. Kernels of lanes have few steps,
  // and ask for what is read next at the same time.
  int fetched = 0;
  for (; fetched < columns && kc >= vectors; ++fetched, kc -= vectors) {
    const T* column = ahead.first + ahead.columns[fetched];
#pragma GCC unroll 4
    for (int v = 0; v < vectors; ++v) {
      if (v * lanes % line == 0) __builtin_prefetch(column + v * lanes, 1);
      step(true, false);
    }
    if constexpr (Right::by_lane) {
      for (int i = 0; i < 2 && runs > 0; ++i, --runs, asked += fetch.apart) {
        __builtin_prefetch(asked, 0, 2);
      }
      run = asked;
    }
  }
  for (; fetched < columns; ++fetched) {
    const T* column = ahead.first + ahead.columns[fetched];
#pragma GCC unroll 4
    for (int v = 0; v < vectors * lanes; v += line) __builtin_prefetch(column + v, 1);
  }
  for (const Stretch *next = task.stretches, *end = next + task.more_stretches;; ++next) {
    for (; runs > 0 && kc > 0; --kc) {
      __builtin_prefetch(asked, 0, 2);
      asked += line;
      if (--lines == 0) {
        asked = run += fetch.apart;
        lines = fetch.lines;
        --runs;
      }
      step(true, false);
    }
    if (left_ahead != 0) {
      for (; kc > 0; --kc) step(true, false);
    }
    for (; kc > 0; --kc) step(false, false);
    if (next == end) break;
    left += next->left_jump;
    right.move(next->right_jump);
    kc = next->kc;
  }

  asm("" : "+r"(c.columns));
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
  // The compiler drops the load where C is not used.
  using Kind = typename Update<T>::Kind;
  if (task.kind == Kind::overwrite) {
    store([](const Vector& s, const Stored&) -> Vector { return s; });
  } else if (task.kind == Kind::add) {
    store([](const Vector& s, const Stored& old) -> Vector { return old + s; });
  } else if (const Update<T> update = task.update; update.beta == 0) {
    store([&](const Vector& s, const Stored&) -> Vector { return update.alpha * s; });
  } else {
    store([&](const Vector& s, const Stored& old) -> Vector {
      return update.beta * old + update.alpha * s;
    });
  }
}

template <class T, int bytes, int vectors, int columns, class Right>
[[gnu::always_inline]] inline void multiply_by(Right right, const KernelTask<T>& task,
                                               const ResultTile<T>& ahead) {
  const T* left = task.left.first;
  const std::int64_t* row = task.onwards.rows;
  ResultTile<T> c = task.c;
  Fetch<T> fetch = task.fetch;
  for (std::int64_t more = task.tiles - 1;; --more) {
    ResultTile<T> next = ahead;
    if (more > 0) {
      const std::int64_t* next_row = row + task.onwards.row_step;
      next = {c.first + (*next_row - *row), c.columns + task.onwards.column_step};
      row = next_row;
      // The table may be as long as C is, and is read an entry here and there.
      __builtin_prefetch(row + 8 * task.onwards.row_step);
    }
    multiply_tile<T, bytes, vectors, columns>(left, right, c, next, task, fetch);
    if (more == 0) return;
    fetch.first += fetch.onwards;
    if (fetch.onwards == 0) fetch.runs = 0;
    left += task.onwards.left;
    right.move(task.onwards.right);
    c = next;
  }
}

// `vectors` vectors of `bytes` for the rows, `columns` columns. As MicrokernelCode.
template <class T, int bytes, int vectors, int columns>
void multiply(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  if (task.right.apart == 1) {
    multiply_by<T, bytes, vectors, columns>(Neighbours<T>(task.right), task, ahead);
  } else {
    multiply_by<T, bytes, vectors, columns>(Apart<T>(task.right), task, ahead);
  }
}

// One vector of rows, each lane with columns of its own.
template <class T, int bytes, int columns>
void multiply_lanes(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  multiply_by<T, bytes, 1, columns>(Apart<T, bytes>(task.right), task, ahead);
}

// Whether the accumulators leave enough registers: a column of the left operand, and a vector for
// the right one. With AVX-512 the right one needs none, since the multiplication reads its elements
// from memory.
constexpr bool fits(int bytes, int vectors, int columns) {
  return vectors * columns <= (bytes == 64 ? 32 - vectors : 16 - vectors - 1);
}

// The code of a tile, or null where there are too few registers.
template <class T, int bytes, int vectors, int columns>
constexpr Microkernel<T> member() {
  if constexpr (fits(bytes, vectors, columns)) return multiply<T, bytes, vectors, columns>;
  return nullptr;
}
template <class T, int bytes, int columns>
constexpr Microkernel<T> member_by_lane() {
  if constexpr (fits(bytes, 1, columns)) return multiply_lanes<T, bytes, columns>;
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
  return {
      bytes / static_cast<int>(sizeof(T)),
      {TCSIM_MEMBERS(T, bytes, 1), TCSIM_MEMBERS(T, bytes, 2), TCSIM_MEMBERS(T, bytes, 3),
       TCSIM_MEMBERS(T, bytes, 4)},
      {member_by_lane<T, bytes, 1>(), member_by_lane<T, bytes, 2>(), member_by_lane<T, bytes, 3>(),
       member_by_lane<T, bytes, 4>(), member_by_lane<T, bytes, 5>(), member_by_lane<T, bytes, 6>(),
       member_by_lane<T, bytes, 7>(), member_by_lane<T, bytes, 8>(), member_by_lane<T, bytes, 9>(),
       member_by_lane<T, bytes, 10>(), member_by_lane<T, bytes, 11>(),
       member_by_lane<T, bytes, 12>(), member_by_lane<T, bytes, 13>(),
       member_by_lane<T, bytes, 14>()}};
}

#undef TCSIM_MEMBERS

}  // namespace
}  // namespace tcsim
