#include "cli/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "bench/tuned_file.hpp"
#include "cli/describe.hpp"
#include "cli/values.hpp"
#include "cli/visible_stream.hpp"
#include "core/error.hpp"
#include "core/machine/override.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "core/workload/convolution.hpp"
#include "core/workload/parse.hpp"
#include "core/workload/request.hpp"
#include "kernels/overhead.hpp"
#include "microbench/host.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// What the words of an option mean.
template <class T>
using Meanings = std::vector<std::pair<std::string, T>>;

const Meanings<Format> formats{
    {"table", Format::table}, {"json", Format::json}, {"csv", Format::csv}};
const Meanings<Layout> layouts{{"row-major", Layout::row_major},
                               {"column-major", Layout::column_major}};
const Meanings<ElementType> types{{"f64", ElementType::f64}, {"f32", ElementType::f32}};
const Meanings<Objective> objectives{
    {"time", Objective::time}, {"sum", Objective::sum}, {"energy", Objective::energy}};
const Meanings<Accounting> accountings{{"honest", Accounting::honest()},
                                       {"paper", Accounting::paper()}};

template <class T>
std::vector<std::string> words_of(const Meanings<T>& meanings) {
  std::vector<std::string> all;
  for (const auto& [word, meaning] : meanings) all.push_back(word);
  return all;
}

// Precondition: the option was declared with words_of(meanings), so its value is one of them.
template <class T>
T meaning(const Options& options, const char* option, const Meanings<T>& meanings) {
  const auto& given = options[option].as<std::string>();
  return std::ranges::find(meanings, given, &std::pair<std::string, T>::first)->second;
}

std::optional<Layout> layout(const Options& options) {
  if (options.count("layout") == 0) return {};
  return meaning(options, "layout", layouts);
}

std::optional<ElementType> type(const Options& options) {
  if (options.count("type") == 0) return {};
  return meaning(options, "type", types);
}

}  // namespace

void declare_format(po::options_description& options) {
  options.add_options()("format", words(words_of(formats), "table"), "form of the output");
}

void declare_output(po::options_description& options) {
  declare_format(options);
  options.add_options()("out", po::value<std::string>(),
                        "write to this file instead of standard output");
}

void declare_workload(po::options_description& options) {
  options.add_options()(
      "size", po::value<std::string>(),
      "extent of each index: a=72,b=72,...; conv2d has its own (docs/convolutions.md)")(
      "layout", words(words_of(layouts)),
      "of the tensors; row-major unless the suite says otherwise")(
      "image-layout", po::value<std::string>(),
      "of a suite's convolutions: nhwc, nhwc32k, nchw16c; of several, the first that a layer's "
      "channels allow")(
      "type", words(words_of(types)),
      "of the elements; unless the suite says otherwise f64, of convolutions f32");
}

namespace {

// `workload`: that one is predicted on the machine.
void add_machine(po::options_description& options, bool workload) {
  options.add_options()("machine", po::value<std::string>()->default_value("host"),
                        "a shipped name, a file, or host: this machine, measured on first use");
  if (workload) {
    options.add_options()("session", po::value<std::string>(),
                          "a file of tcsim-gui: workload, machine, --set, --accounting and "
                          "--schedule, where they are not given");
  }
  options.add_options()("set", po::value<std::vector<std::string>>(),
                        "override a figure of the machine: L3.capacity=64MiB (repeatable)")(
      "accounting", words(words_of(accountings)), "what counts; otherwise what the machine says")(
      "threads", whole(1, 1),
      "use at most so many threads, for simulating and running; simulated results do not depend on "
      "it");
  if (!workload) return;
  options.add_options()("model", words({"window", "listing3"}, "window"),
                        "that predicts the traffic");
}

}  // namespace

void declare_machine(po::options_description& options) { add_machine(options, true); }
void declare_machine_alone(po::options_description& options) { add_machine(options, false); }

void declare_objective(po::options_description& options) {
  options.add_options()("objective", words(words_of(objectives), "time"),
                        "what is least: the slowest link's time, the sum over links, or energy")(
      "divide", po::bool_switch(), "only tiles that divide the one outside them");
}

void declare_schedule(po::options_description& options) {
  options.add_options()("schedule", po::value<std::string>(),
                        "a file with a schedule, or its text; otherwise the best one is chosen")(
      "scheme", po::value<std::string>(),
      "a schedule in ttile's notation: [T2,k,T34,y,λx [(2,11),(1,12)],T9,r,U*,x,U2,l,Vl]");
}

Format format(const Options& options) { return meaning(options, "format", formats); }

std::string image_layouts(const Options& options) {
  const auto layouts = options["image-layout"].as<std::string>();
  for (const std::string& word : comma_list(layouts)) {
    if (!is_image_layout(word)) {
      throw UsageError("--image-layout", fmt::format("layout '{}' is unknown", word),
                       "use nhwc, nhwc32k (weights in blocks of 32 channels), nchw, nchw8c or "
                       "nchw16c, or several with commas");
    }
  }
  return layouts;
}

WorkloadRequest workload_request(const Options& options, const std::string& argument) {
  WorkloadRequest request{argument, "", layout(options), type(options)};
  if (options.count("image-layout") != 0) request.image_layout = image_layouts(options);
  if (options.count("size") != 0) {
    request.sizes = options["size"].as<std::string>();
    if (request.sizes.empty()) parse_sizes(request.sizes);  // throws, with the right form
  }
  return request;
}

std::vector<Contraction> workloads(const Options& options, const std::string& argument) {
  return find_workloads(workload_request(options, argument));
}

std::string the_argument(const Options& options) {
  const auto given = arguments(options);
  if (given.empty()) {
    throw UsageError("", "a WORKLOAD is missing",
                     "for example tccg:9, or abcd-aebf-dfce --size a=72,b=72,...");
  }
  return given[0];
}

std::vector<Contraction> workloads(const Options& options) {
  return workloads(options, the_argument(options));
}

void refine_with_kernels(Machine& machine, const ProbeOptions& probe) {
  measure_overhead(machine, {probe.quick, probe.progress, probe.stop});
}

bool is_host(const Options& options) { return options["machine"].as<std::string>() == "host"; }

Machine named_machine(const std::string& name, const Options& options, Context& context) {
  Machine m;
  if (name == "host") {
    Progress progress(context, "measuring this machine");
    ProbeOptions probe;
    probe.quick = true;
    probe.stop = context.stop;
    probe.refine = refine_with_kernels;
    probe.progress = [&](const std::string& what, double share) {
      progress.show("measuring this machine: " + what, share);
    };
    m = host_machine(probe);
  } else {
    m = find_machine(name);
  }
  if (options.count("set") == 0) return m;
  for (const auto& knob : options["set"].as<std::vector<std::string>>()) {
    Overridden changed = override_knob(m, knob);
    m = std::move(changed.machine);
    if (!changed.note.empty() && !context.quiet) context.err << "note: " << changed.note << "\n";
  }
  check(m, "--set");
  return m;
}

Machine machine(const Options& options, Context& context) {
  Machine m = named_machine(options["machine"].as<std::string>(), options, context);
  if (options.count("accounting") != 0) {
    m.accounting = meaning(options, "accounting", accountings);
  }
  // Tables and JSON say it themselves.
  const bool silent = options.count("format") == 0 || format(options) == Format::csv;
  if (silent && !context.quiet) context.err << warning_line(m);
  return m;
}

bool has_schedule(const Options& options) {
  return options.count("schedule") != 0 || options.count("scheme") != 0;
}

ScheduleRequest schedule_request(const Options& options) {
  ScheduleRequest request;
  if (options.count("schedule") != 0) request.text = options["schedule"].as<std::string>();
  if (options.count("scheme") != 0) request.scheme = options["scheme"].as<std::string>();
  if (options.count("objective") != 0) {
    request.objective = meaning(options, "objective", objectives);
    request.dividing = options["divide"].as<bool>();
  }
  request.model = parse_model(options["model"].as<std::string>());
  return request;
}

Chosen choose(const Options& options, const Contraction& contraction, const Machine& machine,
              Context& context, const std::optional<Tuned>& tuned, bool to_run) {
  ScheduleRequest request = schedule_request(options);
  request.to_run = to_run;
  if (!request.given() && tuned) {
    const std::string place = bench::tuned_file().string();
    try {
      return judged(parse_schedule(tuned->schedule, contraction, place), place, contraction,
                    machine, request.model);
    } catch (const Error& e) {
      throw InputError(place, fmt::format("the schedule of {}: {}", contraction.label(), e.what()),
                       fmt::format("tune it anew after 'tcsim tune --forget {}', or use --untuned",
                                   contraction.name()));
    }
  }
  Chosen chosen = choose(request, contraction, machine, context.stop);
  if (!request.given() && context.verbose) {
    context.err << fmt::format("{}: {} relaxed problems solved, {} schedules judged, {:.2f} s\n",
                               contraction.name(), chosen.choices, chosen.evaluated,
                               chosen.seconds_to_solve);
  }
  return chosen;
}

Progress::Progress(Context& context, std::string what)
    : context_(context), what_(std::move(what)), started_(now()) {}

Progress::~Progress() {
  if (width_ > 0) behind(context_.err) << "\r" << std::string(width_, ' ') << "\r" << std::flush;
}

void Progress::show(double share) { show(what_, share); }

void Progress::show(const std::string& what, double share) {
  if (!context_.terminal || context_.quiet) return;
  const double spent = now() - started_;
  std::string line = fmt::format("{} {:3.0f} %", visible(what), 100 * share);
  if (share > 0.02 && spent > 1) line += fmt::format(", {:.0f} s left", spent / share - spent);
  const std::size_t width = std::max(width_, line.size());
  behind(context_.err) << "\r" << fmt::format("{:<{}}", line, width) << std::flush;
  width_ = width;
}

}  // namespace tcsim::cli
