// A folder of results with any number of points, made up in no time.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "sweep/database.hpp"
#include "sweep/results.hpp"

namespace tcsim {

// Designs 0 ... n-1 of L3.capacity, each with one point of tccg:29 on e5-2680v4.
inline void write_many_points(const std::filesystem::path& folder, std::int64_t n) {
  std::filesystem::create_directories(folder);
  Database db(folder / "results.sqlite", Database::Mode::create);
  db.run(fmt::format(
      "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
      "CREATE TABLE meta(what TEXT PRIMARY KEY, value TEXT);"
      "INSERT INTO meta VALUES('schema', '{1}');"
      "CREATE TABLE designs(design INTEGER, machine TEXT, base INTEGER, \"L3.capacity_bytes\" "
      "REAL, main_bottleneck TEXT, pareto INTEGER, PRIMARY KEY(design));"
      "CREATE TABLE points(design INTEGER, workload TEXT, seconds REAL, gflops REAL, bottleneck "
      "TEXT, predicted_seconds REAL, schedule TEXT, PRIMARY KEY(design, workload)) WITHOUT ROWID;"
      "CREATE TABLE schedules(schedule TEXT PRIMARY KEY, text TEXT) WITHOUT ROWID;"
      "CREATE TEMP TABLE n AS WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM c "
      "LIMIT {0}) SELECT i FROM c;"
      "INSERT INTO designs SELECT i, 'e5-2680v4', i = 0, 36700160.0 + 1024.0 * i, 'compute', "
      "i % 100000 = 1 FROM n;"
      "INSERT INTO points SELECT i, 'tccg:29', ((i * 7919) % 1000003) / 1e6 + 0.001, 0.5 * i, "
      "CASE i % 3 WHEN 0 THEN 'L3-memory' ELSE 'L1-register' END, 0.25, 'none' FROM n;"
      "COMMIT",
      n, sweep_schema));
  std::ofstream(folder / "manifest.json") << fmt::format(
      R"({{"study": "many", "verdict": "Made up.", "designs": {0}, "points": {0},
          "knobs": ["L3.capacity"], "set": [],
          "machines": [{{"name": "e5-2680v4", "given": "e5-2680v4",
                         "accounting": {{"name": "paper"}}}}],
          "workloads": [{{"name": "tccg:29", "label": "abcdef-degb-gfac",
                          "sizes": "a=24,b=16,c=24,d=16,e=16,f=24,g=24",
                          "layout": "row-major", "type": "f64"}}]}})",
      n);
}

}  // namespace tcsim
