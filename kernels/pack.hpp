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
  void operator()(const Tile& tile, const T* tensor, T* buffer) const;

 private:
  void one(const PackBlock& block, const T* tensor, T* buffer) const;
  void together(std::span<const PackBlock> blocks, const T* tensor, T* buffer) const;
  void together_side_by_side(std::span<const PackBlock> blocks, const T* tensor, T* buffer) const;
  bool neighbours(std::span<const PackBlock> blocks) const;
  void copy_rows(const PackBlock& block, const T* tensor, T* to) const;
  void transpose(const PackBlock& block, const T* tensor, T* to) const;
  void gather(const PackBlock& block, const T* tensor, T* to) const;

  const Plan& plan_;
  const PackPlan& pack_;
  const std::int64_t* rows_;  // offsets within the tensor
  const std::int64_t* ks_;
  std::vector<std::int64_t> row_runs_;
  std::vector<std::int64_t> k_runs_;
  std::int64_t k_extent_;
  std::vector<std::int64_t> panel_columns_;  // where the columns of a micropanel begin
  Transpose<T> transpose_;
};

extern template class Packer<float>;
extern template class Packer<double>;

}  // namespace tcsim
