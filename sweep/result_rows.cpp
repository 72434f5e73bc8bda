#include "sweep/result_rows.hpp"

#include <fmt/format.h>

#include "sweep/database.hpp"
#include "sweep/row_filter.hpp"

namespace tcsim {

// A connection with the order in a table of its own: the number of a row is its place.
class ResultRows::Tables {
 public:
  Tables(const ResultFolder& folder, const std::string& filter, const RowOrder& order,
         std::stop_token stop)
      : db_(results_file(folder.path()), Database::Mode::read) {
    std::string names;
    for (std::size_t i = 0; i < folder.columns().size(); ++i) {
      names += (i ? ", " : "") + folder.column_sql(i);
    }
    columns_ = static_cast<int>(folder.columns().size());
    std::string by = "p.design, p.workload";
    if (!order.column.empty()) {
      by = fmt::format("{}{} NULLS LAST, {}", folder.column_sql(folder.column(order.column)),
                       order.descending ? " DESC" : "", by);
    }
    const std::string kept = filter_sql(folder, filter);
    db_.stop_when(std::move(stop));
    db_.run(
        fmt::format("CREATE TEMP TABLE places AS "
                    "SELECT p.design AS design, p.workload AS workload {} WHERE {} ORDER BY {}",
                    ResultFolder::join(), kept, by));
    db_.stop_when({});
    page_ = std::make_unique<Statement>(
        db_, fmt::format("SELECT {} FROM temp.places t "
                         "JOIN points p ON p.design = t.design AND p.workload = t.workload "
                         "JOIN designs d ON d.design = t.design "
                         "WHERE t.rowid BETWEEN ?1 AND ?2 ORDER BY t.rowid",
                         names));
  }

  std::int64_t size() {
    Statement s(db_, "SELECT max(rowid) FROM temp.places");
    s.step();
    return s.integer(0);
  }

  std::vector<Row> read(std::int64_t first, std::int64_t count) {
    page_->bind(0, first + 1).bind(1, first + count);
    std::vector<Row> rows;
    while (page_->step()) {
      Row& row = rows.emplace_back();
      for (int i = 0; i < columns_; ++i) row.push_back(page_->cell(i));
    }
    page_->run();
    return rows;
  }

  std::optional<std::int64_t> place(const PointKey& key) {
    Statement s(db_, "SELECT rowid FROM temp.places WHERE design = ?1 AND workload = ?2");
    s.bind(0, key.design).bind(1, std::string_view(key.workload));
    if (!s.step()) return {};
    return s.integer(0) - 1;
  }

 private:
  Database db_;
  int columns_ = 0;
  std::unique_ptr<Statement> page_;
};

ResultRows::ResultRows(const ResultFolder& folder, const std::string& filter, const RowOrder& order,
                       std::stop_token stop)
    : tables_(std::make_unique<Tables>(folder, filter, order, std::move(stop))),
      size_(tables_->size()) {}

ResultRows::~ResultRows() = default;

std::vector<Row> ResultRows::read(std::int64_t first, std::int64_t count) {
  return tables_->read(first, count);
}

std::optional<std::int64_t> ResultRows::place(const PointKey& key) { return tables_->place(key); }

}  // namespace tcsim
