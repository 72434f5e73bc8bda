// Computes a study: all chains, on all threads of all ranks, into the store of a folder; then the
// results. Killed at any moment it loses the chains in flight alone, and resumes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/study/study.hpp"
#include "sweep/results.hpp"

namespace tcsim {

struct SweepProgress {
  enum class Phase { computing, writing } phase = Phase::computing;
  double share = 0;
  std::int64_t points = 0;  // done, with those that were there
  double points_per_second = 0;
  // Of the designs that are complete in this process.
  double best = 0;
  std::string best_design;  // empty: none yet
};

struct SweepOptions {
  std::filesystem::path folder;
  bool resume = false;  // go on in a folder that has a store; otherwise it must have none
  int threads = 1;
  std::string version;      // of tcsim: a store that another version began is not resumed
  double keep_every = 0.2;  // seconds between two commits, more on a slow disk: what a kill or a
                            // power cut loses at most, and the chains in flight
  std::stop_token stop = {};
  std::function<void(const SweepProgress&)> progress = {};  // by one thread at a time
};

struct SweepOutcome {
  bool complete = false;  // false: stopped, the store has what there is
  bool already = false;   // it was complete before: nothing was done
  Totals totals;          // of the results, where complete
  std::int64_t points = 0, resumed = 0;
  double seconds = 0;
  int ranks = 1;
};

// On every rank; outcome and results are those of rank 0. Throws UsageError for a folder that
// cannot be used as asked, InputError for a store of another study, UnsupportedError for what this
// machine or the model cannot do.
SweepOutcome sweep(const Study& study, const SweepOptions& options);

// Seconds that the study takes on one thread.
struct SweepEstimate {
  double seconds = 0;
  bool at_least = false;  // the first of its points had not ended when the time was over
};

// From some of its points, tried for a quarter of `most_seconds`, and longer only if one takes
// longer; never beyond `most_seconds`. Throws Interrupted.
SweepEstimate estimated_seconds(const Study& study, std::stop_token stop, double most_seconds = 4);

}  // namespace tcsim
