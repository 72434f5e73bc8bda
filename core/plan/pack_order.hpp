// Where the elements of a packed tile lie in its buffer, and in which order they are copied.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "core/plan/arrays.hpp"
#include "core/plan/tile.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// How a packed buffer is laid out and filled.
struct PackPlan {
  TensorId tensor = TensorId::A;
  ArrayId buffer{};             // where the copy is, in the plan's table of arrays
  DimClass rows = DimClass::m;  // the group that runs across a micropanel: m or n
  std::int64_t panel = 0;       // rows of a micropanel: mr or nr
  struct LayoutLoop {
    bool over_rows = false;  // otherwise over k
    std::int64_t tile = 0;
  };
  std::vector<LayoutLoop> layout;  // the loops inside the Pack that the tensor follows
  // Where the tensor has the batch, places of it are packed one behind the other: as many as the
  // range is at the pack, `place` elements each. A place of the batch has that of its number modulo
  // `places`.
  std::int64_t places = 1, place = 0;
  std::int64_t capacity = 0;  // elements of the buffer
  // Filling order, so that a source line is read whole. Neighbours along the source's stride-one
  // dimension are `apart` steps apart in the fused index of the group that holds it (rows or k).
  // for_each_block names together what reads neighbours, a page of them, since memory is slow to
  // begin and fast to go on: panel_group micropanels where that is 1, else up to `strips` blocks;
  // k_chunk columns at a time.
  bool along_rows = true;  // which group holds the stride-one dimension
  std::int64_t apart = 1;
  std::int64_t strips = 1;
  std::int64_t panel_group = 1;
  std::int64_t k_chunk = 1;

  // Where the first of the tile's places of the batch is in the buffer.
  std::int64_t place_of(const Tile& tile) const {
    return places == 1 ? 0 : tile[DimClass::batch].begin % places * place;
  }
  // Offset in the buffer of a micropanel's piece, for the pack of `tile`: row and k count from the
  // tile's beginning, row is a multiple of `panel`. Of its first place of the batch.
  std::int64_t offset(const Tile& tile, std::int64_t row, std::int64_t k) const;
  // How many columns from k on, which counts likewise, are neighbours in the buffer: to the end of
  // the innermost tile of k.
  std::int64_t columns_left(const Tile& tile, std::int64_t k) const;
};

// One contiguous piece of a packed buffer: k_size columns of `panel` elements, the first `rows` of
// each from the tensor, the rest zero.
struct PackBlock {
  std::int64_t row = 0, rows = 0;  // fused index of the first row (m or n), rows to copy
  std::int64_t k = 0, k_size = 0;  // fused index of the first column
  std::int64_t destination = 0;    // element offset in the buffer
};

// Calls f(std::span<const PackBlock>) for all pieces of the first place of one pack, in the order
// in which it is filled: those of the other places (for_each_place()) follow each time. Blocks
// named together have as many columns each and read neighbours: for every column, the rows are read
// one by one for all blocks, then every block's column is written.
template <class F>
void for_each_block(const PackPlan& pack, const Tile& tile, F&& f);

// Calls f(shift, destination) for each place of the batch in a pack of the tile: from the first
// one's elements to those of it in the tensor and in the buffer. `offsets`: of the batch in the
// tensor, Offsets or a table.
template <class Table, class F>
void for_each_place(const PackPlan& pack, const Tile& tile, const Table& offsets, F&& f) {
  if (pack.places == 1) return f(std::int64_t{0}, std::int64_t{0});
  const Interval batch = tile[DimClass::batch];
  for (std::int64_t b = batch.begin; b < batch.begin + batch.size; ++b) {
    f(offsets[b] - offsets[batch.begin], (b % pack.places) * pack.place - pack.place_of(tile));
  }
}

namespace detail {

// Enumerates the blocks of one pack.
template <class F>
class Filler {
 public:
  Filler(const PackPlan& pack, const Tile& tile, F& f)
      : pack_(pack), tile_(tile), rows_(tile[pack.rows]), ks_(tile[DimClass::k]), f_(f) {}

  void fill() {
    const std::int64_t panel = pack_.panel, chunk = pack_.k_chunk;
    if (pack_.apart == 1) {
      const std::int64_t together = pack_.panel_group * panel;
      for (std::int64_t row = 0; row < rows_.size; row += together) {
        for (std::int64_t k = 0; k < ks_.size; k += chunk) {
          const std::int64_t end = std::min(rows_.size, row + together);
          for (std::int64_t r = row; r < end; r += panel) add(r, k, k + chunk);
          flush();
        }
      }
    } else if (pack_.along_rows) {
      for_each_sharing(rows_, panel, [&](const auto& sharing) {
        for (std::int64_t k = 0; k < ks_.size; k += chunk) {
          sharing([&](std::int64_t row, std::int64_t) { add(row, k, k + chunk); });
          flush();
        }
      });
    } else {
      for (std::int64_t row = 0; row < rows_.size; row += panel) {
        for_each_sharing(ks_, chunk, [&](const auto& sharing) {
          sharing([&](std::int64_t k, std::int64_t end) { add(row, k, end); });
          flush();
        });
      }
    }
  }

 private:
  // Cuts a range into strips of `apart` that begin at multiples of it in the fused index, takes
  // `strips` of them at a time, and the q-th step of each together.
  template <class G>
  void for_each_sharing(Interval range, std::int64_t step, G&& g) {
    const std::int64_t apart = pack_.apart, wide = apart * pack_.strips;
    for (std::int64_t from = range.begin / wide * wide; from < range.begin + range.size;
         from += wide) {
      for (std::int64_t q = 0; q < std::min(apart, range.size); q += step) {
        g([&](auto&& each) {
          for (std::int64_t strip = from; strip < from + wide; strip += apart) {
            const std::int64_t place = first_step(range, strip, step) + q;
            const std::int64_t end = std::min(strip + apart - range.begin, range.size);
            if (place < end) each(place, std::min(place + step, end));
          }
        });
      }
    }
  }

  // The first beginning of a step within the strip, counted from the range's beginning. A step
  // belongs to the strip in which it begins; along rows steps are micropanels and begin at whole
  // ones.
  std::int64_t first_step(Interval range, std::int64_t strip, std::int64_t step) const {
    const std::int64_t from = std::max<std::int64_t>(0, strip - range.begin);
    return pack_.along_rows ? (from + step - 1) / step * step : from;
  }

  // Columns from k to `end` of the micropanel at a row, yet to be named.
  struct Piece {
    std::int64_t row, k, end;
  };

  void add(std::int64_t row, std::int64_t k, std::int64_t end) {
    pieces_.push_back({row, k, std::min(end, ks_.size)});
  }

  // Names the pieces, cut so that all have as many columns and none crosses the end of an innermost
  // tile of k: micropanels are contiguous only within those.
  void flush() {
    while (!pieces_.empty()) {
      std::int64_t size = pieces_.front().end - pieces_.front().k;
      for (const Piece& p : pieces_)
        size = std::min({size, p.end - p.k, pack_.columns_left(tile_, p.k)});
      blocks_.clear();
      for (Piece& p : pieces_) {
        blocks_.push_back({rows_.begin + p.row, std::min(pack_.panel, rows_.size - p.row),
                           ks_.begin + p.k, size, pack_.offset(tile_, p.row, p.k)});
        p.k += size;
      }
      f_(std::span<const PackBlock>(blocks_));
      std::erase_if(pieces_, [](const Piece& p) { return p.k == p.end; });
    }
  }

  const PackPlan& pack_;
  const Tile& tile_;
  Interval rows_, ks_;
  F& f_;
  std::vector<Piece> pieces_;
  std::vector<PackBlock> blocks_;
};

}  // namespace detail

template <class F>
void for_each_block(const PackPlan& pack, const Tile& tile, F&& f) {
  detail::Filler<std::remove_reference_t<F>>(pack, tile, f).fill();
}

}  // namespace tcsim
