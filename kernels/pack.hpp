// Copies pieces of a tensor into the micropanels of a packed buffer.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/schedule/plan.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// Fills the packed copy of one operand.
template <class T>
class Packer {
 public:
  // `pack` belongs to `plan`, which must outlive the packer.
  Packer(const Plan& plan, const PackPlan& pack);

  // Copies what `tile` holds of `tensor` into `buffer`, pieces in the order of for_each_block.
  // While it fills some, the lines of the next ones are fetched.
  void operator()(const Tile& tile, const T* tensor, T* buffer);

 private:
  // How blocks that are named together lie in the tensor.
  enum class Kind {
    rows,          // by runs of neighbours among the rows, as long as they are
    columns,       // one block whose columns are neighbours
    side_by_side,  // each column of the first block has those of the others right behind it
  };
  struct Piece {
    std::vector<PackBlock> blocks;
    Kind kind = Kind::rows;
  };

  Kind kind_of(std::span<const PackBlock> blocks) const;
  bool neighbours(std::span<const PackBlock> blocks) const;
  void fill(const Piece& piece, const Piece& next);
  void copy_rows(const Piece& piece, std::int64_t column);
  void fetch(const Piece& piece, std::int64_t column) const;

  const Plan& plan_;
  const PackPlan& pack_;
  const std::int64_t* rows_;  // offsets within the tensor
  const std::int64_t* ks_;
  std::vector<std::int64_t> row_runs_;
  std::vector<std::int64_t> k_runs_;
  std::vector<std::int64_t> panel_columns_;  // where the columns of a micropanel begin
  Transpose<T> transpose_;
  const T* tensor_ = nullptr;
  T* buffer_ = nullptr;
  Piece piece_, next_;
  std::vector<std::int64_t> places_;  // of a piece's blocks in the buffer
};

extern template class Packer<float>;
extern template class Packer<double>;

}  // namespace tcsim
