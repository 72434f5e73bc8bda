#include "cli/work.hpp"

#include <fmt/format.h>

#include "bench/tuned_file.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/explore/suite_total.hpp"
#include "core/plan/parts.hpp"
#include "core/text/safe.hpp"
#include "kernels/execute.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

Result predicted_result(const std::string& command, const Options& options,
                        const Contraction& contraction, const Machine& machine, Context& context,
                        std::optional<Tuned> tuned) {
  Result r(command, contraction, machine);
  r.model = parse_model(options["model"].as<std::string>());
  r.seed = options.count("seed") != 0 ? options["seed"].as<std::uint64_t>() : 0;
  Progress progress(context, contraction.name() + ": choosing a schedule");
  progress.show(0);
  // A report of this machine runs what it is about, too.
  const bool to_run = command == "run" || (command == "report" && is_host(options));
  take(r, choose(options, contraction, machine, context, tuned, to_run));
  r.tuned = std::move(tuned);
  return r;
}

void declare_untuned(po::options_description& options) {
  options.add_options()("untuned", po::bool_switch(),
                        "the model's choice, also where 'tcsim tune' found a faster schedule");
}

std::optional<Tuned> tuned_schedule(const Options& options, const Contraction& contraction,
                                    int threads, Context& context) {
  const bool asks_the_model = options["untuned"].as<bool>() || options["divide"].as<bool>() ||
                              options["objective"].as<std::string>() != to_text(Objective::time);
  const auto given = [&](const char* option) { return options.count(option) != 0; };
  if (!is_host(options) || asks_the_model || has_schedule(options) || given("set") ||
      given("accounting")) {
    return {};
  }
  const TunedSchedules all = bench::load_tuned(bench::tuned_file());
  const Tuned* found = all.find(bench::tuned_key_here(contraction, threads));
  if (found == nullptr) return {};
  // Tables and JSON say it themselves.
  if (format(options) == Format::csv && !context.quiet) {
    context.err << fmt::format("note: {}: schedule {}\n", contraction.name(), found->words());
  }
  return *found;
}

void add_advice(Result& result, const Options& options, Context& context) {
  if (result.model != ModelKind::window) return;
  Progress progress(context, result.workload.name() + ": what would help");
  ExploreOptions explore;
  explore.stop = context.stop;
  explore.progress = [&](double share) { progress.show(share); };
  if (has_schedule(options) || result.tuned || !result.found) {
    explore.fixed = &result.schedule;
  } else {
    explore.incumbents = {*result.found};
  }
  result.advice = advice(result.workload, result.machine, explore);
}

void declare_run(po::options_description& options) {
  options.add_options()("repetitions", new Whole<int>(1, 10000),
                        "how often to run; the median counts [until the time is known]")(
      "seed", whole<std::uint64_t>(1, 0), "of the inputs' values")(
      "counters", words({"auto", "papi", "likwid", "none"})->implied("auto"),
      "count cache lines over each link while it runs, where this machine can");
}

namespace {

// Where even the tables of a schedule do not fit, says for which sizes.
Result with_memory(const Contraction& c, const std::function<Result()>& work) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    throw UnsupportedError(fmt::format("{} {}", c.name(), c.sizes()), "there is not enough memory",
                           "use smaller sizes");
  }
}

std::optional<Counting> counting(const Options& options, Runner::Counters counters) {
  if (options.count("counters") == 0) {
    if (counters == Runner::Counters::as_asked) return {};
    return choose_counting(CounterChoice::unasked);
  }
  const auto& source = options["counters"].as<std::string>();
  return choose_counting(source == "papi"     ? CounterChoice::papi
                         : source == "likwid" ? CounterChoice::likwid
                         : source == "none"   ? CounterChoice::none
                                              : CounterChoice::automatic);
}

}  // namespace

Runner::Runner(const Options& options, Context& context, int threads, int copies, Counters counters)
    : repeat_(options.count("repetitions") != 0 ? Repeat(options["repetitions"].as<int>())
                                                : Repeat::until_known()),
      threads_(threads),
      copies_(copies),
      counting_(counting(options, counters)),
      context_(context) {
  if (copies > 1 && threads > 1) {
    throw UsageError("--batched", "each contraction of a batch runs on one thread",
                     "leave out --threads, or --batched");
  }
  if (copies > 1 && counting_) {
    throw UsageError("--batched", "counters count one contraction at a time",
                     "leave out --counters, or --batched");
  }
  if (!counting_ || !repeat_.at_least(counting_->groups()) || context.quiet) return;
  context.err << fmt::format("note: {} repetitions at least, so that every figure gets its turn\n",
                             counting_->groups());
}

void Runner::require_memory(const Contraction& contraction) const {
  tcsim::require_memory(contraction);
}

void Runner::require_memory(const Result& result) const {
  tcsim::require_memory(Plan(result.workload, result.schedule), copies_);
}

void Runner::add_run(Result& result) {
  Progress progress(context_, result.workload.name() + ": running");
  progress.show(0);
  if (counting_) counting_->restart();
  const Plan plan(result.workload, result.schedule);
  RunOptions how{.repeat = repeat_,
                 .seed = result.seed,
                 .threads = threads_worth(result.workload, threads_),
                 .progress = [&](double share) { progress.show(share); },
                 .stop = context_.stop};
  if (counting_) {
    how.around = [&](const std::function<void()>& work) { counting_->count(work); };
  }
  take(result, copies_ > 1 ? run_batched(plan, copies_, how) : tcsim::run(plan, how), copies_);
  if (counting_) result.counted = counting_->result();
}

Exit for_each_workload(const Options& options, Context& context,
                       const std::function<Result(const Contraction&, const Machine&)>& work) {
  const Format form = format(options);
  const std::vector<Contraction> all = workloads(options);
  const Machine m = machine(options, context);
  std::vector<Result> results;
  Exit code = Exit::done;
  try {
    for (const Contraction& c : all) {
      results.push_back(with_memory(c, [&] { return work(c, m); }));
      if (results.back().worst_error && !(*results.back().worst_error <= 1)) code = Exit::no;
      // A table is readable as it grows; the other formats are one document.
      if (form == Format::table) {
        if (&c != &all.front()) context.out << "\n";
        print({results.back()}, form, false, context.out);
        context.out.flush();
      }
    }
  } catch (const Interrupted&) {
    context.err << fmt::format("tcsim: interrupted after {} of {} workloads\n", results.size(),
                               all.size());
    code = Exit::interrupted;
  }
  if (form != Format::table) {
    print(results, form, all.size() > 1, context.out);
  } else if (code == Exit::done && results.size() > 1) {
    // Of all that is asked for, and where nothing else than the prediction is.
    SuiteTotal total;
    for (const Result& r : results) {
      if (r.prediction && !r.simulation && !r.measured)
        total.add(r.workload, r.machine, *r.prediction);
    }
    if (total.rows.size() == all.size()) {
      context.out << "\n" << visible(total_words(total)) << "\n";
    }
  }
  return code;
}

}  // namespace tcsim::cli
