// Packs an operand whose stride-one dimension lies behind others in the group of its rows, as `e`
// in m = ae of A[e.a]: what is one element further in memory is `apart` rows further in the group.
// Such rows are strips of `apart` rows; row r of neighbouring strips is one run along memory.
#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/plan.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

template <class T>
class StripPacker {
 public:
  // `pack` belongs to `plan`, which must outlive the packer; along_rows, with apart > 1.
  StripPacker(const Plan& plan, const PackPlan& pack);

  // Copies what `tile` holds of a tensor, whose batch begins at `tensor`, into `buffer`. It takes a
  // line's worth of rows of some strips at a time, along k as far as the tile goes.
  void operator()(const Tile& tile, const T* tensor, T* buffer);

 private:
  // Rows of a strip that lie in one micropanel.
  struct Part {
    std::int64_t strip, row, rows;  // of those taken at a time
    std::int64_t panel, place;      // which micropanel, and the place in its first column
  };
  // Columns that are neighbours in the buffer.
  struct Run {
    std::int64_t begin, end;
  };

  // What runs_ and panel_places_ depend on.
  struct Listed {
    std::int64_t rows = 0;
    Interval ks;
    std::int64_t place = 0;  // of the first place of the batch in the buffer
    bool operator==(const Listed&) const = default;
  };

  void list_runs();
  void list_parts(std::int64_t first_row);
  void fill(const Run& run, const std::int64_t* panels);
  std::int64_t neighbours(std::int64_t strip) const;

  const Plan& plan_;
  const PackPlan& pack_;
  // Offsets within the tensor.
  const Offsets& all_rows_;
  const std::int64_t* row_table_;
  const Offsets& ks_;
  Transpose<T> transpose_;
  const std::int64_t panels_apart_, rest_apart_;  // whole micropanels of a strip, and rows beyond
  std::int64_t most_strips_;
  std::vector<std::int64_t> square_columns_;
  std::vector<T> square_;
  // The work in hand.
  Tile tile_{};
  const T* tensor_ = nullptr;
  T* buffer_ = nullptr;
  Listed listed_;
  std::int64_t panels_ = 0;
  std::vector<Run> runs_;
  std::vector<std::int64_t> panel_places_;  // in the buffer, of each micropanel in each run
  // Of the rows that are taken together: `rows_` of each of `strips_` strips from first_row_ on.
  std::int64_t first_row_ = 0, rows_ = 0, strips_ = 0;
  const std::int64_t* rows_ahead_ = nullptr;  // those that are taken next
  std::vector<Part> parts_;
  bool whole_ = false;  // one part for each strip, with all rows
  std::vector<std::int64_t> places_;
};

extern template class StripPacker<float>;
extern template class StripPacker<double>;

}  // namespace tcsim
