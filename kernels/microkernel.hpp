// The vector microkernels: for each instruction set a family of register tiles, every one that its
// registers hold, made by one template (microkernel_body.hpp). A tile of any other size is covered
// by members of the family. The files that hold them include types, intrinsics and the two
// *_body.hpp alone, so that no inline function compiled with AVX can replace a baseline one at
// link time.
#pragma once

#include <bit>
#include <cstdint>

namespace tcsim {

// A tile of C: column j is contiguous elements at first + columns[j]; `rows` is where the table of
// C's rows has the first one. Kernels along k find row i at rows[i] - rows[0] from it.
template <class T>
struct ResultTile {
  T* first;
  const std::int64_t* columns;
  const std::int64_t* rows = nullptr;
};

// C = alpha (left right) + beta C, where C is not read if beta is zero.
template <class T>
struct Update {
  T alpha = 1, beta = 0;

  // The usual kinds need no multiplication. Kernels are told the kind: if they compared alpha and
  // beta themselves, the comparison would wait behind their multiplications.
  enum class Kind { overwrite, add, any };
  Kind kind() const {
    if (alpha != 1 || (beta != 0 && beta != 1)) return Kind::any;
    return beta == 0 ? Kind::overwrite : Kind::add;
  }
};

// What a kernel reads of an operand at kc places along k: rows of the left one, columns of the
// right one.
template <class T>
struct Panel {
  const T* first;
  std::int64_t step;       // from one place to the next, in elements
  std::int64_t apart = 1;  // from one row or column to the next; rows are neighbours but along k
};

// Steps from one tile of a task to the next: elements along the operands, entries of the table of
// C's rows, entries of its columns.
struct Onwards {
  std::int64_t left = 0, right = 0;
  std::int64_t row_step = 0, column_step = 0;
};

// A stretch of places along k that are evenly apart in both operands, and how many elements from
// the place behind the stretch before the operands go on with it.
struct Stretch {
  std::int64_t kc;
  std::int64_t left_jump = 0, right_jump = 0;
};

// Lines to be asked for while a kernel computes, one with each step of k: all at once they would
// stand in the way of what it loads. `runs` of `lines` neighbours, `apart` elements from one run's
// beginning to the next. For one tile of a task, or for each, `onwards` elements further; the lines
// of `by_lane` kernels are of one run each.
template <class T>
struct Fetch {
  const T* first = nullptr;
  std::int64_t runs = 0, lines = 1, apart = 0;
  std::int64_t onwards = 0;  // 0: during the first tile only
};

// Neighbouring lines that are read much later, and are asked for `lines` at a time with every
// `every`-th step of k. Each tile of a task asks so `times`, and goes on where the one before it
// ended. Then nothing else is asked for of the left operand.
template <class T>
struct Trickle {
  const T* first = nullptr;
  std::int64_t times = 0, lines = 1, every = 1;
};

// Tiles of C to compute one after the other.
template <class T>
struct KernelTask {
  std::int64_t kc;  // of the first stretch, at least 1
  Panel<T> left;    // whole vectors of rows, but for `parts`
  Panel<T> right;
  ResultTile<T> c;
  Update<T> update;
  typename Update<T>::Kind kind;  // of it
  // Of KernelFamily::parts and lane_part alone: lanes of the last vector that are no rows. They
  // are not read at the last place of a stretch, and `parts` do not write them.
  std::int64_t lanes_short = 0;
  // Lines of the left operand that lie so many elements further are fetched meanwhile, for a later
  // tile; none if 0. `left_ends`: the last of several tiles has nothing behind it. (To ask for what
  // is in no page takes a core 65 ns each time: AMD EPYC, Zen 1, virtual machine.)
  std::int64_t left_ahead = 0;
  bool left_ends = false;
  // Kernels along k: the same of the right operand, in the last stretch, or in all of them where
  // all are new. Of an image the tile before has read those before the last one.
  std::int64_t right_ahead = 0;
  bool right_is_new = false;
  std::int64_t tiles = 1;
  Onwards onwards = {};
  // The stretches behind the first one.
  const Stretch* stretches = nullptr;
  std::int64_t more_stretches = 0;
  Fetch<T> fetch = {};
  Trickle<T> trickle = {};
};

// ahead: the tile that a later task will write first. Its lines are fetched meanwhile, some with
//        each step of k: neither too late, nor all at once in the way of what the kernel loads.
template <class T>
using MicrokernelCode = void(const KernelTask<T>& task, const ResultTile<T>& ahead);
template <class T>
using Microkernel = MicrokernelCode<T>*;

// The register tiles of one instruction set and type: 1 to `most_vectors` vectors of `lanes` rows,
// 1 to `most_columns` columns, those of them that fit into the registers. `by_lane`: one vector of
// rows, each lane of which has columns of its own, neighbours in the right operand. More vectors
// would share nothing: a column's vector is read for one multiplication. `along_k`: vectors run
// along k, which are neighbours in both operands, and rows are evenly apart as columns are; a
// vector for each result, and its elements' sum in the end.
// `lane_part`: as `by_lane`, for fewer rows than a vector has (KernelTask::lanes_short), whose
// results take a whole vector in C nevertheless.
// `parts`: the last vector of rows is not whole; null where the instruction set does not read some
// lanes of a vector.
// `tall`: one column of more vectors, up to `most_tall`, and the same with a part of the last one.
// They read long columns of a matrix from beginning to end.
template <class T>
struct KernelFamily {
  static constexpr int most_vectors = 4, most_columns = 14, most_rows = 4, most_tall = 16;

  int lanes;                                        // a power of two
  Microkernel<T> code[most_vectors][most_columns];  // null where there are too few registers
  Microkernel<T> by_lane[most_columns];
  Microkernel<T> lane_part[most_columns];
  Microkernel<T> along_k[most_rows][most_columns];
  Microkernel<T> parts[most_vectors][most_columns];
  Microkernel<T> tall[most_tall - most_vectors];  // of most_vectors + 1 vectors on
  Microkernel<T> tall_parts[most_tall - most_vectors];
  // The same tiles of `code`, or of `parts`, as they are made while the program runs
  // (kernels/generated_kernels.hpp), now if they are not yet and `make`. Null where there are none.
  Microkernel<T> (*generated)(int vectors, int columns, bool part, bool make) = nullptr;

  // Members with `vectors` vectors have columns from 1 up to this, 0 where there are none.
  int columns_for(int vectors) const {
    if (vectors > most_tall) return 0;
    if (vectors > most_vectors) return tall[vectors - 1 - most_vectors] == nullptr ? 0 : 1;
    int n = 0;
    while (n < most_columns && code[vectors - 1][n] != nullptr) ++n;
    return n;
  }
  // Members along k with `rows` rows have columns from 1 up to this.
  int columns_along_k(std::int64_t rows) const {
    int n = 0;
    while (n < most_columns && along_k[rows - 1][n] != nullptr) ++n;
    return n;
  }
  bool has_parts() const { return parts[0][0] != nullptr; }
  // That hold so many rows. (Divisions would take longer than all else between two calls.)
  std::int64_t vectors(std::int64_t rows) const {
    return (rows + lanes - 1) >> std::countr_zero(static_cast<unsigned>(lanes));
  }
  // For so many rows, whole vectors unless it has parts: the quickest code that there is.
  Microkernel<T> of(std::int64_t rows, std::int64_t columns) const {
    if (generated != nullptr && vectors(rows) <= most_vectors) {
      const Microkernel<T> made = generated(static_cast<int>(vectors(rows)),
                                            static_cast<int>(columns), is_part(rows), true);
      if (made != nullptr) return made;
    }
    return compiled(rows, columns);
  }
  Microkernel<T> compiled(std::int64_t rows, std::int64_t columns) const {
    if (const std::int64_t more = vectors(rows) - 1 - most_vectors; more >= 0) {
      return (is_part(rows) ? tall_parts : tall)[more];
    }
    return (is_part(rows) ? parts : code)[vectors(rows) - 1][columns - 1];
  }
  bool is_part(std::int64_t rows) const { return (rows & (lanes - 1)) != 0; }
};

extern const KernelFamily<double> family_f64_avx512, family_f64_avx2, family_f64_plain;
extern const KernelFamily<float> family_f32_avx512, family_f32_avx2, family_f32_plain;

// Rows that run along memory: row r begins at first + offsets[r].
template <class T>
struct Rows {
  const T* first;
  const std::int64_t* offsets;
};

// Rows that run along memory in `from` become columns that do in `to`: element c of row r goes to
// to[columns[c] + r], for all r < row_count, c < column_count. The two do not overlap.
//
// As much of `ahead` is fetched meanwhile, into the second cache. As many lines can be on their way
// there as keep memory busy; into the first cache it is half as many.
template <class T>
using TransposeCode = void(std::int64_t row_count, std::int64_t column_count, Rows<T> from,
                           Rows<T> ahead, T* to, const std::int64_t* columns);
template <class T>
using Transpose = TransposeCode<T>*;

TransposeCode<float> transpose_f32_avx512, transpose_f32_avx2, transpose_f32_plain;
TransposeCode<double> transpose_f64_avx512, transpose_f64_avx2, transpose_f64_plain;

// to[i] = from[offsets[i]] for all i < count. The two do not overlap.
template <class T>
using GatherCode = void(const T* from, const std::int32_t* offsets, std::int64_t count, T* to);
template <class T>
using Gather = GatherCode<T>*;

GatherCode<float> gather_f32_avx512, gather_f32_avx2, gather_f32_plain;
GatherCode<double> gather_f64_avx512, gather_f64_avx2, gather_f64_plain;

}  // namespace tcsim
