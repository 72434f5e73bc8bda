// The best schedule known for each of several machines that differ by knobs. What a search finds
// for one machine is tried on its neighbours. So a better machine is never called slower only
// because its search was less lucky.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/model/shared_counts.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// A schedule for a machine, and what it costs there.
struct Choice {
  std::optional<Incumbent> found;  // of a schedule that was searched for
  Schedule schedule;
  Prediction prediction;

  Seconds time() const { return prediction.timing.total; }
};

class Chooser {
 public:
  // With a fixed schedule, that one is chosen everywhere. Contraction and schedule must outlive
  // this.
  Chooser(const Contraction& contraction, const Schedule* fixed, std::stop_token stop);

  // Searches, beginning from what is known for others. Throws Interrupted, what optimize() or
  // predict() throw, and UnsupportedError where the core has too few registers for a fixed
  // schedule.
  Choice search(const Machine& machine, const std::vector<Incumbent>& incumbents);
  // Replaces `choice` by another machine's if the core has its kernel and it takes less time on
  // this one. Returns whether it did.
  bool improve(Choice& choice, const Machine& machine, const std::optional<Incumbent>& found);

  bool is_fixed() const { return fixed_ != nullptr; }
  const Contraction& contraction() const { return contraction_; }

 private:
  const Contraction& contraction_;
  const Schedule* fixed_;
  std::stop_token stop_;
  SharedCounts counts_;
};

}  // namespace tcsim
