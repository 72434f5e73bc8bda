// The points of a folder of results in some order, a page at a time: what is in memory does not
// grow with their number.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "sweep/cell.hpp"
#include "sweep/result_folder.hpp"

namespace tcsim {

struct RowOrder {
  std::string column;  // empty: by design and workload
  bool descending = false;
  bool operator==(const RowOrder&) const = default;
};

class ResultRows {
 public:
  // Filters and sorts, about a second for a million points (SQLite keeps the order in a temporary
  // file). `filter` is as in sweep/row_filter.hpp. Throws UsageError for a filter or a column that
  // cannot be, InputError where tables cannot be read, Interrupted when asked to stop.
  ResultRows(const ResultFolder& folder, const std::string& filter, const RowOrder& order,
             std::stop_token stop);
  ~ResultRows();

  std::int64_t size() const { return size_; }
  // Rows [first, first + count) as far as there are such. Throws UsageError where the tables cannot
  // be read any more. Not for several threads at once.
  std::vector<Row> read(std::int64_t first, std::int64_t count);
  // Where the point is, if the filter leaves it.
  std::optional<std::int64_t> place(const PointKey& key);

 private:
  class Tables;
  std::unique_ptr<Tables> tables_;
  std::int64_t size_ = 0;
};

}  // namespace tcsim
