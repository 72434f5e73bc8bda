// What a finished study's folder holds, written from its store: results.sqlite, results.csv,
// results.jsonl, schedules.csv, manifest.json and report.html. Equal studies give equal bytes,
// however they were computed; manifest.json alone has a part, "made", that tells host and time.
// docs/sweep.md has every column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/study/design.hpp"
#include "core/study/evaluate.hpp"
#include "core/study/study.hpp"
#include "sweep/store.hpp"

namespace tcsim {

// Goes up when a column changes its meaning.
inline constexpr int sweep_schema = 1;

// A design and all of its points, in the order of the workloads, with their sums by weight.
struct DesignResult {
  DesignPoint design;
  std::vector<PointResult> points;
  double seconds = 0, joules = 0, traffic_bytes = 0;  // traffic: over the outermost link
  std::vector<double> link_seconds;                   // of each link
  std::vector<double> decided;  // seconds of the workloads that each link decides, compute last
  double objective = 0;

  // The index of the largest of `decided`.
  std::size_t bottleneck() const;
};

// Links of a machine that points have figures of, from the core outward; of chains those between
// explicit levels.
std::size_t link_count(const Study& study, const Machine& machine);
std::string link_text(const Study& study, const Machine& machine, std::size_t link);
// "L3-memory", or "compute" for the number of links.
std::string bottleneck_text(const Study& study, const Machine& machine, int bottleneck);
// "L3.capacity 8MiB, L2.capacity 1MiB", or "as it is"; with the machine's name where a study has
// several.
std::string design_text(const Study& study, const DesignPoint& design);
// "seconds", "joules", "bytes", "mm2" or "" (cost).
std::string objective_unit(StudyObjective objective);

// Designs that no machine can be like or that break a constraint, by reason; why, of the first.
struct LeftOutGroup {
  std::int64_t designs = 0;
  std::string detail;
};
using LeftOutDesigns = std::map<std::string, LeftOutGroup>;

// Calls `visit` for every design of the study by number, but for those that are left out, which it
// returns. Throws InputError where the store does not have exactly the points of the study, and
// Interrupted.
LeftOutDesigns for_each_design(const Study& study, Store& store,
                               const std::function<void(DesignResult&&)>& visit);

// How a study was computed; none of it changes a result.
struct Made {
  std::string version;  // of tcsim
  std::string host, processor, started, finished;
  double seconds = 0;  // of this process, and the ones before it do not count
  int threads = 1, ranks = 1;
  std::int64_t resumed = 0;  // points that were there when it began
};

struct Totals {
  std::int64_t designs = 0, points = 0, searched = 0;
  std::string verdict;  // what the study found, in a sentence or a few
};

// Writes all files, each under another name first, so that nothing has its name unless all is
// on the disk; when it returns, so are the names. `progress` gets the share that is done. Throws as
// for_each_design().
Totals write_results(const Study& study, Store& store, const std::filesystem::path& folder,
                     const Made& made, const std::function<void(double)>& progress);

}  // namespace tcsim
