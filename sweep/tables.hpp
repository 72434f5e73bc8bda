// The tables of a study's results: rows of designs and points as CSV, JSON lines and SQLite.
// Internal to sweep/.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "core/bounds/link_bounds.hpp"
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

// Writes the rows of one design after another.
class TableWriter {
 public:
  TableWriter(const Study& study, const std::filesystem::path& folder);
  ~TableWriter();
  void add(const DesignResult& d, bool on_front);
  // Ends the files and gives them their names.
  void finish(const std::vector<std::pair<std::string, std::string>>& meta);

 private:
  void insert(Statement& statement, const Row& row);

  const Study& study_;
  TableForm form_;
  std::filesystem::path folder_;
  std::ofstream csv_, jsonl_;
  std::unique_ptr<Database> database_;
  std::unique_ptr<Statement> insert_design_, insert_point_, insert_schedule_;
};

// "name.part" in the folder, which becomes "name" when it is whole.
std::filesystem::path part_of(const std::filesystem::path& folder, const std::string& name);
void name_part(const std::filesystem::path& folder, const std::string& name);

}  // namespace tcsim
