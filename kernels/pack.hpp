// Copies pieces of a tensor into the micropanels of a packed buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/columns.hpp"
#include "kernels/microkernel.hpp"
#include "kernels/strips.hpp"

namespace tcsim {

// Fills the packed copy of one operand. Memory is slow to begin and fast to go on, and hardware
// follows few streams that are long. So what is transposed is read a line's worth of rows at a
// time, along memory as far as it goes. What comes a little later is asked for on the way.
template <class T>
class Packer {
 public:
  // `pack` belongs to `plan`, which must outlive the packer.
  Packer(const Plan& plan, const PackPlan& pack);
  Packer(Packer&&) = default;  // a copy would refer to the tables of what it was made from

  // Copies what `tile` holds of `tensor` into `buffer`: all places of the batch that it has.
  void operator()(const Tile& tile, const T* tensor, T* buffer);

 private:
  void pack_place(const Tile& tile, const T* tensor, T* buffer);
  void pack_places(const Tile& tile, std::int64_t count, T* buffer);
  // How the blocks of a piece lie in the tensor.
  enum class Kind {
    rows,          // rows that are neighbours, in runs of any length
    columns,       // one block whose columns are neighbours
    side_by_side,  // several blocks, some places apart along k: behind each column of the first one
                   // lie those of the others
  };
  // Rows of a block of `rows`, with all of its columns.
  struct Block {
    std::int64_t row, rows, k;  // places are counted from the beginning of the tile
    std::int64_t row_offset;    // in the tensor, beside the tile's first row
    std::int64_t destination;   // in the buffer
    bool one_run;               // its rows are neighbours
  };
  // A line's worth of rows, or all rows where the kind is `rows`, of blocks that for_each_block
  // names together.
  struct Piece {
    Kind kind;
    std::size_t first, count;  // in blocks_, or what is transposed in destinations_
    std::int64_t row_in_block, row, rows, k, columns;
    std::int64_t begin;  // in the tensor
  };
  // What to fill with zeros behind a block's last rows.
  struct Padding {
    std::int64_t destination, rows, columns;
  };
  // Rows that are neighbours in the tensor.
  struct RowRun {
    std::int64_t size, begin;  // in the tensor, beside its places along k
  };
  // A step of the work: as many columns as a line has elements; one of blocks side by side.
  struct Place {
    std::size_t piece = 0;
    std::int64_t column = 0;
  };

  void list_places();
  bool is_whole(const Tile& tile) const;
  void gather(T* buffer) const;
  bool is_listed(const Tile& tile) const;
  void list(const Tile& tile);
  void list_runs(PackBlock block);
  bool rows_are_neighbours(const PackBlock& block) const;
  std::size_t side_by_side(std::span<const PackBlock> blocks) const;
  void list(Kind kind, std::span<const PackBlock> blocks);
  std::int64_t columns_at(const Place& place) const;
  std::int64_t advance(Place& place) const;
  Rows<T> source(const Place& place) const;
  void fill(const Place& place, const Place& ahead);
  void copy_rows(const Piece& piece, std::int64_t column, std::int64_t columns);
  void list_row_runs(const Block& block);
  void fetch_rows(const Place& place) const;
  void copy_lines(const Tile& tile);
  void copy_line(const T* from, std::int64_t k, std::int64_t size, T* to);
  void pad() const;

  const Plan& plan_;
  const PackPlan& pack_;
  // Offsets within the tensor, and tables of them.
  const Offsets& rows_;
  const Offsets& ks_;
  const std::int64_t* row_table_;
  const std::int64_t* k_table_;
  // Of neighbours.
  Runs row_runs_;
  Runs k_runs_;
  Runs batch_runs_;
  bool rows_apart_ = false;   // no two rows are neighbours
  bool has_columns_ = false;  // some that are worth transposing are neighbours along k
  std::vector<std::int64_t> panel_columns_;  // where the columns of a micropanel begin
  Transpose<T> transpose_;
  // The work in hand.
  const T* tensor_ = nullptr;                 // its batch
  T* buffer_ = nullptr;                       // its place of the batch
  std::int64_t first_row_ = 0, first_k_ = 0;  // of the tile
  // What there is to do for a tile, which holds for all that lie alike in the tensor.
  Tile listed_{};
  std::vector<Piece> pieces_;
  std::vector<Block> blocks_;
  std::vector<std::int64_t> destinations_;
  std::vector<Padding> to_pad_;
  Interval listed_rows_{};                     // of a block
  std::vector<RowRun> block_runs_;             // its runs
  std::vector<std::int64_t> places_;           // of what is transposed, columns in the buffer
  std::optional<StripPacker<T>> strips_;       // does it instead
  std::optional<ColumnPacker<T>> in_columns_;  // does it where it can
  // Of an operand that is small as a whole: where each place of the buffer comes from, and the
  // places that no element has. Empty for others. To list its pieces takes longer than to copy it.
  std::vector<std::int32_t> from_;
  std::vector<std::int32_t> padding_;
  Gather<T> gather_;
};

extern template class Packer<float>;
extern template class Packer<double>;

}  // namespace tcsim
