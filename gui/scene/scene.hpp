// All that the views show at a moment, as one value: pictures and tables are functions of it
// (gui/charts/charts.hpp), and whoever changes it makes a new one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/machine/kernel_catalog.hpp"
#include "core/saved/session.hpp"
#include "gui/scene/evaluation.hpp"

namespace tcsim::gui {

// Something that takes longer than a frame. It may be of a design that is no longer the one that
// is shown; then it is drawn hollow.
template <class T>
struct Late {
  std::shared_ptr<const T> value;  // null: not known yet
  bool current = false;
  std::string error;  // why there is none, or none newer

  explicit operator bool() const { return value != nullptr; }
  const T* operator->() const { return value.get(); }
};

// What is still to be known of a pin.
struct PinWish {
  Design design;
  bool evaluation = false;        // and nothing else before that
  std::vector<std::string> vary;  // varyText() of a curve, or of a map's two knobs
  std::optional<WorkloadRequest> suite;

  bool isNothing() const { return !evaluation && vary.empty() && !suite; }
  bool operator==(const PinWish&) const = default;
};

// A design to compare with. Its curve and map run over the same values as the design's own.
struct Pinned {
  Pin pin;
  EvaluationPtr evaluation;  // null: not known yet
  std::string error;         // why it, its curve or its map cannot be had; empty if they can
  PinWish asked;             // what that was about: it is not tried again for the same
  std::shared_ptr<const Curved> curve;
  std::shared_ptr<const Mapped> map;
  std::shared_ptr<const SuiteJudged> suite;
};

struct Scene {
  EvaluationPtr now;  // null: nothing to show yet
  std::string error;  // why the design cannot be judged; empty if it can
  std::vector<Pinned> pins;
  ViewState view;
  Late<Evaluation> best;  // where the design keeps a schedule: the best one
  Late<Helped> help;
  Late<Worths> worth;
  Late<Curved> curve;
  Late<Mapped> map;
  Late<SuiteJudged> suite;
  Late<BoundCurve> bounds;
  Late<Simulated> simulation;
  Late<SetsSeen> sets;
  Late<TimelineSeen> timeline;
  Late<Ran> run;
  Late<KernelCatalog> kernels;  // of this machine, whatever the design's is
};

}  // namespace tcsim::gui
