#include "core/model/predict.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/model/window.hpp"

namespace tcsim {

const char* to_text(ModelKind m) { return m == ModelKind::window ? "window" : "listing3"; }

ModelKind parse_model(std::string_view text) {
  for (ModelKind m : {ModelKind::window, ModelKind::listing3}) {
    if (text == to_text(m)) return m;
  }
  throw UsageError("--model", fmt::format("there is no model '{}'", text),
                   "use window or listing3");
}

Prediction predict(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   ModelKind model) {
  SetCounter counter;
  return predict(contraction, schedule, machine, model, counter);
}

Prediction predict(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   ModelKind model, SetCounter& counter, double margin) {
  Prediction p;
  p.traffic = model == ModelKind::window
                  ? window_traffic(contraction, schedule, machine, counter, margin)
                  : listing3_traffic(contraction, schedule, machine);
  p.timing = timing(p.traffic, contraction, machine);
  p.rate = FlopsPerSecond(contraction.flops() / p.timing.total.value());
  return p;
}

}  // namespace tcsim
