#include "core/model/predict.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"

namespace tcsim {

const char* to_text(ModelKind m) { return m == ModelKind::window ? "window" : "listing3"; }

ModelKind parse_model(std::string_view text) {
  for (ModelKind m : {ModelKind::window, ModelKind::listing3}) {
    if (text == to_text(m)) return m;
  }
  throw UsageError("--model", fmt::format("there is no model '{}'", text),
                   "use window or listing3");
}

std::string model_caveat(const Machine& machine) {
  std::string inclusive, hashed;
  const auto add = [](std::string& names, const Level& l) {
    names += (names.empty() ? "" : ", ") + l.name;
  };
  for (const Level& l : machine.levels) {
    const bool innermost = &l == &machine.levels.front();
    if (!innermost && l.inclusion.value == Inclusion::inclusive) add(inclusive, l);
    if (l.index != SetIndex{}) add(hashed, l);
  }
  std::string caveat;
  if (!inclusive.empty()) {
    caveat = fmt::format(
        "lines that inclusive levels ({}) take away from the caches inside are not predicted, so "
        "there may be more traffic; tcsim simulate counts it",
        inclusive);
  }
  if (!hashed.empty()) {
    caveat += fmt::format(
        "{}hashed levels ({}) are predicted as if a line's set were its number modulo the sets; "
        "tcsim simulate knows the hash",
        caveat.empty() ? "" : "; ", hashed);
  }
  return caveat;
}

namespace {

Prediction with(Traffic traffic, const Contraction& contraction, const Schedule& schedule,
                const Machine& machine) {
  Prediction p;
  p.traffic = std::move(traffic);
  p.timing = timing(p.traffic, kernel_time(contraction, schedule, machine), machine);
  p.rate = FlopsPerSecond(contraction.flops() / p.timing.total.value());
  return p;
}

}  // namespace

Prediction predict(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   ModelKind model) {
  if (machine.core.cores > 1) {
    return predict(contraction, schedule, view_of_one_core(machine), model);
  }
  if (model == ModelKind::listing3) {
    return with(listing3_traffic(contraction, schedule, machine), contraction, schedule, machine);
  }
  SharedCounts counts;
  return predict(contraction, schedule, machine, counts);
}

Prediction predict(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   SharedCounts& counts, double margin, Detail detail) {
  if (machine.core.cores > 1) {
    return predict(contraction, schedule, view_of_one_core(machine), counts, margin, detail);
  }
  return with(window_traffic(contraction, schedule, machine, counts, margin, detail), contraction,
              schedule, machine);
}

}  // namespace tcsim
