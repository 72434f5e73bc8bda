#include "cli/answers/choose.hpp"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/machine/share.hpp"
#include "core/optimize/bound.hpp"
#include "core/optimize/search.hpp"
#include "core/schedule/registers.hpp"
#include "core/schedule/scheme.hpp"

namespace tcsim::cli {

Schedule written_schedule(const ScheduleRequest& request, const Contraction& contraction,
                          const Machine& machine, std::string& place) {
  if (request.scheme) {
    if (request.text) {
      throw UsageError("--scheme", "there is --schedule as well", "leave one of them out");
    }
    place = "--scheme";
    return parse_scheme(*request.scheme, contraction, lanes_of(machine.core, contraction.type()),
                        place);
  }
  const std::string& given = *request.text;
  std::string text = given;
  place = "--schedule";
  std::error_code ignored;
  if (std::filesystem::exists(given, ignored)) {
    text = read_file(given, "name the file of a schedule");
    place = given;
  } else if (given.find_first_of(" \n{") == std::string::npos) {
    throw UsageError(
        "--schedule", fmt::format("there is no file '{}'", given),
        "name a file, or give a schedule such as 'groups m=a n=b k=c for m by 8 {...}'");
  }
  return parse_schedule(text, contraction, place);
}

Chosen judged(Schedule schedule, const std::string& place, const Contraction& contraction,
              const Machine& machine, ModelKind model) {
  Chosen chosen;
  chosen.schedule = std::move(schedule);
  std::vector<std::string> levels;
  for (const Level& l : machine.levels) levels.push_back(l.name);
  check(chosen.schedule, contraction, levels, place);
  require_registers(chosen.schedule, contraction.type(), machine, place);
  chosen.prediction = predict(contraction, chosen.schedule, machine, model);
  chosen.not_certified =
      outside_family(contraction, chosen.schedule, machine, row_orders(machine, {}));
  if (model == ModelKind::window) chosen.least = bound_of_all(contraction, machine).time;
  return chosen;
}

Chosen choose(const ScheduleRequest& request, const Contraction& contraction,
              const Machine& machine, std::stop_token stop) {
  if (request.given()) {
    std::string place;
    Schedule schedule = written_schedule(request, contraction, machine, place);
    return judged(std::move(schedule), place, contraction, machine, request.model);
  }
  const auto start = std::chrono::steady_clock::now();
  OptimizeOptions how = request.to_run ? for_running() : OptimizeOptions();
  how.objective = request.objective;
  how.dividing = request.dividing;
  Optimized best = optimize(contraction, machine, how, stop);
  const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
  Chosen chosen;
  chosen.seconds_to_solve = spent.count();
  chosen.found = best.incumbent();
  chosen.schedule = std::move(best.schedule);
  chosen.certificate = best.certificate;
  chosen.choices = best.choices;
  chosen.evaluated = best.evaluated;
  chosen.prediction = request.model == ModelKind::window
                          ? std::move(best.prediction)
                          : predict(contraction, chosen.schedule, machine, request.model);
  return chosen;
}

void take(Result& result, Chosen chosen) {
  result.schedule = std::move(chosen.schedule);
  result.found = std::move(chosen.found);
  result.prediction = std::move(chosen.prediction);
  result.certificate = chosen.certificate;
  result.not_certified = std::move(chosen.not_certified);
  result.least = chosen.least;
  result.seconds_to_solve = chosen.seconds_to_solve;
}

}  // namespace tcsim::cli
