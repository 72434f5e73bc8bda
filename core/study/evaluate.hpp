// Evaluates chains of a study. What comes out of a chain depends on the study and the chain alone,
// whoever evaluates it and whatever was evaluated before.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/levels/plan.hpp"
#include "core/study/design.hpp"
#include "core/study/study.hpp"

namespace tcsim {

// What is known of one workload on one design. Absent numbers are not a number.
struct PointResult {
  std::int64_t point = 0;  // design x workloads + workload
  double predicted_seconds = 0;
  double compute_seconds = 0;
  double bound_seconds = 0;  // no schedule of the family is below; joules where energy is least
  double joules = 0;         // of moving, computing and standing, as far as the cost model says
  int bottleneck = 0;        // link, or number of links: compute
  std::vector<double> link_bytes, link_seconds;
  std::vector<double> simulated_bytes;  // empty, or of each link
  double simulated_seconds = 0;
  double measured_seconds = 0;
  std::string schedule;   // on one line
  bool searched = false;  // the schedule was searched for here, not found good enough by its bound

  // By the most real of what is known: measured, simulated, predicted.
  double seconds() const;
  bool operator==(const PointResult&) const = default;
};

// The schedules that are best for the machines as they are, where every chain begins. Several
// threads may ask at once.
class Anchors {
 public:
  Anchors(const Study& study, std::stop_token stop);
  const Optimized& at(std::size_t machine, std::size_t workload);
  // Of a chain.
  const levels::LevelOptimum& levels_at(std::size_t machine, std::size_t workload);

 private:
  struct Slot {
    std::once_flag once;
    Optimized value;
    levels::LevelOptimum levels;
  };
  const Study& study_;
  std::stop_token stop_;
  std::vector<Slot> slots_;
};

// Why a design is left out. Of a study that keeps its schedules: its registers do not hold the
// kernels of all workloads, or its levels not what schedules of chains hold. Of other studies of
// chains: some chain does not fit.
std::optional<LeftOut> cannot_do(const Study& study, Anchors& anchors, const DesignPoint& design);

// What goes on with a point beyond the model: simulation, a run. May throw.
using Further =
    std::function<void(PointResult&, const Contraction&, const Schedule&, const Machine&)>;

struct ChainResult {
  std::int64_t chain = 0;
  std::vector<PointResult> points;  // by number; designs that are left out have none
};

// One thread's evaluator.
class Evaluator {
 public:
  Evaluator(const Study& study, Anchors& anchors, std::stop_token stop, Further further = {});
  ~Evaluator();

  // Throws Interrupted.
  ChainResult evaluate(std::int64_t chain);
  // The first `most` designs of it alone: to see how long it takes.
  ChainResult evaluate(std::int64_t chain, std::int64_t most);

 private:
  std::vector<DesignPoint> designs_of(const Chain& chain, std::int64_t most);
  ChainResult evaluate_levels(std::int64_t number, std::int64_t most);

  const Study& study_;
  Anchors& anchors_;
  std::stop_token stop_;
  Further further_;
  Designs designs_;
  Chains chains_;
};

// The gap to the proven bound may grow by so much over what the last search left before there is
// another search.
inline constexpr double gap_to_search_again = 0.005;

}  // namespace tcsim
