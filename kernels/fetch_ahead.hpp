// Fetches what the next pack of an operand will read, little by little while kernels compute. A
// pack waits for memory and a kernel leaves it idle; one after the other they take the sum of both
// times. Hints only: what is guessed wrong is slower, not wrong.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/schedule/plan.hpp"

namespace tcsim {

template <class T>
class FetchAhead {
 public:
  // Both must outlive it.
  FetchAhead(const Plan& plan, const PackPlan& pack) : plan_(plan), pack_(pack) {}

  // `tile` was just packed; most likely the next one is its neighbour along the rows.
  void after(const Tile& tile, const T* tensor) {
    row_ = rows_.size();
    // Measured: rows that run along memory 66 to 72 % of the peak (tccg:22). Transposed ones touch
    // more pages than address translation holds, and gained nothing or lost.
    if (!pack_.along_rows || pack_.apart > 1) return;
    Range rows = tile[at(pack_.rows)];
    const Range ks = tile[at(DimClass::k)];
    rows.begin += rows.size;
    rows.size = std::min(rows.size, plan_.extent(pack_.rows) - rows.begin);
    if (rows.size <= 0 || rows.size * ks.size > most_bytes / static_cast<std::int64_t>(sizeof(T))) {
      return;
    }
    tensor_ = tensor + plan_.offset(pack_.tensor, DimClass::batch, tile[at(DimClass::batch)].begin);
    lines_of(plan_.offsets(pack_.tensor, pack_.rows), rows, rows_);
    lines_of(plan_.offsets(pack_.tensor, DimClass::k), ks, ks_);
    row_ = k_ = 0;
  }

  // Lines that fetch() has yet to ask for.
  std::int64_t waiting() const {
    if (row_ == rows_.size()) return 0;
    return static_cast<std::int64_t>((ks_.size() - k_) * rows_.size() - row_);
  }

  // So many lines more, while there are any.
  void fetch(std::int64_t lines) {
    for (; lines > 0 && row_ < rows_.size(); --lines) {
      __builtin_prefetch(tensor_ + rows_[row_] + ks_[k_], 0, 2);
      if (++row_ == rows_.size() && ++k_ < ks_.size()) row_ = 0;
    }
  }

 private:
  // More would push the packed operands out of a second cache.
  static constexpr std::int64_t most_bytes = 512 << 10;

  // One offset for each line that the range touches, in the order of memory.
  static void lines_of(const std::int64_t* offsets, Range range, std::vector<std::int64_t>& lines) {
    constexpr std::int64_t line = 64 / sizeof(T);
    lines.assign(1, 0);
    if (offsets == nullptr) return;
    lines.assign(offsets + range.begin, offsets + range.begin + range.size);
    if (!std::is_sorted(lines.begin(), lines.end())) std::sort(lines.begin(), lines.end());
    const auto same = [](std::int64_t a, std::int64_t b) { return a / line == b / line; };
    lines.erase(std::unique(lines.begin(), lines.end(), same), lines.end());
  }

  const Plan& plan_;
  const PackPlan& pack_;
  const T* tensor_ = nullptr;
  std::vector<std::int64_t> rows_, ks_;
  std::size_t row_ = 0, k_ = 0;  // the next one
};

}  // namespace tcsim
