// A schedule for a workload on a machine: one that somebody wrote, or the optimizer's choice. For
// the command line and for the Python module.
#pragma once

#include <optional>
#include <stop_token>
#include <string>

#include "cli/result.hpp"
#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/optimize/optimize.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::cli {

struct ScheduleRequest {
  std::optional<std::string> text;        // of a schedule, or the path of its file
  std::optional<std::string> scheme;      // in ttile's notation, instead
  Objective objective = Objective::time;  // of the optimizer's choice
  bool dividing = false;                  // only tiles that divide the one outside them
  ModelKind model = ModelKind::window;
  bool to_run = false;  // for_running()

  bool given() const { return text || scheme; }
};

struct Chosen {
  Schedule schedule;
  std::optional<Incumbent> found;  // of the optimizer's choice
  Prediction prediction;
  std::optional<Certificate> certificate;  // of the optimizer's choice
  std::string not_certified;     // of a given or tuned one: why the optimizer's bound does not hold
  std::optional<Seconds> least;  // of the same: bound_of_all()
  double seconds_to_solve = 0;
  int choices = 0, evaluated = 0;  // relaxed problems solved, schedules judged
};

// One that is written in a file, or its text. Throws UsageError where it is neither, InputError
// where it is no schedule of the contraction; `place` becomes what names it in errors.
Schedule written_schedule(const ScheduleRequest& request, const Contraction& contraction,
                          const Machine& machine, std::string& place);
// A schedule that somebody wrote, checked and predicted. Throws InputError, with the place, where
// it is not legal, and UnsupportedError where the core has too few registers for it.
Chosen judged(Schedule schedule, const std::string& place, const Contraction& contraction,
              const Machine& machine, ModelKind model);
// What the request asks for. Throws as these two and as optimize().
Chosen choose(const ScheduleRequest& request, const Contraction& contraction,
              const Machine& machine, std::stop_token stop = {});

// Puts what was chosen, and how it was, into a result.
void take(Result& result, Chosen chosen);

}  // namespace tcsim::cli
