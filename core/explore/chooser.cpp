#include "core/explore/chooser.hpp"

#include <algorithm>
#include <utility>

#include "core/error.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/registers.hpp"

namespace tcsim {

namespace {
// A time times this is less by more than rounding. Source: chosen.
constexpr double less = 1 - 1e-9;
}  // namespace

Chooser::Chooser(const Contraction& contraction, const Schedule* fixed, std::stop_token stop)
    : contraction_(contraction), fixed_(fixed), stop_(std::move(stop)) {}

Choice Chooser::search(const Machine& machine, const std::vector<Incumbent>& incumbents) {
  if (stop_.stop_requested()) throw Interrupted();
  if (fixed_ != nullptr) {
    require_registers(*fixed_, contraction_.type(), machine, "schedule");
    return {{}, *fixed_, predict(contraction_, *fixed_, machine, counts_)};
  }
  OptimizeOptions options;
  options.incumbents = incumbents;
  options.counts = &counts_;
  Optimized o = optimize(contraction_, machine, options, stop_);
  return {o.incumbent(), std::move(o.schedule), std::move(o.prediction)};
}

bool Chooser::improve(Choice& choice, const Machine& machine,
                      const std::optional<Incumbent>& found) {
  if (!found || !choice.found || *found == *choice.found) return false;
  if (stop_.stop_requested()) throw Interrupted();
  if (!fits_core(contraction_, machine.core, *found)) return false;
  Choice other{found, build(contraction_, machine, *found), {}};
  other.prediction = predict(contraction_, other.schedule, machine, counts_);
  if (!(other.time() < choice.time() * less)) return false;
  choice = std::move(other);
  return true;
}

}  // namespace tcsim
