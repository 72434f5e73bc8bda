// A folder of results as tcsim sweep leaves it, whoever wrote it and wherever: what its study was,
// and its points as designs to look at. Nothing is written there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/explore/knob.hpp"
#include "core/saved/design.hpp"
#include "sweep/cell.hpp"

namespace tcsim {

// A point's place in the tables.
struct PointKey {
  std::int64_t design = 0;
  std::string workload;
  bool operator==(const PointKey&) const = default;
};

class ResultFolder {
 public:
  // Throws InputError for a folder without results that this tcsim reads, and says why.
  explicit ResultFolder(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }
  const std::string& study() const { return study_; }      // its name
  const std::string& verdict() const { return verdict_; }  // what the study found, in words
  std::int64_t designs() const { return designs_; }
  std::int64_t points() const { return points_; }
  // Of the tables: a row has the columns of its design, then those of its point.
  const std::vector<std::string>& columns() const { return columns_; }
  bool is_number(std::size_t column) const { return numbers_[column]; }
  // The column of that name, or of a knob ("L3.capacity" is "L3.capacity_bytes"). Throws UsageError
  // that lists what there is.
  std::size_t column(const std::string& name) const;
  const std::vector<std::string>& knobs() const { return knobs_; }
  // The knob whose values a column has, in its unit and without a machine; empty for other columns.
  std::optional<Knob> knob(std::size_t column) const;
  // Whether the column is of designs rather than of points.
  bool of_design(std::size_t column) const { return column < design_columns_; }
  // "SELECT COLUMNS" of them goes before it: "FROM points p JOIN designs d ...".
  static const char* join() { return "FROM points p JOIN designs d ON d.design = p.design"; }
  std::string column_sql(std::size_t column) const;

  Row row(const PointKey& key) const;
  // The point as somebody would set it up by hand: machine, figures, accounting, workload, and the
  // schedule that the sweep chose. Throws InputError where the folder does not say enough, and
  // UsageError for a chain.
  Design design(const PointKey& key) const;

 private:
  struct NamedMachine {
    std::string name, given, accounting;
  };
  struct NamedWorkload {
    std::string name;
    WorkloadRequest request;
    bool chain = false;
  };
  void read_manifest();
  void read_columns();

  std::filesystem::path path_;
  std::string study_, verdict_;
  std::int64_t designs_ = 0, points_ = 0;
  std::vector<NamedMachine> machines_;
  std::vector<NamedWorkload> workloads_;
  std::vector<Override> set_;
  std::vector<std::string> knobs_, columns_;
  std::vector<bool> numbers_;
  std::size_t design_columns_ = 0;
};

// The file with a folder's tables; `folder` may be that file. Throws InputError where there is
// none.
std::filesystem::path results_file(const std::filesystem::path& folder);

}  // namespace tcsim
