// validate: what the model predicts against what the simulator counts, and why they differ.
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <random>
#include <string>

#include "cli/validation.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/optimize/random_schedule.hpp"
#include "core/workload/random_contraction.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

constexpr std::uint64_t most_random = 100000;  // schedules or contractions
constexpr std::size_t most_neighbours = 100000;

// An option in percent, as a fraction.
double fraction(const Options& options, const char* option) {
  const double percent = options[option].as<double>();
  if (percent >= 0 && percent <= 1e9) return percent / 100;
  throw UsageError(fmt::format("--{} {}", option, percent), "it is no limit in percent",
                   "give 0 or more, such as 10");
}

std::uint64_t seed_of(const Options& options) {
  return options.count("seed") != 0 ? options["seed"].as<std::uint64_t>() : std::random_device()();
}

// Draws contractions, which stand in no suite.
std::vector<Contraction> draw_contractions(const Options& options, std::uint64_t drawn_by) {
  for (const char* option : {"size", "layout", "type", "image-layout", "schedule", "scheme"}) {
    if (options.count(option) == 0) continue;
    throw UsageError(fmt::format("--{}", option),
                     "it says something of a workload, and none is given",
                     "name a WORKLOAD, or leave it out to have contractions drawn");
  }
  return random_contractions(drawn_by, options["random"].as<std::uint64_t>());
}

// Draws workloads of v and a schedule for each. The contractions that are asked for then are those
// of v, each of which has its own place there.
ChooseSchedule draw(const Options& options, Validation& v) {
  if (has_schedule(options)) {
    throw UsageError("--random", "there is a schedule as well",
                     "leave out --random, or --schedule and --scheme");
  }
  v.seed = seed_of(options);
  std::mt19937_64 engine(*v.seed);
  const std::vector<Contraction> all = std::move(v.workloads);
  v.workloads.clear();
  std::vector<std::uint64_t> seeds;
  for (auto left = options["random"].as<std::uint64_t>(); left > 0; --left) {
    v.workloads.push_back(all[static_cast<std::size_t>(engine() % all.size())]);
    seeds.push_back(engine());
  }
  return [&v, seeds](const Contraction& c) {
    return random_schedule(c, v.machine, seeds[static_cast<std::size_t>(&c - v.workloads.data())]);
  };
}

// The optimizer's choices, by workload. Several threads add to them.
struct Found {
  std::mutex mutex;
  std::map<std::string, Incumbent> of;
};

// What lies beside the choices of those workloads that are complete.
void look_beside(Validation& v, const Found& choices, ValidateOptions how) {
  NeighbourhoodOptions options;
  options.count = v.neighbours;
  options.threads = how.threads;
  options.stop = how.stop;
  const auto all = static_cast<double>(v.complete.size());
  double done = 0;
  for (const Validated& one : v.complete) {
    options.seed = *v.seed + static_cast<std::uint64_t>(done);
    options.progress = [&](double share) { how.progress((done + share) / all); };
    const auto found = std::ranges::find(v.workloads, one.workload, &Contraction::name);
    try {
      v.beside.emplace(one.workload,
                       neighbourhood(*found, v.machine, choices.of.at(one.workload), options));
    } catch (const Interrupted&) {
      return;
    }
    ++done;
  }
}

Exit run_validate(const Options& options, Context& context) {
  const Format form = format(options);
  ValidateOptions how;
  how.explain = fraction(options, "explain");
  how.model = parse_model(options["model"].as<std::string>());
  how.threads = options["threads"].as<int>();
  how.stop = context.stop;
  const bool random = options.count("random") != 0;
  Validation v{{}, machine(options, context), how.model, fraction(options, "limit"), {}};
  ChooseSchedule schedule;
  Found choices;
  v.drawn = random && arguments(options).empty();
  if (options.count("neighbours") != 0) {
    if (has_schedule(options) || (random && !v.drawn)) {
      throw UsageError("--neighbours", "only choices of the optimizer have neighbours",
                       "leave out --schedule, --scheme, and --random of a workload");
    }
    v.neighbours = options["neighbours"].as<std::size_t>();
    v.seed = seed_of(options);
  }
  if (v.drawn) {
    if (!v.seed) v.seed = seed_of(options);
    v.workloads = draw_contractions(options, *v.seed);
  } else {
    v.workloads = workloads(options);
  }
  if (random && !v.drawn) {
    schedule = draw(options, v);
  } else if (options.count("seed") != 0 && !v.drawn && v.neighbours == 0) {
    throw UsageError("--seed", "nothing is drawn", "give --random or --neighbours as well");
  } else {
    // Several threads choose at once: none of them writes.
    schedule = [&](const Contraction& c) {
      Context silent{context.out, context.err, context.stop, false, true, false};
      Chosen chosen = choose(options, c, v.machine, silent);
      if (chosen.found) {
        const std::lock_guard lock(choices.mutex);
        choices.of.insert_or_assign(c.name(), *std::move(chosen.found));
      }
      return chosen.schedule;
    };
  }
  {
    Progress progress(context, "validating");
    how.progress = [&](double share) { progress.show(share); };
    v.complete = validate(v.workloads, v.machine, schedule, how);
  }
  if (v.neighbours > 0) {
    Progress progress(context, "simulating neighbours");
    how.progress = [&](double share) { progress.show(share); };
    look_beside(v, choices, how);
  }
  print(v, form, context.out);
  if (v.complete.size() < v.workloads.size()) {
    context.err << fmt::format("tcsim: interrupted after {} of {} workloads\n", v.complete.size(),
                               v.workloads.size());
    return Exit::interrupted;
  }
  return v.passed() ? Exit::done : Exit::no;
}

}  // namespace

const Command& validate_command() {
  static const Command command{
      "validate",
      "WORKLOAD",
      "predicted against simulated for every workload of a suite, and why they differ",
      "tcsim validate ij-ik-kj --size i=384,j=384,k=384 --machine i7-6700k",
      [](po::options_description& o) {
        o.add_options()("limit", po::value<double>()->default_value(10),
                        "percent; with an error above it the exit code is 1")(
            "explain", po::value<double>()->default_value(5),
            "percent; errors above it get their reason, which takes further simulations");
        o.add_options()("random", whole_if_given<std::uint64_t>(1, most_random),
                        "draw so many times a workload of the suite and a legal schedule for it, "
                        "instead of choosing good ones; without a WORKLOAD, draw so many "
                        "contractions and choose good schedules for them")(
            "seed", whole_if_given<std::uint64_t>(0),
            "that --random draws the same ones by again; otherwise a new one, which is printed");
        o.add_options()("neighbours", whole_if_given<std::size_t>(1, most_neighbours),
                        "simulate so many schedules beside each choice as well, and say how often "
                        "the choice is within 3 % of the best of them");
        declare_workload(o);
        declare_machine(o);
        declare_schedule(o);
        declare_objective(o);
        declare_output(o);
      },
      run_validate};
  return command;
}

}  // namespace tcsim::cli
