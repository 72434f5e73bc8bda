// What the commands answer: the same calls, and the same records.
#include <pybind11/stl.h>

#include <algorithm>
#include <sstream>

#include "cli/answers/bounds.hpp"
#include "cli/answers/choose.hpp"
#include "cli/answers/fuse_caches.hpp"
#include "cli/answers/simulation.hpp"
#include "cli/answers/whatif.hpp"
#include "cli/result.hpp"
#include "cli/version.hpp"
#include "cli/whatif.hpp"
#include "core/bounds/link_bounds.hpp"
#include "core/error.hpp"
#include "core/explore/advice.hpp"
#include "core/io/read_file.hpp"
#include "core/levels/hierarchy.hpp"
#include "core/study/study.hpp"
#include "kernels/execute.hpp"
#include "microbench/host.hpp"
#include "python/bindings/background.hpp"
#include "python/bindings/values.hpp"
#include "sweep/sweep.hpp"

namespace tcsim::python {

namespace py = pybind11;

namespace {

using cli::CachedAnswer;
using cli::Result;
using cli::ScheduleRequest;
using cli::WhatIf;
using cli::bounding::BoundsRequest;
using Text = std::optional<std::string>;

struct Bounds {
  cli::bounding::Answer answer;
  BoundsRequest request;
};

template <class T>
std::string printed(const T& record) {
  std::ostringstream out;
  print_table(record, out);
  return out.str();
}

Objective objective_of(const std::string& word) {
  for (const Objective one : {Objective::time, Objective::sum, Objective::energy}) {
    if (word == to_text(one)) return one;
  }
  throw UsageError("objective", "'" + word + "' is unknown", "use time, sum or energy");
}

ScheduleRequest request_of(const Text& schedule, const Text& scheme, const std::string& objective,
                           bool divide, const std::string& model) {
  return {schedule, scheme, objective_of(objective), divide, parse_model(model)};
}

// Advice as tcsim report gives it.
void add_advice(Result& r, const ScheduleRequest& asked, const Watch& watch) {
  if (r.model != ModelKind::window) return;
  ExploreOptions explore;
  explore.stop = watch.stop;
  explore.progress = watch.progress;
  if (asked.given()) {
    explore.fixed = &r.schedule;
  } else if (r.found) {
    explore.incumbents = {*r.found};
  }
  r.advice = advice(r.workload, r.machine, explore);
}

Result predicted(const std::string& command, const Contraction& workload, const Machine& machine,
                 const Text& schedule, const Text& scheme, const std::string& objective,
                 bool divide, const std::string& model, bool advise, const py::object& progress) {
  const ScheduleRequest asked = request_of(schedule, scheme, objective, divide, model);
  return answer(progress, [&](const Watch& watch) {
    Result r(command, workload, machine);
    r.model = asked.model;
    take(r, choose(asked, workload, machine, watch.stop));
    if (command == "predict") r.certificate.reset();
    if (command == "report") r.seed = 1;
    if (command == "report") r.bounds = bounds::LinkBounds(workload).at(machine);
    if (advise) add_advice(r, asked, watch);
    return r;
  });
}

Result simulated(const Contraction& workload, const Machine& machine, const Text& schedule,
                 const Text& scheme, const std::string& objective, bool divide,
                 const std::string& model, const cli::SimulationRequest& what, int threads,
                 const py::object& progress) {
  const ScheduleRequest asked = request_of(schedule, scheme, objective, divide, model);
  return answer(progress, [&](const Watch& watch) {
    Result r("simulate", workload, machine);
    r.model = asked.model;
    r.seed = what.seed.value_or(1);
    take_for_simulation(r, asked, watch.stop);
    SimulationOptions how;
    how.stop = watch.stop;
    how.progress = watch.progress;
    how.threads = threads;
    add_simulation(r, what, how);
    add_set_use(r, what, how);
    add_timeline(r, what, how);
    return r;
  });
}

Result run_here(const Contraction& workload, const Machine& machine, const Text& schedule,
                const Text& scheme, const std::string& objective, bool divide,
                const std::string& model, std::optional<int> repetitions, std::uint64_t seed,
                int threads, const py::object& progress) {
  ScheduleRequest asked = request_of(schedule, scheme, objective, divide, model);
  asked.to_run = true;
  return answer(progress, [&](const Watch& watch) {
    require_memory(workload);
    // What is predicted and chosen is for one core of as many, which share the outer levels.
    Machine shared = machine;
    shared.core.cores = std::max(machine.core.cores, threads);
    Result r("run", workload, shared);
    r.model = asked.model;
    r.seed = seed;
    take(r, choose(asked, workload, shared, watch.stop));
    const Plan plan(workload, r.schedule);
    require_memory(plan);
    take(r, tcsim::run(plan, {.repeat = repetitions ? Repeat(*repetitions) : Repeat::until_known(),
                              .seed = seed,
                              .threads = threads,
                              .progress = watch.progress,
                              .stop = watch.stop}));
    return r;
  });
}

WhatIf what_if(const Contraction& workload, const Machine& machine,
               const std::vector<std::string>& vary, bool fixed, const Text& schedule,
               const Text& scheme, const py::object& progress) {
  const ScheduleRequest asked = request_of(schedule, scheme, "time", false, "window");
  WhatIf w(workload, machine);
  w.ranges = cli::knob_ranges(vary, machine);
  w.fixed_schedule = fixed || asked.given();
  apart(progress, [&](const Watch& watch) {
    ExploreOptions options;
    options.stop = watch.stop;
    options.progress = watch.progress;
    cli::Chosen chosen;
    if (w.fixed_schedule) {
      chosen = choose(asked, workload, machine, watch.stop);
      options.fixed = &chosen.schedule;
    }
    explore(w, std::move(options));
  });
  return w;
}

std::vector<Bounds> bounds_of(std::vector<cli::bounding::Work> works,
                              const std::vector<std::string>& cache, const std::string& accounting,
                              const std::string& notation, const py::object& progress) {
  BoundsRequest request;
  request.cache = cache;
  if (accounting != "honest" && accounting != "paper") {
    throw UsageError("accounting", "'" + accounting + "' is unknown", "use honest or paper");
  }
  if (notation != "text" && notation != "latex" && notation != "python") {
    throw UsageError("notation", "'" + notation + "' is unknown", "use text, latex or python");
  }
  if (accounting == "paper") request.moves = bounds::Moves::loads;
  request.notation = notation;
  request.forms = request.print_forms = true;
  return answer(progress, [&](const Watch& watch) {
    std::vector<Bounds> all;
    for (cli::bounding::Work& work : works) {
      if (watch.stop.stop_requested()) throw Interrupted();
      all.push_back({cli::bounding::answer(request, std::move(work)), request});
    }
    return all;
  });
}

std::vector<CachedAnswer> fused(const fusion::ChainRequest& request, const Machine& machine,
                                const Text& schedule, bool simulate, const py::object& progress) {
  if (levels::has_explicit_levels(machine)) {
    throw UnsupportedError("machine", machine.name + " has explicit levels",
                           "ask tcsim fuse, or name a machine with caches");
  }
  return answer(progress, [&](const Watch& watch) {
    std::vector<CachedAnswer> all;
    for (fusion::Chain& chain : fusion::find_chains(request)) {
      if (watch.stop.stop_requested()) throw Interrupted();
      const auto show = [&](const std::string&, double share) { watch.progress(share); };
      all.push_back(
          cli::cached_answer({schedule, simulate, watch.stop, show}, std::move(chain), machine));
    }
    return all;
  });
}

py::dict sweep_into(const std::string& file, const std::string& text, const std::string& folder,
                    bool resume, int threads, const std::optional<Machine>& host,
                    const py::object& progress) {
  SweepOutcome outcome;
  std::string name;
  apart(progress, [&](const Watch& watch) {
    StudySources sources = shipped_sources(file);
    const auto shipped = sources.machine;
    sources.machine = [&, shipped](const std::string& machine) {
      if (machine != "host") return shipped(machine);
      if (host) return *host;
      throw UsageError("host", "it is not measured", "give sweep(..., host=tcsim.machine())");
    };
    const std::string study_text =
        text.empty() ? read_file(file, "give the path of a study's file") : text;
    const Study study = parse_study(study_text, file, sources, watch.stop);
    name = study.name;
    SweepOptions how;
    how.folder = folder;
    how.resume = resume;
    how.threads = threads;
    how.version = cli::version;
    how.stop = watch.stop;
    how.progress = [&](const SweepProgress& p) { watch.progress(p.share); };
    outcome = sweep(study, how);
    if (!outcome.complete) throw Interrupted();
  });
  py::dict d;
  d["command"] = "sweep";
  d["tcsim_version"] = cli::version;
  d["study"] = to_str(name);
  d["folder"] = to_str(folder);
  d["designs"] = outcome.totals.designs;
  d["points"] = outcome.totals.points;
  d["resumed_points"] = outcome.resumed;
  d["text"] = to_str(outcome.totals.verdict);
  return d;
}

}  // namespace

void bind_answers(py::module_& m) {
  using namespace pybind11::literals;
  m.attr("version") = cli::version;

  py::class_<Result>(m, "Result")
      .def("record", [](const Result& r) { return to_python(json_of(r)); })
      .def("table", printed<Result>)
      .def("schedule",
           [](const Result& r) {
             return WorkloadSchedule{r.workload, r.schedule};
           })
      .def("workload", [](const Result& r) { return r.workload; })
      .def("machine", [](const Result& r) { return r.machine; });
  m.def("predicted", predicted, "command"_a, "workload"_a, "machine"_a, "schedule"_a, "scheme"_a,
        "objective"_a, "divide"_a, "model"_a, "advise"_a, "progress"_a);
  m.def(
      "simulated",
      [](const Contraction& workload, const Machine& machine, const Text& schedule,
         const Text& scheme, const std::string& objective, bool divide, const std::string& model,
         bool attribution, bool tlb, const std::optional<std::string>& sets,
         std::optional<int> timeline, const std::pair<std::int64_t, std::int64_t>& timeline_part,
         std::optional<std::int64_t> sample, const std::vector<std::string>& rules, bool drain,
         std::uint64_t seed, int threads, const py::object& progress) {
        return simulated(workload, machine, schedule, scheme, objective, divide, model,
                         {attribution,
                          tlb,
                          sample,
                          rules,
                          drain,
                          seed,
                          sets,
                          timeline,
                          {timeline_part.first, timeline_part.second}},
                         threads, progress);
      },
      "workload"_a, "machine"_a, "schedule"_a, "scheme"_a, "objective"_a, "divide"_a, "model"_a,
      "attribution"_a, "tlb"_a, "sets"_a, "timeline"_a, "timeline_part"_a, "sample"_a, "rules"_a,
      "drain"_a, "seed"_a, "threads"_a, "progress"_a);
  m.def("run_here", run_here, "workload"_a, "machine"_a, "schedule"_a, "scheme"_a, "objective"_a,
        "divide"_a, "model"_a, "repetitions"_a, "seed"_a, "threads"_a, "progress"_a);

  py::class_<WhatIf>(m, "WhatIf")
      .def("record", [](const WhatIf& w) { return to_python(json_of(w)); })
      .def("table", printed<WhatIf>)
      .def("workload", [](const WhatIf& w) { return w.workload; })
      .def("machine", [](const WhatIf& w) { return w.machine; });
  m.def("what_if", what_if, "workload"_a, "machine"_a, "vary"_a, "fixed"_a, "schedule"_a,
        "scheme"_a, "progress"_a);

  py::class_<Bounds>(m, "Bounds")
      .def("record", [](const Bounds& b) { return to_python(json_of(b.answer, b.request)); })
      .def("table", [](const Bounds& b) {
        std::ostringstream out;
        print_table(b.answer, b.request, out);
        return out.str();
      });
  m.def(
      "bounds_of_workload",
      [](const Contraction& workload, const std::vector<std::string>& cache,
         const std::string& accounting, const std::string& notation, const py::object& progress) {
        return bounds_of({cli::bounding::work_of(workload)}, cache, accounting, notation, progress);
      },
      "workload"_a, "cache"_a, "accounting"_a, "notation"_a, "progress"_a);
  m.def(
      "bounds_of_text",
      [](const std::string& name, const std::string& sizes, const Text& layout, const Text& type,
         const std::vector<std::string>& cache, const std::string& accounting,
         const std::string& notation, const py::object& progress) {
        return bounds_of(cli::bounding::works({name, sizes, layout_of(layout), type_of(type), ""}),
                         cache, accounting, notation, progress);
      },
      "name"_a, "sizes"_a, "layout"_a, "type"_a, "cache"_a, "accounting"_a, "notation"_a,
      "progress"_a);
  py::class_<CachedAnswer>(m, "Fused")
      .def("record", [](const CachedAnswer& a) { return to_python(json_of(a)); })
      .def("table", printed<CachedAnswer>)
      .def("machine", [](const CachedAnswer& a) { return a.machine; });
  m.def(
      "fused",
      [](const std::string& name, const std::string& sizes, const Text& type,
         const std::string& order, const Machine& machine, const Text& schedule, bool simulate,
         const py::object& progress) {
        return fused({name, sizes, type_of(type), order}, machine, schedule, simulate, progress);
      },
      "name"_a, "sizes"_a, "type"_a, "order"_a, "machine"_a, "schedule"_a, "simulate"_a,
      "progress"_a);
  m.def("sweep_into", sweep_into, "file"_a, "text"_a, "folder"_a, "resume"_a, "threads"_a, "host"_a,
        "progress"_a);
}

}  // namespace tcsim::python
