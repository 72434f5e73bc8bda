#include "sweep/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/text/safe.hpp"
#include "sweep/database.hpp"
#include "sweep/result_folder.hpp"
#include "sweep/results.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> columns_of(Database& db, const std::string& table) {
  std::vector<std::string> names;
  Statement s(db, "SELECT name FROM pragma_table_info(?1, ?2) ORDER BY cid");
  const auto dot = table.find('.');
  s.bind(0, std::string_view(table).substr(dot + 1));
  s.bind(1, std::string_view(table).substr(0, dot));
  while (s.step()) names.push_back(s.text(0));
  return names;
}

bool has(const std::vector<std::string>& all, const std::string& name) {
  return std::find(all.begin(), all.end(), name) != all.end();
}

class Comparer {
 public:
  Comparer(const fs::path& a, const fs::path& b, double tolerance, std::stop_token stop)
      : db_(":memory:", Database::Mode::create), tolerance_(tolerance) {
    db_.harden();
    db_.stop_when(std::move(stop));
    attach("a", results_file(a));
    attach("b", results_file(b));
  }

  Comparison compare() {
    settings();
    columns();
    count_points();
    for (const auto& [table, column] : figures_) look_at(table, column);
    return std::move(result_);
  }

 private:
  void attach(const char* name, const fs::path& file) {
    Statement s(db_, fmt::format("ATTACH ? AS {}", name));
    s.bind(0, std::string_view(file.native())).run();
    for (const char* table : {"meta", "designs", "points"}) {
      Statement has(
          db_,
          fmt::format("SELECT 1 FROM {}.sqlite_master WHERE type = 'table' AND name = ?", name));
      if (has.bind(0, std::string_view(table)).step()) continue;
      throw InputError(file.string(),
                       fmt::format("no results of a sweep: it has no table '{}'", table),
                       "give a folder that tcsim sweep wrote, or its results.sqlite");
    }
    Statement schema(db_, fmt::format("SELECT value FROM {}.meta WHERE what = 'schema'", name));
    if (!schema.step() || schema.text(0) != fmt::format("{}", sweep_schema)) {
      throw InputError(file.string(), "unknown schema",
                       fmt::format("this tcsim reads schema {}", sweep_schema));
    }
  }

  void settings() {
    Statement s(db_,
                "SELECT what, x.value, y.value FROM a.meta x JOIN b.meta y USING(what) "
                "WHERE x.value <> y.value AND what <> 'study_hash' ORDER BY what");
    while (s.step()) {
      result_.settings.push_back(fmt::format("{}: {}, {}", s.text(0), s.text(1), s.text(2)));
    }
  }

  // What makes a design: machine, base, and the knobs, which lie between base and area_mm2.
  void columns() {
    for (const char* table : {"designs", "points"}) {
      const auto of_a = columns_of(db_, std::string("a.") + table);
      const auto of_b = columns_of(db_, std::string("b.") + table);
      bool knobs = false;
      for (const std::string& name : of_a) {
        if (name == "area_mm2") knobs = false;
        const bool key = name == "machine" || name == "base" || knobs;
        if (name == "base") knobs = true;
        if (!has(of_b, name)) {
          result_.only_a.push_back(name);
        } else if (key) {
          keys_.push_back(name);
        } else if (name != "design" && name != "workload" && name != "objective") {
          figures_.emplace_back(table, name);
        }
      }
      for (const std::string& name : of_b) {
        if (!has(of_a, name)) result_.only_b.push_back(name);
      }
    }
  }

  // "FROM" that joins points of both, in the order of a.
  std::string joined(const char* x, const char* y) const {
    std::string on;
    for (const std::string& key : keys_) {
      on += fmt::format("{}dx.{} IS dy.{}", on.empty() ? "" : " AND ", quoted_sql(key),
                        quoted_sql(key));
    }
    return fmt::format(
        "FROM {0}.points px JOIN {0}.designs dx USING(design) JOIN {1}.designs dy ON {2} "
        "JOIN {1}.points py ON py.design = dy.design AND py.workload = px.workload",
        x, y, on);
  }

  std::int64_t number(const std::string& sql) {
    Statement s(db_, sql);
    s.step();
    return s.integer(0);
  }

  void count_points() {
    // The join asks by knobs: the copies have an index for it.
    for (const char* side : {"a", "b"}) {
      std::string key;
      for (const std::string& k : keys_) key += (key.empty() ? "" : ", ") + quoted_sql(k);
      db_.run(
          fmt::format("CREATE TEMP TABLE designs_{0} AS SELECT * FROM {0}.designs;"
                      "CREATE INDEX temp.by_knobs_{0} ON designs_{0}({1});",
                      side, key));
    }
    result_.common = number("SELECT count(*) " + indexed());
    result_.points_only_a = number("SELECT count(*) FROM a.points") - result_.common;
    result_.points_only_b = number("SELECT count(*) FROM b.points") - result_.common;
  }

  std::string indexed() const {
    std::string sql = joined("a", "b");
    const auto replace = [&](const std::string& what, const std::string& with) {
      const auto at = sql.find(what);
      sql.replace(at, what.size(), with);
    };
    replace("a.designs", "temp.designs_a");
    replace("b.designs", "temp.designs_b");
    return sql;
  }

  void look_at(const std::string& table, const std::string& column) {
    const char side = table == "designs" ? 'd' : 'p';
    const std::string x = fmt::format("{}x.{}", side, quoted_sql(column));
    const std::string y = fmt::format("{}y.{}", side, quoted_sql(column));
    std::string where;
    for (const std::string& key : keys_) {
      if (key != "base") where += fmt::format(" || ' ' || coalesce(dx.{}, '')", quoted_sql(key));
    }
    Statement s(db_, fmt::format("SELECT {0}, {1}, px.workload{2}, typeof({0}) {3} "
                                 "WHERE {0} IS NOT {1}{4} ORDER BY px.design, px.workload",
                                 x, y, where, indexed(),
                                 side == 'd' ? " AND px.workload = (SELECT min(workload) FROM "
                                               "a.points q WHERE q.design = px.design)"
                                             : ""));
    ColumnDifference d{column, 0, -1, "", "", ""};
    while (s.step()) {
      const double a = s.real(0), b = s.real(1);
      const bool real = s.text(3) == "real" && !s.is_null(1);
      const double apart = real ? std::abs(b / a - 1) : 0;
      if (real && apart <= tolerance_) continue;
      ++d.points;
      if (apart <= d.largest) continue;
      d.largest = apart;
      d.where = s.text(2);
      d.a = s.is_null(0) ? "nothing" : real ? fmt::format("{}", a) : s.text(0);
      d.b = s.is_null(1) ? "nothing" : real ? fmt::format("{}", b) : s.text(1);
    }
    if (d.points > 0) result_.columns.push_back(std::move(d));
  }

  Database db_;
  double tolerance_;
  Comparison result_;
  std::vector<std::string> keys_;
  std::vector<std::pair<std::string, std::string>> figures_;
};

}  // namespace

Comparison compare_results(const fs::path& a, const fs::path& b, double tolerance,
                           std::stop_token stop) {
  return Comparer(a, b, tolerance, std::move(stop)).compare();
}

}  // namespace tcsim
