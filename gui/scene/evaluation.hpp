// A design and what the libraries say about it: the values that every view of the window shows.
// They are made on worker threads, never changed afterwards, and shared by pointers.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/bounds/curve.hpp"
#include "core/explore/advice.hpp"
#include "core/explore/curve.hpp"
#include "core/explore/suite_total.hpp"
#include "core/machine/machine.hpp"
#include "core/optimize/optimize.hpp"
#include "core/saved/design.hpp"
#include "core/study/worth.hpp"
#include "core/workload/contraction.hpp"
#include "kernels/execute.hpp"
#include "microbench/counters/counting.hpp"
#include "sim/lru_curve.hpp"
#include "sim/set_use.hpp"
#include "sim/simulate.hpp"
#include "sim/timeline.hpp"

namespace tcsim::bounds {
class LinkBounds;
}

namespace tcsim::gui {

// A design with its names looked up.
struct Subject {
  Design design;
  Machine base;     // as its file has it
  Machine machine;  // with overrides, which scale what was measured, and accounting
  Contraction contraction;
  std::vector<std::string> notes;                   // about values that had to give way
  std::shared_ptr<const CostModel> costModel = {};  // null: the design names none
};
// Throws the errors of core/error.hpp. `base` is the machine that design.machine names.
Subject subjectOf(const Design& design, const Machine& base);
Subject subjectOf(const Design& design, const Machine& base, const Contraction& contraction);

struct Evaluation {
  Subject subject;
  Choice choice;
  std::optional<Certificate> certificate;  // of a schedule that was chosen
  std::string notCertified;  // why the bound does not hold for one that is kept; may be empty
  std::string bottleneck;
  // Of each link, what no schedule moves less than (link_bounds.hpp).
  std::vector<Bytes> bounds;
  // Chosen as the command line does, from nothing; otherwise from what was best before an edit,
  // which is quicker.
  bool settled = false;
  double seconds = 0;                    // that it took
  std::optional<Uncertainty> sure = {};  // empty where no rate of the machine has a spread
  std::optional<DesignCost> cost = {};   // by the subject's model
  // What says `bounds` of the workload on any machine.
  std::shared_ptr<const bounds::LinkBounds> linkBounds = {};

  const Prediction& prediction() const { return choice.prediction; }
  Seconds time() const { return choice.time(); }
  double gflops() const { return choice.prediction.rate.value() / 1e9; }
};
using EvaluationPtr = std::shared_ptr<const Evaluation>;

// The schedule that a text says, checked for the subject as tcsim predict --schedule does. Throws
// InputError "place:line:column" and what else that throws.
Schedule checkedSchedule(const std::string& text, const Subject& subject, const std::string& place);

// As tcsim predict. What another evaluation of the workload knows of its bounds may be passed on:
// on one more machine they take a millisecond or, where a capacity passes a power of two, a few.
EvaluationPtr evaluate(const Subject& subject, std::stop_token stop,
                       std::shared_ptr<const bounds::LinkBounds> linkBounds = {});
// Within about a frame, while somebody drags: what was best `before` an edit is judged on the new
// machine, and what can be found from there in `seconds` is taken if it is better. `counts` is
// kept from call to call, which are not at the same time.
EvaluationPtr follow(const Subject& subject, const Evaluation& before, SharedCounts& counts,
                     double seconds, std::stop_token stop);

// As tcsim report's "what would help".
struct Helped {
  Design design;
  Advice advice;
};
Helped help(const Evaluation& evaluation, std::stop_token stop);

// As tcsim whatif with one --vary, or two.
struct Curved {
  Design design;
  std::string vary;  // varyText()
  KnobRange range;
  Curve curve;
};
struct Mapped {
  Design design;
  std::string vary[2];
  KnobRange ranges[2];
  Plane plane;
  std::optional<PlaneCosts> costs = {};  // with a cost model
};
// As tcsim whatif --worth, and by the design's cost model.
struct Worths {
  Design design;
  std::vector<Worth> knobs;
};
Worths worthOf(const Evaluation& evaluation, std::stop_token stop);

// As tcsim predict of a whole suite: each of its workloads by the best schedule.
struct SuiteJudged {
  WorkloadRequest suite;
  Machine machine;
  SuiteTotal total;

  // `other` is none of a workload that is of no suite.
  bool isOf(const std::optional<WorkloadRequest>& other, const Machine& on) const {
    return other == suite && machine == on;
  }
};
SuiteJudged suiteJudged(const WorkloadRequest& suite, const Machine& machine,
                        const std::function<void(double)>& progress, std::stop_token stop);

// "memory.bandwidth=1.52B/cycle..24.32B/cycle": a range of `view`, which is relative to the
// machine's file, in absolute values, so that it stays where it is while the knob moves.
std::string varyText(const Subject& subject, const std::string& knob, const std::string& range);
Curved curveOf(const Evaluation& evaluation, const std::string& vary,
               const std::function<void(double)>& progress, std::stop_token stop);
Mapped mapOf(const Evaluation& evaluation, const std::string& first, const std::string& second,
             const std::function<void(double)>& progress, std::stop_token stop);

// As tcsim simulate.
struct Simulated {
  Design design;
  Machine machine;
  Schedule schedule;
  Simulation simulation;

  // Whether the machine's caches do the same.
  bool isOn(const Machine& other) const;
};
Simulated simulated(const Evaluation& evaluation, const std::function<void(double)>& progress,
                    std::stop_token stop);

// As tcsim simulate --sets.
struct SetsSeen {
  Design design;
  Machine machine;
  Schedule schedule;
  SetUse use;

  // Whether the level of the machine, and all that decides what reaches it, is the same.
  bool isOn(const Machine& other, const std::string& level) const;
};
// The cache of this name, or the innermost where there is none; empty where there is no cache.
std::string cacheNamed(const Machine& machine, const std::string& name);
SetsSeen setsSeen(const Evaluation& evaluation, const std::string& level,
                  const std::function<void(double)>& progress, std::stop_token stop);
// As tcsim simulate --timeline.
struct TimelineSeen {
  Design design;
  Machine machine;
  Schedule schedule;
  TouchRange part;  // that was asked for
  Timeline line;

  bool isOn(const Machine& other, const TouchRange& otherPart) const;
};
inline constexpr int timelineFrames = 256;
TimelineSeen timelineSeen(const Evaluation& evaluation, const TouchRange& part,
                          const std::function<void(double)>& progress, std::stop_token stop);

// Whether to simulate it access by access takes a few seconds at most.
bool simulatedSoon(const Evaluation& evaluation);

// As tcsim bounds --curve. It depends on the workload and on what counts, not on the machine.
struct BoundCurve {
  WorkloadRequest workload;
  ElementType type = ElementType::f64;
  bounds::Moves moves = bounds::Moves::loads;
  std::vector<std::int64_t> capacities;
  std::vector<bounds::BoundPoint> points;       // theirs, then those of schedules alone
  std::vector<std::optional<StoreCounts>> lru;  // of each capacity; empty: not simulated

  bool isOf(const Evaluation& evaluation) const;
};
// By doublings of 1 KiB, beyond all of the machine's caches together.
std::vector<std::int64_t> boundCapacities(const Evaluation& evaluation);
// `before`, which may be null, is taken as it is where it is of the same. LRU caches are simulated
// where that takes a second or so, or because `simulate` says so.
BoundCurve boundCurveOf(const Evaluation& evaluation, const BoundCurve* before, bool simulate,
                        const std::function<void(double)>& progress, std::stop_token stop);

// As tcsim run --counters: gui/scene/run_apart.hpp.
struct Ran {
  Design design;
  Schedule schedule;
  RunResult result;
  Counted counted;  // while it ran; without links where this machine counts none
};

// The knob along which this design's curve is worth looking at first: what the deciding link's
// speed depends on.
std::string naturalKnob(const Evaluation& evaluation);
// Another one for the map: the largest cache's capacity, or memory's bandwidth.
std::string secondKnob(const Evaluation& evaluation, const std::string& first);

}  // namespace tcsim::gui
