// What a core loses, out of the run times of problems: exposed() read backwards, by least squares.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A problem and how long it took.
struct OverheadRun {
  Contraction contraction;
  Schedule schedule;
  Cycles took;
};

// What a run takes whatever the core loses; what is not given is fitted.
struct OverheadBaseline {
  std::optional<double> once;   // cycles of an execution
  std::optional<double> slope;  // by what factor multiply-adds take longer than at the peak
};

using LostFigure = std::variant<Figure<Cycles> Overhead::*, Figure<double> Overhead::*>;
// In the unit of the figure.
double value_of(const Overhead& overhead, LostFigure figure);
void set_value(Overhead& overhead, LostFigure figure, double value);

struct OverheadFit {
  OverheadBaseline baseline;        // with both
  std::vector<double> lost;         // in the order of `wanted`
  double residual = 0;              // root of the mean square of the runs' relative errors
  std::vector<std::string> doubts;  // why each is not to be believed; empty if it is
};

// Fits `wanted` to
//     took = once + slope x cycles at the peak + what exposed() says,
// where exposed() takes everything else from `machine`. Not to be believed are values that are
// negative or uncertain by more than half, runs that are a quarter off in the mean, and runs that
// do not tell the unknowns apart. A share may be off by 0.15, however small.
OverheadFit fit_overhead(const std::vector<OverheadRun>& runs,
                         const std::vector<LostFigure>& wanted, const Machine& machine,
                         const OverheadBaseline& baseline = {});

// Cycles of a run beyond `slope` x those at the peak and what exposed() says.
Cycles unexplained(const OverheadRun& run, double slope, const Machine& machine);

}  // namespace tcsim
