// What a schedule costs on a machine: traffic by one of the models, and the time that follows.
#pragma once

#include <string>
#include <string_view>

#include "core/machine/machine.hpp"
#include "core/model/traffic.hpp"
#include "core/model/window.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

enum class ModelKind {
  window,    // core/model/window.hpp: the one that tcsim chooses tiles by
  listing3,  // acmtc-sc19, Listing 3 and Eq. 10-14, for comparison
};
const char* to_text(ModelKind);
// "window" or "listing3"; throws UsageError otherwise.
ModelKind parse_model(std::string_view text);

// What predictions for this machine leave out, as a sentence without a full stop; empty where
// nothing is known to be left out.
std::string model_caveat(const Machine& machine);

struct Prediction {
  Traffic traffic;
  Timing timing;
  FlopsPerSecond rate;  // flops / predicted time
};

// Throws UnsupportedError (common_line()) and TooLargeError (core/model/countable.hpp).
Prediction predict(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   ModelKind model = ModelKind::window);
// By the window model, for many schedules and machines: `counts` remembers what they share.
// For `margin` and `detail` see window_traffic().
Prediction predict(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   SharedCounts& counts, double margin = 1, Detail detail = Detail::counted);

}  // namespace tcsim
