// All that the views show at a moment, as one value: pictures and tables are functions of it
// (gui/charts/charts.hpp), and whoever changes it makes a new one.
#pragma once

#include <memory>
#include <string>

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

struct Scene {
  EvaluationPtr now;       // null: nothing to show yet
  std::string error;       // why the design cannot be judged; empty if it can
  EvaluationPtr baseline;  // null: none is pinned
  ViewState view;
  Late<Evaluation> best;  // where the design keeps a schedule: the best one
  Late<Helped> help;
  Late<Worths> worth;
  Late<Curved> curve;
  Late<Curved> baselineCurve;
  Late<Mapped> map;
  Late<Mapped> baselineMap;
  Late<BoundCurve> bounds;
  Late<Simulated> simulation;
  Late<SetsSeen> sets;
  Late<TimelineSeen> timeline;
  Late<Ran> run;
  Late<KernelCatalog> kernels;  // of this machine, whatever the design's is
};

}  // namespace tcsim::gui
