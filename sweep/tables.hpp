// The tables of a study's results: rows of designs and points as CSV, JSON lines and SQLite.
// Internal to sweep/.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/bounds/link_bounds.hpp"
#include "core/io/new_file.hpp"
#include "core/machine/spread.hpp"
#include "sweep/cell.hpp"
#include "sweep/database.hpp"
#include "sweep/results.hpp"

namespace tcsim {

// What the tables have columns for, with a name that says the unit.
class TableForm {
 public:
  explicit TableForm(const Study& study);

  const std::vector<Column>& design_columns() const { return design_; }
  const std::vector<Column>& point_columns() const { return point_; }
  Row design_row(const DesignResult& d, bool on_front) const;
  Row point_row(const DesignResult& d, std::size_t workload) const;

 private:
  const RateSpread& spread_of(const DesignResult& d, Bytes element) const;
  // How sure the point's bottleneck is, and the band of its time.
  Row sure_cells(const DesignResult& d, std::size_t workload) const;

  const Study& study_;
  std::vector<std::string> links_;  // of all machines, each once
  bool sure_ = false;               // some rate of some machine has a spread
  std::vector<Column> design_, point_;
  // Of each workload, made when it is first asked for.
  mutable std::vector<std::optional<bounds::LinkBounds>> bounds_;
  // Of each machine with so many cores at work, for an element of so many bytes.
  mutable std::map<std::tuple<std::size_t, int, Bytes>, RateSpread> spreads_;
};

// A file of the results under another name, "NAME.part", until all of them are whole. Throws
// UsageError that says what the system said.
class ResultPart {
 public:
  ResultPart(const std::filesystem::path& folder, const std::string& name);
  void write(std::string_view text);
  void end();   // it is on the disk, under this name
  void keep();  // whatever happens now, it stays; after end()
  std::filesystem::path path() const { return file_->path(); }

  // Each gets its name, which is on the disk then.
  static void name_all(const std::filesystem::path& folder, std::span<const char* const> names);

 private:
  std::filesystem::path named_;
  std::unique_ptr<NewFile> file_;
};

// Writes the rows of one design after another, into parts (part_of()). Throws UsageError that says
// what the system said.
class TableWriter {
 public:
  TableWriter(const Study& study, const std::filesystem::path& folder);
  ~TableWriter();
  void add(const DesignResult& d, bool on_front);
  // All of them are on the disk.
  void finish(const std::vector<std::pair<std::string, std::string>>& meta);

 private:
  void insert(Statement& statement, const Row& row);

  const Study& study_;
  TableForm form_;
  std::filesystem::path folder_;
  ResultPart csv_, jsonl_;
  std::optional<ResultPart> tables_;  // the database's
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> insert_design_, insert_point_, insert_schedule_;
};

}  // namespace tcsim
