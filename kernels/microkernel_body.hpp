// The one body of all vector microkernels. Include it only from the files that are compiled for an
// instruction set: everything here is local to the file, because the same template means other
// instructions in each.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "kernels/microkernel.hpp"
#include "kernels/some_lanes.hpp"

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
  const T* place(int j) const {
    const std::int64_t multiples[] = {0, once, 2 * once, three, 4 * once, five, 2 * three, seven};
    return reinterpret_cast<const T*>((j < 8 ? first : eighth) + multiples[j % 8]);
  }
  auto operator[](int j) const {
    if constexpr (by_lane) {
      return *reinterpret_cast<const Vector*>(place(j));
    } else {
      return *place(j);
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

// How far a task has come with its trickle. In memory, so that loops keep their registers.
template <class T>
struct Trickling {
  static constexpr bool trickles = true;
  [[gnu::always_inline]] explicit Trickling(const Trickle<T>& t) : asks(t), line(t.first) {
    begin_tile();
  }
  [[gnu::always_inline]] void begin_tile() {
    times = asks.times;
    until = asks.every;
    asm("" : "+m"(*this));
  }
  [[gnu::always_inline]] void ask() {
    constexpr std::int64_t elements = 64 / sizeof(T);
    for (std::int64_t i = asks.lines; i > 0; --i, line += elements) {
      __builtin_prefetch(line, 0, 2);
    }
    until = --times > 0 ? asks.every : INT64_MAX;
    asm("" : "+m"(*this));
  }

  const Trickle<T>& asks;
  const T* line;
  std::int64_t times, until;
};
// Of a task that has none.
struct NoTrickling {
  static constexpr bool trickles = false;
  void begin_tile() const {}
};

// The first lines of the right operand's next stretch, which lies elsewhere: a column has but one
// number of it for each step, so that a kernel of a single column soon waits for it.
template <class T, class Right>
[[gnu::always_inline]] inline void ask_for_stretch(const Right& right, std::int64_t kc,
                                                   const Stretch& next, const KernelTask<T>& task) {
  constexpr std::int64_t most_lines = 8, line = 64;
  const auto bytes = [](std::int64_t elements) {
    return elements * static_cast<std::int64_t>(sizeof(T));
  };
  const char* at =
      reinterpret_cast<const char*>(right.first) + bytes(kc * task.right.step + next.right_jump);
  const std::int64_t all = bytes(next.kc * task.right.step);
  const std::int64_t apart = bytes(task.right.step) > line ? bytes(task.right.step) : line;
  const std::int64_t some = all < most_lines * apart ? all : most_lines * apart;
  for (std::int64_t b = 0; b < some; b += apart) __builtin_prefetch(at + b, 0, 3);
}

// One tile. Its left panel begins at `left`. Where `later` asks for lines, the left operand waits
// in the second cache, and is brought into the first one a few steps before it is read; left_ahead
// asks for nothing.
template <class T, int bytes, int vectors, int columns, class Right, class Later>
[[gnu::always_inline]] inline void multiply_tile(const T* left, Right right, ResultTile<T> c,
                                                 ResultTile<T> ahead, const KernelTask<T>& task,
                                                 const Fetch<T>& fetch, Later& later,
                                                 std::int64_t left_ahead) {
  constexpr bool trickles = Later::trickles;
  typedef T Vector __attribute__((vector_size(bytes)));
  // In memory only as aligned as an element, since a tile of C may begin anywhere.
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  constexpr int line = 64 / static_cast<int>(sizeof(T));

  // Source: measured on an Intel Xeon (Sapphire Rapids), 3 x 3 filters on images of 7 x 7 and 512
  // channels, 32 x 7: 1.23 times as fast as without at 8, 1.24 at 32; other layers are slower
  // at 32.
  constexpr int steps_near = 8;

  std::int64_t kc = task.kc;
  const std::int64_t left_step = task.left.step;
  asm("" : "+r"(ahead.columns));  // else all those addresses would be kept through the loop
  Vector sum[columns][vectors];
  const auto step = [&](bool fetch_left, bool first) __attribute__((always_inline)) {
    right.hide();
    Vector l[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
      l[v] = *reinterpret_cast<const Stored*>(left + v * lanes);
      // The last byte of a line, or of the rows: they may begin within a line, which the tile of
      // rows before them has read.
      if (fetch_left && ((v + 1) * lanes % line == 0 || v + 1 == vectors)) {
        __builtin_prefetch(left + left_ahead + (v + 1) * lanes - 1, 0, 2);
      }
      if (trickles && v * lanes % line == 0) {
        __builtin_prefetch(left + v * lanes + steps_near * vectors * lanes, 0, 3);
      }
    }
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) {
        sum[j][v] = first ? l[v] * right[j] : sum[j][v] + l[v] * right[j];
      }
    }
    left += left_step;
    right.next();
  };

  step(!trickles, true);  // there is at least one, and it spares setting the sums to zero
  --kc;
  std::int64_t runs = fetch.runs, lines = fetch.lines;
  const T *asked = fetch.first, *run = fetch.first;
  // A column of the tile ahead with every `vectors` steps of k. Kernels of lanes have few steps,
  // and ask for what is read next at the same time.
  int fetched = 0;
  for (; fetched < columns && kc >= vectors; ++fetched, kc -= vectors) {
    const T* column = ahead.first + ahead.columns[fetched];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
      if (v * lanes % line == 0) __builtin_prefetch(column + v * lanes, 1);
      step(!trickles, false);
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
#pragma GCC unroll 16
    for (int v = 0; v < vectors * lanes; v += line) __builtin_prefetch(column + v, 1);
  }
  for (const Stretch *next = task.stretches, *end = next + task.more_stretches;; ++next) {
    if constexpr (columns == 1 && !Right::by_lane) {
      if (next != end) ask_for_stretch(right, kc, *next, task);
    }
    for (; runs > 0 && kc > 0; --kc) {
      __builtin_prefetch(asked, 0, 2);
      asked += line;
      if (--lines == 0) {
        asked = run += fetch.apart;
        lines = fetch.lines;
        --runs;
      }
      step(!trickles, false);
    }
    if constexpr (trickles) {
      while (kc > 0) {
        const std::int64_t steps = kc < later.until ? kc : later.until;
        kc -= steps;
        later.until -= steps;
        for (std::int64_t i = steps; i > 0; --i) step(false, false);
        if (later.until == 0) later.ask();
      }
    } else {
      if (left_ahead != 0) {
        for (; kc > 0; --kc) step(true, false);
      }
      for (; kc > 0; --kc) step(false, false);
    }
    if (next == end) break;
    left += next->left_jump;
    right.move(next->right_jump);
    kc = next->kc;
  }

  asm("" : "+r"(c.columns));
  const auto store = [&](auto&& result) __attribute__((always_inline)) {
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 16
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

// A vector of the first `count` elements from `from` on, zeros behind them. `count` is below a
// vector's.
template <class T, int bytes>
[[gnu::always_inline]] inline auto load_part(const T* from, std::int64_t count) {
  typedef T Vector __attribute__((vector_size(bytes)));
  if constexpr (SomeLanes<T, bytes>::exist) {
    return SomeLanes<T, bytes>(bytes / static_cast<int>(sizeof(T)) - count).load(from);
  }
  Vector part{};
  for (std::int64_t i = 0; i < count; ++i) part[i] = from[i];
  return part;
}

// `count` elements, less than a vector, and zeros: the same lanes of all that are loaded.
template <class T, int bytes>
struct Part {
  // From `from` on. `begin` is no further, and in the same tensor.
  [[gnu::always_inline]] auto load(const T* from, const T*) const {
    return load_part<T, bytes>(from, count);
  }
  std::int64_t count;
};
#if defined(__AVX2__)
template <class T>
struct Part<T, 32> : LastLanes<T> {
  using LastLanes<T>::LastLanes;
};
#endif

// From each block of 2 `together` lanes of two vectors: the sums of a's halves, then of b's.
template <int together, class Vector, int... lane>
[[gnu::always_inline]] inline Vector folded(const Vector& a, const Vector& b,
                                            std::integer_sequence<int, lane...>) {
  constexpr int lanes = sizeof...(lane), block = 2 * together;
  // Where a lane's first summand is; the second one lies `together` behind it.
  constexpr auto from = [](int l) {
    const int begin = l / block * block, place = l % block;
    return place < together ? begin + place : lanes + begin + place - together;
  };
  return __builtin_shufflevector(a, b, from(lane)...) +
         __builtin_shufflevector(a, b, (from(lane) + together)...);
}

// The sums of the elements of `count` vectors, one behind the other; count is at most `lanes`.
template <int lanes, int count, int together, class Vector>
[[gnu::always_inline]] inline void add_lanes(Vector* v) {
  if constexpr (together < lanes) {
#pragma GCC unroll 16
    for (int i = 0; i < count; i += 2) {
      v[i / 2] = folded<together>(v[i], i + 1 < count ? v[i + 1] : Vector{},
                                  std::make_integer_sequence<int, lanes>());
    }
    add_lanes<lanes, (count + 1) / 2, 2 * together>(v);
  }
}

// The sum of each vector's elements.
template <class T, int bytes, int count, class Vector>
[[gnu::always_inline]] inline void add_up(Vector* v, T* total) {
  typedef T Whole __attribute__((vector_size(bytes), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  constexpr int now = count < lanes ? count : lanes;
  add_lanes<lanes, now, 1>(v);
  *reinterpret_cast<Whole*>(total) = v[0];
  if constexpr (count > now) add_up<T, bytes, count - now>(v + now, total + now);
}

// Where kernels along k write a result.
template <class T>
[[gnu::always_inline]] inline void update_with(T* to, T sum, const KernelTask<T>& task) {
  using Kind = typename Update<T>::Kind;
  const Update<T>& update = task.update;
  if (task.kind == Kind::overwrite) {
    *to = sum;
  } else if (task.kind == Kind::add) {
    *to += sum;
  } else {
    *to = update.beta == 0 ? update.alpha * sum : update.beta * *to + update.alpha * sum;
  }
}

// One tile whose vectors run along k.
template <class T, int bytes, int rows, int columns>
[[gnu::always_inline]] inline void multiply_tile_along_k(Apart<T, bytes> left,
                                                         Apart<T, bytes> right, ResultTile<T> c,
                                                         ResultTile<T> ahead,
                                                         const KernelTask<T>& task) {
  typedef T Vector __attribute__((vector_size(bytes)));
  using Places = Apart<T, bytes>;
  constexpr int lanes = bytes / static_cast<int>(sizeof(T)), results = rows * columns;
  // Column by column. A multiply-add waits for the one before it of the same sum, so few results
  // have several sums each.
  constexpr int chains = results < 8 ? 8 / results : 1;
  Vector sum[chains * results] = {};
  const std::int64_t right_ahead = task.right_ahead;
  const auto step = [&](int chain, auto&& load, auto&& ask) __attribute__((always_inline)) {
    left.hide();
    right.hide();
    Vector l[rows];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) l[i] = load(left, i, task.left.first);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
      ask(right.place(j));
      const Vector r = load(right, j, task.right.first);
#pragma GCC unroll 4
      for (int i = 0; i < rows; ++i) sum[chain * results + j * rows + i] += l[i] * r;
    }
    left.next();
    right.next();
  };
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) __builtin_prefetch(ahead.first + ahead.columns[j], 1);
  std::int64_t kc = task.kc;
  for (const Stretch *next = task.stretches, *end = next + task.more_stretches;; ++next) {
    const auto steps = [&](auto&& ask) __attribute__((always_inline)) {
      const auto whole = [](const Places& operand, int i, const T*) -> Vector {
        return operand[i];
      };
      for (; kc >= chains * lanes; kc -= chains * lanes) {
#pragma GCC unroll 8
        for (int chain = 0; chain < chains; ++chain) step(chain, whole, ask);
      }
      for (; kc >= lanes; kc -= lanes) step(0, whole, ask);
      if (kc == 0) return;
      const Part<T, bytes> part{kc};
      step(
          0,
          [&](const Places& operand, int i, const T* begin) -> Vector {
            return part.load(operand.place(i), begin);
          },
          ask);
    };
    if (right_ahead != 0 && (next == end || task.right_is_new)) {
      steps([&](const T* from) { __builtin_prefetch(from + right_ahead, 0, 2); });
    } else {
      steps([](const T*) {});
    }
    if (next == end) break;
    // A part of a vector counted as a whole one.
    const std::int64_t beyond = kc > 0 ? kc - lanes : 0;
    left.move(next->left_jump + beyond);
    right.move(next->right_jump + beyond);
    kc = next->kc;
  }

#pragma GCC unroll 8
  for (int chain = 1; chain < chains; ++chain) {
#pragma GCC unroll 8
    for (int r = 0; r < results; ++r) sum[r] += sum[chain * results + r];
  }
  alignas(bytes) T total[(results + lanes - 1) / lanes * lanes];
  add_up<T, bytes, results>(sum, total);
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
    T* const column = c.first + c.columns[j];
#pragma GCC unroll 4
    for (int i = 0; i < rows; ++i) {
      update_with(column + (c.rows[i] - c.rows[0]), total[j * rows + i], task);
    }
  }
}

// One tile whose last vector of rows is a part of one. It asks for nothing ahead.
template <class T, int bytes, int vectors, int columns, class Right>
[[gnu::always_inline]] inline void multiply_part(const T* left, Right right, ResultTile<T> c,
                                                 const KernelTask<T>& task) {
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  const SomeLanes<T, bytes> last(task.lanes_short);
  const auto load = [&](const T* from, int v, bool whole) __attribute__((always_inline))->Vector {
    if (v + 1 == vectors && !whole) return last.load(from + v * lanes);
    return *reinterpret_cast<const Stored*>(from + v * lanes);
  };
  Vector sum[columns][vectors] = {};
  const auto step = [&](bool whole) __attribute__((always_inline)) {
    right.hide();
    Vector l[vectors];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) l[v] = load(left, v, whole);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) {
#pragma GCC unroll 16
      for (int v = 0; v < vectors; ++v) sum[j][v] += l[v] * right[j];
    }
    left += task.left.step;
    right.next();
  };
  // What lies behind the rows of a place is before the end of the last one's (kernels/emitter.hpp).
  const bool reads_on = !last.masks && task.left.step >= task.lanes_short;
  std::int64_t kc = task.kc;
  for (const Stretch *next = task.stretches, *end = next + task.more_stretches;; ++next) {
    if (columns == 1 && next != end) ask_for_stretch(right, kc, *next, task);
    if (reads_on) {
      for (; kc > 1; --kc) step(true);
    }
    for (; kc > 0; --kc) step(false);
    if (next == end) break;
    left += next->left_jump;
    right.move(next->right_jump);
    kc = next->kc;
  }
  using Kind = typename Update<T>::Kind;
  const T alpha = task.update.alpha, beta = task.update.beta;
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
    T* const column = c.first + c.columns[j];
#pragma GCC unroll 16
    for (int v = 0; v < vectors; ++v) {
      Vector result = sum[j][v];
      if (task.kind == Kind::any) result *= alpha;
      if (task.kind == Kind::add) result += load(column, v, false);
      if (task.kind == Kind::any && beta != 0) result += beta * load(column, v, false);
      if (v + 1 == vectors) {
        last.store(column + v * lanes, result);
      } else {
        *reinterpret_cast<Stored*>(column + v * lanes) = result;
      }
    }
  }
}

// The tiles of a task, one after the other: tile(left, right, c, next tile of C, fetch, later,
// tiles behind it).
template <class T, class Right, class Later, class Tile>
[[gnu::always_inline]] inline void multiply_by(Right right, const KernelTask<T>& task,
                                               const ResultTile<T>& ahead, Later later,
                                               Tile&& tile) {
  const T* left = task.left.first;
  ResultTile<T> c = task.c;
  Fetch<T> fetch = task.fetch;
  for (std::int64_t more = task.tiles - 1;; --more) {
    ResultTile<T> next = ahead;
    if (more > 0) {
      const std::int64_t* next_row = c.rows + task.onwards.row_step;
      next = {c.first + (*next_row - *c.rows), c.columns + task.onwards.column_step, next_row};
      // The table may be as long as C is, and is read an entry here and there.
      __builtin_prefetch(next_row + 8 * task.onwards.row_step);
    }
    tile(left, right, c, next, fetch, later, more);
    if (more == 0) return;
    later.begin_tile();
    fetch.first += fetch.onwards;
    if (fetch.onwards == 0) fetch.runs = 0;
    left += task.onwards.left;
    right.move(task.onwards.right);
    c = next;
  }
}

// `vectors` vectors of `bytes` for the rows, `columns` columns. As MicrokernelCode.
template <class T, int bytes, int vectors, int columns, class Right, class Later = NoTrickling>
[[gnu::always_inline]] inline void multiply_rows(Right right, const KernelTask<T>& task,
                                                 const ResultTile<T>& ahead, Later later = {}) {
  multiply_by<T>(
      right, task, ahead, later,
      [&](const T* left, Right columns_there, ResultTile<T> c, ResultTile<T> next,
          const Fetch<T>& fetch, Later& asking, std::int64_t more) __attribute__((always_inline)) {
        const bool ends = more == 0 && task.left_ends;
        multiply_tile<T, bytes, vectors, columns>(left, columns_there, c, next, task, fetch, asking,
                                                  ends ? 0 : task.left_ahead);
      });
}
// A function of its own: in one, the compiler would keep less of each loop in registers.
template <class T, int bytes, int vectors, int columns>
[[gnu::noinline]] void multiply_trickling(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  multiply_rows<T, bytes, vectors, columns>(Apart<T>(task.right), task, ahead,
                                            Trickling<T>(task.trickle));
}
template <class T, int bytes, int vectors, int columns>
void multiply(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  if (task.right.apart == 1) {
    multiply_rows<T, bytes, vectors, columns>(Neighbours<T>(task.right), task, ahead);
  } else if (task.trickle.times == 0) {
    multiply_rows<T, bytes, vectors, columns>(Apart<T>(task.right), task, ahead);
  } else {
    multiply_trickling<T, bytes, vectors, columns>(task, ahead);
  }
}

// One vector of rows, each lane with columns of its own.
template <class T, int bytes, int columns>
void multiply_lanes(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  multiply_rows<T, bytes, 1, columns>(Apart<T, bytes>(task.right), task, ahead);
}

// The same of fewer rows than a vector has. One tile, and it asks for nothing ahead.
template <class T, int bytes, int columns>
void multiply_lane_part(const KernelTask<T>& task, const ResultTile<T>&) {
  typedef T Vector __attribute__((vector_size(bytes)));
  typedef T Stored __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias));
  const std::int64_t rows = bytes / static_cast<int>(sizeof(T)) - task.lanes_short;
  const T* left = task.left.first;
  Apart<T, bytes> right(task.right);
  Vector sum[columns] = {};
  const auto step = [&](bool whole) __attribute__((always_inline)) {
    const auto load = [&](const T* from) __attribute__((always_inline))->Vector {
      if (whole) return *reinterpret_cast<const Stored*>(from);
      return load_part<T, bytes>(from, rows);
    };
    right.hide();
    const Vector l = load(left);
#pragma GCC unroll 16
    for (int j = 0; j < columns; ++j) sum[j] += l * load(right.place(j));
    left += task.left.step;
    right.next();
  };
  // As in multiply_part().
  const bool reads_on = !SomeLanes<T, bytes>::masks && task.left.step >= task.lanes_short &&
                        task.right.step >= task.lanes_short;
  std::int64_t kc = task.kc;
  for (const Stretch *next = task.stretches, *end = next + task.more_stretches;; ++next) {
    if (reads_on) {
      for (; kc > 1; --kc) step(true);
    }
    for (; kc > 0; --kc) step(false);
    if (next == end) break;
    left += next->left_jump;
    right.move(next->right_jump);
    kc = next->kc;
  }
#pragma GCC unroll 16
  for (int j = 0; j < columns; ++j) {
    auto* to = reinterpret_cast<Stored*>(task.c.first + task.c.columns[j]);
    Vector result = task.update.alpha * sum[j];
    if (task.update.beta != 0) result += task.update.beta * *to;
    *to = result;
  }
}

// Rows that fill no vector.
template <class T, int bytes, int vectors, int columns, class Right>
[[gnu::always_inline]] inline void multiply_parts(Right right, const KernelTask<T>& task,
                                                  const ResultTile<T>& ahead) {
  multiply_by<T>(
      right, task, ahead, NoTrickling(),
      [&](const T* left, Right columns_there, ResultTile<T> c, ResultTile<T>, const Fetch<T>&,
          NoTrickling&, std::int64_t) __attribute__((always_inline)) {
        multiply_part<T, bytes, vectors, columns>(left, columns_there, c, task);
      });
}
template <class T, int bytes, int vectors, int columns>
void multiply_part_rows(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  if (task.right.apart == 1) {
    multiply_parts<T, bytes, vectors, columns>(Neighbours<T>(task.right), task, ahead);
  } else {
    multiply_parts<T, bytes, vectors, columns>(Apart<T>(task.right), task, ahead);
  }
}

// Vectors along k.
template <class T, int bytes, int rows, int columns>
void multiply_along_k(const KernelTask<T>& task, const ResultTile<T>& ahead) {
  using Places = Apart<T, bytes>;
  constexpr int lanes = bytes / static_cast<int>(sizeof(T));
  multiply_by<T>(
      Places({task.right.first, lanes, task.right.apart}), task, ahead, NoTrickling(),
      [&](const T* left, Places right, ResultTile<T> c, ResultTile<T> next, const Fetch<T>&,
          NoTrickling&, std::int64_t) __attribute__((always_inline)) {
        multiply_tile_along_k<T, bytes, rows, columns>(Places({left, lanes, task.left.apart}),
                                                       right, c, next, task);
      });
}

// Whether the accumulators leave enough registers: a column of the left operand, and a vector for
// the right one. With AVX-512 the right one needs none, since the multiplication reads its elements
// from memory; and where there is but one column it reads the left one there, but for a part of a
// vector and its mask.
constexpr bool fits(int bytes, int vectors, int columns) {
  if (bytes < 64 && columns == 1) return vectors + 3 <= 16;
  return vectors * columns <= (bytes == 64 ? 32 - vectors : 16 - vectors - 1);
}

// The code of a tile, or null where there are too few registers.
template <class T, int bytes, int vectors, int columns>
constexpr Microkernel<T> member() {
  if constexpr (fits(bytes, vectors, columns)) return multiply<T, bytes, vectors, columns>;
  return nullptr;
}
template <class T, int bytes, int vectors, int columns>
constexpr Microkernel<T> member_of_parts() {
  if constexpr (SomeLanes<T, bytes>::exist && fits(bytes, vectors, columns)) {
    return multiply_part_rows<T, bytes, vectors, columns>;
  }
  return nullptr;
}
template <class T, int bytes, int rows, int columns>
constexpr Microkernel<T> member_along_k() {
  constexpr int shorter = rows < columns ? rows : columns;
  if constexpr (rows * columns + shorter + 1 <= (bytes == 64 ? 32 : 16)) {
    return multiply_along_k<T, bytes, rows, columns>;
  }
  return nullptr;
}
template <class T, int bytes, int columns>
constexpr Microkernel<T> member_by_lane() {
  if constexpr (fits(bytes, 1, columns)) return multiply_lanes<T, bytes, columns>;
  return nullptr;
}

template <class T, int bytes, int columns>
constexpr Microkernel<T> member_lane_part() {
  if constexpr (fits(bytes, 1, columns)) return multiply_lane_part<T, bytes, columns>;
  return nullptr;
}

#define TCSIM_MEMBERS(member, ...)                                                       \
  {                                                                                      \
    member<__VA_ARGS__, 1>(), member<__VA_ARGS__, 2>(), member<__VA_ARGS__, 3>(),        \
        member<__VA_ARGS__, 4>(), member<__VA_ARGS__, 5>(), member<__VA_ARGS__, 6>(),    \
        member<__VA_ARGS__, 7>(), member<__VA_ARGS__, 8>(), member<__VA_ARGS__, 9>(),    \
        member<__VA_ARGS__, 10>(), member<__VA_ARGS__, 11>(), member<__VA_ARGS__, 12>(), \
        member<__VA_ARGS__, 13>(), member<__VA_ARGS__, 14>()                             \
  }

#define TCSIM_FOUR_TIMES(member, T, bytes)                                     \
  {                                                                            \
    TCSIM_MEMBERS(member, T, bytes, 1), TCSIM_MEMBERS(member, T, bytes, 2),    \
        TCSIM_MEMBERS(member, T, bytes, 3), TCSIM_MEMBERS(member, T, bytes, 4) \
  }

#define TCSIM_TALL(member, T, bytes)                                                     \
  {                                                                                      \
    member<T, bytes, 5, 1>(), member<T, bytes, 6, 1>(), member<T, bytes, 7, 1>(),        \
        member<T, bytes, 8, 1>(), member<T, bytes, 9, 1>(), member<T, bytes, 10, 1>(),   \
        member<T, bytes, 11, 1>(), member<T, bytes, 12, 1>(), member<T, bytes, 13, 1>(), \
        member<T, bytes, 14, 1>(), member<T, bytes, 15, 1>(), member<T, bytes, 16, 1>()  \
  }

template <class T, int bytes>
constexpr KernelFamily<T> family() {
  return {bytes / static_cast<int>(sizeof(T)),
          TCSIM_FOUR_TIMES(member, T, bytes),
          TCSIM_MEMBERS(member_by_lane, T, bytes),
          TCSIM_MEMBERS(member_lane_part, T, bytes),
          TCSIM_FOUR_TIMES(member_along_k, T, bytes),
          TCSIM_FOUR_TIMES(member_of_parts, T, bytes),
          TCSIM_TALL(member, T, bytes),
          TCSIM_TALL(member_of_parts, T, bytes)};
}

#undef TCSIM_TALL
#undef TCSIM_FOUR_TIMES
#undef TCSIM_MEMBERS

}  // namespace
}  // namespace tcsim
