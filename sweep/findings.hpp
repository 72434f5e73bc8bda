// What a study found, gathered from its designs one after another in bounded memory: what
// report.html draws and what its first sentences say. Internal to sweep/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "sweep/results.hpp"

namespace tcsim {

// A design as far as the report needs it.
struct Found {
  std::int64_t number = -1;  // of the design; below 0: none
  std::size_t machine = 0;
  bool base = false;
  std::vector<double> values;  // of the knobs
  double objective = 0, seconds = 0, joules = 0, traffic_bytes = 0;
  std::optional<double> area, cost;
  std::vector<double> link_seconds, decided;
  double compute_seconds = 0;
  // Of each workload; empty where a study has very many.
  std::vector<double> workload_seconds;
  std::vector<std::int8_t> workload_bottleneck;
};

// The best designs along one knob of one machine: of every value, or of every part of its range.
struct KnobFindings {
  std::size_t machine = 0, knob = 0;
  std::vector<Found> best;  // by value; parts without a design are left out
};

// The same for two knobs; empty cells have no design.
struct PairFindings {
  std::size_t machine = 0, first = 0, second = 0;
  std::vector<double> first_values, second_values;  // of the cells
  std::vector<Found> best;                          // the second knob's values run fastest
};

class Findings {
 public:
  explicit Findings(const Study& study);

  void add(const DesignResult& d, bool on_front);
  // To be called once, after the last design.
  void finish();

  const Study& study() const { return study_; }
  const std::vector<Found>& bases() const { return bases_; }
  const std::vector<Found>& best() const { return best_; }    // the ten best, best first
  const std::vector<Found>& front() const { return front_; }  // by seconds, at most 2000
  std::int64_t front_size() const { return front_size_; }
  const std::vector<Found>& cloud() const { return cloud_; }  // some of the others
  const std::vector<KnobFindings>& knobs() const { return knobs_; }
  const std::vector<PairFindings>& pairs() const { return pairs_; }
  std::int64_t designs() const { return designs_; }

  // A sentence or a few: the best design, which knob matters and how far, what decides.
  std::vector<std::string> verdict() const;
  // The first of a knob's values from which on (in the direction that helps) all are within 1 % of
  // the best; the best where both ends are worse; null where the knob changes less than 1 %.
  const Found* enough(const KnobFindings& k) const;

 private:
  Found found(const DesignResult& d) const;
  std::size_t part_of_axis(std::size_t machine, std::size_t knob, double value,
                           std::size_t parts) const;

  const Study& study_;
  std::vector<std::vector<std::vector<double>>> values_;  // distinct, by machine and knob
  std::vector<Found> bases_, best_, front_, cloud_;
  std::vector<KnobFindings> knobs_;
  std::vector<PairFindings> pairs_;
  std::int64_t designs_ = 0, front_size_ = 0, cloud_step_ = 1;
};

// "8 MiB", "6.08B/cycle": a value of a knob for readers.
std::string knob_text(const Knob& knob, double value);
// "84.1 s", "12.3 mm2".
std::string objective_text(StudyObjective objective, double value);

}  // namespace tcsim
