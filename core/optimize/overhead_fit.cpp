#include "core/optimize/overhead_fit.hpp"

#include <fmt/format.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "core/machine/fields.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/exposed.hpp"

namespace tcsim {

namespace {

// Source of both: chosen.
constexpr double worst_residual = 0.25;    // relative
constexpr double worst_uncertainty = 0.5;  // a standard error, of the value
// A share does no harm if it is this much off, or a little below nothing. Source: chosen.
constexpr double share_tolerance = 0.15;

double tolerance_of(LostFigure figure) {
  return figure == LostFigure(&Overhead::results) ? share_tolerance : 0;
}

void set(double& number, double value) { number = value; }
void set(Cycles& cycles, double value) { cycles = Cycles(value); }

const char* unit_of(LostFigure figure) {
  return std::holds_alternative<Figure<Cycles> Overhead::*>(figure) ? " cycles" : "";
}

}  // namespace

double value_of(const Overhead& overhead, LostFigure figure) {
  return std::visit([&](auto f) { return *number_of((overhead.*f).value); }, figure);
}

void set_value(Overhead& overhead, LostFigure figure, double value) {
  std::visit([&](auto f) { set((overhead.*f).value, value); }, figure);
}

Cycles unexplained(const OverheadRun& run, double slope, const Machine& machine) {
  const Prediction p = predict(run.contraction, run.schedule, machine);
  const Seconds lost = exposed(run.contraction, run.schedule, p, machine, CallsAre::walked).all();
  const double hertz = machine.core.frequency.value.value();
  return run.took - Cycles((slope * p.timing.compute + lost).value() * hertz);
}

OverheadFit fit_overhead(const std::vector<OverheadRun>& runs,
                         const std::vector<LostFigure>& wanted, const Machine& machine,
                         const OverheadBaseline& baseline) {
  Machine without = machine;
  for (LostFigure figure : wanted) set_value(without.core.overhead, figure, 0);
  const double hertz = machine.core.frequency.value.value();
  // Those of once and slope that are not given come first.
  const Eigen::Index slope_at = baseline.once ? 0 : 1, free = slope_at + (baseline.slope ? 0 : 1);
  const auto rows = static_cast<Eigen::Index>(runs.size());
  const auto columns = static_cast<Eigen::Index>(wanted.size()) + free;
  Eigen::MatrixXd counts = Eigen::MatrixXd::Zero(rows, columns);
  Eigen::VectorXd cycles(rows);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const OverheadRun& run = runs[static_cast<std::size_t>(i)];
    const Prediction p = predict(run.contraction, run.schedule, machine);
    const auto lost = [&](const Machine& m) {
      const Exposed all = exposed(run.contraction, run.schedule, p, m, CallsAre::walked);
      return all.all().value() * hertz;
    };
    const double known = lost(without), compute = p.timing.compute.value() * hertz;
    // All relative to the time that the run took.
    const double weight = 1 / run.took.value();
    cycles(i) = weight * (run.took.value() - known);
    cycles(i) -= weight * (baseline.once.value_or(0) + baseline.slope.value_or(0) * compute);
    if (!baseline.once) counts(i, 0) = weight;
    if (!baseline.slope) counts(i, slope_at) = weight * compute;
    for (std::size_t f = 0; f < wanted.size(); ++f) {
      Machine one = without;
      set_value(one.core.overhead, wanted[f], 1);
      counts(i, free + static_cast<Eigen::Index>(f)) = weight * (lost(one) - known);
    }
  }
  OverheadFit fit;
  fit.lost.resize(wanted.size());
  fit.doubts.resize(wanted.size());
  if (columns == 0) {
    fit.baseline = baseline;
    return fit;
  }
  const auto solver = counts.colPivHouseholderQr();
  if (rows <= columns || solver.rank() < columns) {
    fit.doubts.assign(wanted.size(), "the runs do not tell the unknowns apart");
    return fit;
  }
  const Eigen::VectorXd x = solver.solve(cycles);
  fit.baseline = {baseline.once ? *baseline.once : x(0),
                  baseline.slope ? *baseline.slope : x(slope_at)};
  const double squares = (counts * x - cycles).squaredNorm();
  fit.residual = std::sqrt(squares / static_cast<double>(rows));
  const Eigen::MatrixXd inverse = (counts.transpose() * counts).inverse();
  const double variance = squares / static_cast<double>(rows - columns);
  for (std::size_t f = 0; f < wanted.size(); ++f) {
    const Eigen::Index column = free + static_cast<Eigen::Index>(f);
    const double value = x(column), error = std::sqrt(variance * inverse(column, column));
    const double tolerance = tolerance_of(wanted[f]);
    fit.lost[f] = std::max(0.0, value);
    if (fit.residual > worst_residual) {
      fit.doubts[f] = fmt::format("run times are {:.0f} % off the fit", 100 * fit.residual);
    } else if (!(value >= -tolerance)) {
      fit.doubts[f] = fmt::format("the fit gives {:.1f}{}", value, unit_of(wanted[f]));
    } else if (error > std::max(worst_uncertainty * value, tolerance)) {
      fit.doubts[f] =
          fmt::format("{:.1f}{} are uncertain by {:.1f}", value, unit_of(wanted[f]), error);
    }
  }
  return fit;
}

}  // namespace tcsim
