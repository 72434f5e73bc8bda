#include "cli/simulation.hpp"

#include <fmt/format.h>

#include <chrono>
#include <fstream>

#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/machine/share.hpp"
#include "core/text/safe.hpp"
#include "sim/simulate_trace.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;
using nlohmann::ordered_json;

namespace {

// The counts of a level, under the names that JSON and CSV have for them.
struct Field {
  const char* name;
  Lines LevelCounts::*count;
};
constexpr Field fields[] = {{"hits", &LevelCounts::hits},
                            {"misses", &LevelCounts::misses},
                            {"fetches", &LevelCounts::fetches},
                            {"fills", &LevelCounts::fills},
                            {"evictions", &LevelCounts::evictions},
                            {"write_backs", &LevelCounts::write_backs},
                            {"clean_victims", &LevelCounts::clean_victims},
                            {"writes_through", &LevelCounts::writes_through},
                            {"invalidations", &LevelCounts::invalidations},
                            {"prefetches", &LevelCounts::prefetches},
                            {"useful_prefetches", &LevelCounts::useful_prefetches}};

constexpr std::int64_t most_classes = std::int64_t{1} << 31;

bool flag(const Options& options, const char* name) {
  return options.count(name) != 0 && options[name].as<bool>();
}

// "L2.write_back_miss=pass"
void apply_rule(const std::string& rule, sim::SystemConfig& config) {
  const auto dot = rule.find('.'), equals = rule.find('=');
  const std::string place = "--rule " + rule;
  if (dot == std::string::npos || equals == std::string::npos || equals < dot) {
    throw UsageError(place, "it is not LEVEL.RULE=VALUE", "for example L2.write_back_miss=pass");
  }
  const std::string owner = rule.substr(0, dot), name = rule.substr(dot + 1, equals - dot - 1);
  const std::string value = rule.substr(equals + 1);
  const auto either = [&](const char* yes, const char* no) {
    if (value == yes) return true;
    if (value == no) return false;
    throw UsageError(place, fmt::format("'{}' is not known", value),
                     fmt::format("use {} or {}", yes, no));
  };
  for (sim::LevelConfig& level : config.levels) {
    if (level.name != owner) continue;
    if (name == "write_hit_refreshes") {
      level.write_hit_refreshes = either("true", "false");
    } else if (name == "write_back_refreshes") {
      level.write_back_refreshes = either("true", "false");
    } else if (name == "write_back_miss") {
      level.write_back_miss =
          either("allocate", "pass") ? sim::WriteBackMiss::allocate : sim::WriteBackMiss::pass;
    } else {
      throw UsageError(place, fmt::format("there is no rule '{}'", name),
                       "use write_hit_refreshes, write_back_refreshes or write_back_miss");
    }
    return;
  }
  throw UsageError(place, fmt::format("there is no cache '{}'", owner), "use a level's name");
}

Instructions instructions(const Options& options) {
  const auto& given = options["instructions"].as<std::string>();
  if (given == "ignore") return Instructions::ignore;
  return given == "split" ? Instructions::split : Instructions::unified;
}

std::optional<sim::TraceFormat> trace_format(const Options& options) {
  if (options.count("trace-format") == 0) return {};
  const auto& given = options["trace-format"].as<std::string>();
  if (given == "din") return sim::TraceFormat::din;
  return given == "lackey" ? sim::TraceFormat::lackey : sim::TraceFormat::binary;
}

void print_header(std::ostream& out) {
  out << fmt::format("  {:<14}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "cache", "hits", "misses", "fills",
                     "evictions", "write-backs");
}

void print_counts(const std::string& name, const LevelCounts& c, std::ostream& out) {
  out << fmt::format("  {:<14}{:>16}{:>16}{:>16}{:>16}{:>16}\n", name, c.hits.value(),
                     c.misses.value(), c.fills.value(), c.evictions.value(), c.write_backs.value());
  // What only some caches do.
  std::string more;
  for (const Field& f : fields) {
    const std::string field = f.name;
    const bool shown = field == "clean_victims" || field == "writes_through" ||
                       field == "invalidations" || field.find("prefetches") != std::string::npos;
    if (!shown || (c.*f.count).value() == 0) continue;
    more += fmt::format("{}{} {}", more.empty() ? "" : ", ", f.name, (c.*f.count).value());
  }
  if (!more.empty()) out << fmt::format("  {:<14}{}\n", "", more);
}

ordered_json counts_json(const LevelCounts& counts) {
  ordered_json j;
  for (const Field& f : fields) j[f.name] = (counts.*f.count).value();
  return j;
}

ordered_json causes_json(const MissCauses& m) {
  return {{"compulsory", m.compulsory.value()},
          {"capacity", m.capacity.value()},
          {"conflict", m.conflict.value()}};
}

// A loop of the schedule as it is written there; the last step stands for what it contains.
std::string step_text(const Step& step) {
  if (step.kind == Step::Kind::kernel) return "within a kernel or pack";
  if (step.kind == Step::Kind::move) return fmt::format("pack {}", to_text(step.tensor));
  return fmt::format("for {} by {}", to_text(step.group), step.tile);
}

// 0, 1, 2-3, 4-7, ...
std::string bucket_text(std::size_t bucket) {
  if (bucket < 2) return std::to_string(bucket);
  return fmt::format("{}-{}", std::uint64_t{1} << (bucket - 1), (std::uint64_t{1} << bucket) - 1);
}

void print_attribution(const Result& r, std::ostream& out) {
  const Path path = only_path(r.workload, r.schedule);
  out << fmt::format("  {:<14}{:<22}{:>16}{:>16}{:>16}\n", "misses", "", "compulsory", "capacity",
                     "conflict");
  for (std::size_t l = 0; l < r.attribution.size(); ++l) {
    std::string name = r.machine.level(LevelId{static_cast<int>(l)}).name;
    const auto row = [&](const std::string& of, const MissCauses& m) {
      if (m.total() == Lines(0)) return;
      out << fmt::format("  {:<14}{:<22}{:>16}{:>16}{:>16}\n", name, of, m.compulsory.value(),
                         m.capacity.value(), m.conflict.value());
      name.clear();
    };
    const LevelAttribution& level = r.attribution[l];
    row("all", level.total());
    for (Phase p : all_phases) {
      for (ArrayId a : all_arrays) {
        row(fmt::format("{}{}", to_text(a), p == Phase::packing ? ", packing" : ""),
            level.misses[static_cast<std::size_t>(index(p))][static_cast<std::size_t>(index(a))]);
      }
    }
  }
  out << fmt::format("\n  {:<14}{:<26}{:>12}\n", "misses again", "reuse carried by", "lines");
  for (std::size_t l = 0; l < r.attribution.size(); ++l) {
    std::string name = r.machine.level(LevelId{static_cast<int>(l)}).name;
    for (std::size_t s = 0; s < path.steps.size(); ++s) {
      const Lines lines = r.attribution[l].by_step[s];
      if (lines == Lines(0)) continue;
      out << fmt::format("  {:<14}{:<26}{:>12}\n", name, step_text(path.steps[s]), lines.value());
      name.clear();
    }
  }
  out << fmt::format("\n  {:<14}{:<26}{:>12}\n", "requests", "reuse distance, lines", "lines");
  for (std::size_t l = 0; l < r.attribution.size(); ++l) {
    std::string name = r.machine.level(LevelId{static_cast<int>(l)}).name;
    const auto row = [&](const std::string& distance, Lines lines) {
      if (lines == Lines(0)) return;
      out << fmt::format("  {:<14}{:<26}{:>12}\n", name, distance, lines.value());
      name.clear();
    };
    for (std::size_t b = 0; b < r.attribution[l].reuse_distances.size(); ++b) {
      row(bucket_text(b), r.attribution[l].reuse_distances[b]);
    }
    row("first use", r.attribution[l].first_uses);
  }
  out << "\n";
}

void print_sample(const Result& r, std::ostream& out) {
  out << fmt::format("  {} of {} classes of sets simulated; totals within, at 95 % confidence:\n",
                     r.sampled->classes, r.sampled->of);
  out << fmt::format("  {:<14}{:>32}{:>32}\n", "cache", "misses", "write-backs");
  const auto estimate = [](const Estimate& e) {
    return fmt::format("{:.0f} +- {:.0f}", e.value, e.error);
  };
  for (std::size_t l = 0; l < r.sampled->levels.size(); ++l) {
    out << fmt::format("  {:<14}{:>32}{:>32}\n", r.machine.level(LevelId{static_cast<int>(l)}).name,
                       estimate(r.sampled->levels[l].misses),
                       estimate(r.sampled->levels[l].write_backs));
  }
  out << "\n";
}

}  // namespace

void declare_simulation(po::options_description& options) {
  options.add_options()("attribution", po::bool_switch(),
                        "say why lines are missed, by tensor, phase and loop, and how far uses lie "
                        "apart; slower")(
      "sample", new Whole<std::int64_t>(2, most_classes),
      "simulate so many classes of sets only and estimate the rest")(
      "tlb", po::bool_switch(), "also simulate the machine's TLBs")(
      "rule", po::value<std::vector<std::string>>(),
      "LEVEL.RULE=VALUE: write_hit_refreshes or write_back_refreshes=true|false, "
      "write_back_miss=allocate|pass (repeatable)")("no-drain", po::bool_switch(),
                                                    "leave dirty lines where they are at the end")(
      "no-replay", po::bool_switch(), "simulate again what happened before; for comparison")(
      "seed", whole<std::uint64_t>(1, 0), "of random and brrip replacement, and of the sample")(
      "write-trace", po::value<std::string>(),
      "write the accesses of the schedule to this file and do no more")(
      "trace", po::value<std::vector<std::string>>(),
      "simulate this trace instead of a workload; one for each core (repeatable)")(
      "trace-format", words({"din", "lackey", "binary"}),
      "of the traces; otherwise they are looked at")(
      "grain", whole<std::int64_t>(1, 1), "accesses of one core before the next one's turn")(
      "instructions", words({"ignore", "unified", "split"}, "ignore"),
      "of a trace: split gives them an innermost cache of their own");
}

sim::SystemConfig system(const Options& options, const Machine& machine, int cores) {
  sim::SystemConfig config = sim::system_of(machine, cores);
  config.drain = !flag(options, "no-drain");
  if (options.count("seed") != 0) config.seed = options["seed"].as<std::uint64_t>();
  if (options.count("rule") != 0) {
    for (const auto& rule : options["rule"].as<std::vector<std::string>>()) {
      apply_rule(rule, config);
    }
  }
  return config;
}

void add_simulation(Result& result, const Options& options, Context& context) {
  Progress progress(context, result.workload.name() + ": simulating");
  SimulationEffort effort;
  SimulationOptions how;
  how.stop = context.stop;
  how.progress = [&](double share) { progress.show(share); };
  how.threads = options["threads"].as<int>();
  how.replay = !flag(options, "no-replay");
  how.effort = &effort;
  const Plan plan(result.workload, result.schedule);
  const sim::SystemConfig config = system(options, view_of_one_core(result.machine));
  const auto start = std::chrono::steady_clock::now();
  if (flag(options, "tlb")) result.tlbs = simulate_tlbs(plan, result.machine, how);
  if (options.count("sample") != 0) {
    result.sampled = sample(plan, config, options["sample"].as<std::int64_t>(), how);
    return;
  }
  if (flag(options, "attribution")) {
    Attribution a = attribute(plan, config, how);
    result.attribution = std::move(a.levels);
    result.simulation = std::move(a.simulation);
  } else {
    result.simulation = simulate(plan, config, how);
  }
  if (context.verbose) {
    const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
    const auto touches = static_cast<double>(result.simulation->touches.value());
    context.err << fmt::format(
        "{}: {:.4g} million line touches simulated in {:.2f} s on {} thread{}, {:.1f} % of them "
        "as repetitions\n",
        result.workload.name(), touches / 1e6, spent.count(), effort.threads,
        effort.threads == 1 ? "" : "s",
        100 * static_cast<double>(effort.repeated.value()) / touches);
  }
}

void write_trace(const Result& result, const std::string& file, Context& context) {
  std::ofstream out(file, std::ios::binary);
  sim::TraceWriter writer(out);
  tcsim::write_trace(Plan(result.workload, result.schedule), writer, context.stop);
  out.close();
  if (!out) {
    throw UsageError("--write-trace " + file, "the file cannot be written", "name another one");
  }
}

namespace {

void print_traces_table(const std::vector<std::string>& files, const Machine& machine,
                        const TraceSimulation& s, std::ostream& out) {
  for (const auto& file : files) out << "trace " << file << "\n";
  out << fmt::format("machine {}\n{} records, {} accesses\n\n", machine.name, s.records,
                     s.accesses);
  print_header(out);
  if (s.instructions.hits + s.instructions.misses > Lines(0)) {
    print_counts(machine.levels[0].name + " (code)", s.instructions, out);
  }
  for (std::size_t l = 0; l < s.levels.size(); ++l) {
    print_counts(machine.levels[l].name, s.levels[l], out);
  }
  out << fmt::format("\n  {:<14}{:>16}{:>16}\n", "link", "in", "out");
  for (std::size_t l = 0; l < s.levels.size(); ++l) {
    out << fmt::format("  {:<14}{:>16}{:>16}\n", machine.link(LevelId{static_cast<int>(l) + 1}),
                       to_display(s.bytes[l].in), to_display(s.bytes[l].out));
  }
}

void print_traces_json(const std::vector<std::string>& files, const Machine& machine,
                       const TraceSimulation& s, const Options& options, std::ostream& out) {
  ordered_json j{{"schema", results_schema},
                 {"command", "simulate"},
                 {"tcsim_version", version},
                 {"traces", files},
                 {"machine", {{"name", machine.name}, {"hash", content_hash(machine)}}},
                 {"instructions", options["instructions"].as<std::string>()},
                 {"grain", options["grain"].as<std::int64_t>()},
                 {"seed", options["seed"].as<std::uint64_t>()},
                 {"records", s.records},
                 {"accesses", s.accesses},
                 {"levels", ordered_json::array()}};
  for (std::size_t l = 0; l < s.levels.size(); ++l) {
    ordered_json level{{"name", machine.levels[l].name}};
    level.update(counts_json(s.levels[l]));
    level["link_outside"] = machine.link(LevelId{static_cast<int>(l) + 1});
    level["bytes_in"] = s.bytes[l].in.value();
    level["bytes_out"] = s.bytes[l].out.value();
    if (l == 0 && instructions(options) == Instructions::split) {
      level["instructions"] = counts_json(s.instructions);
    }
    j["levels"].push_back(level);
  }
  out << json_text(j) << "\n";
}

void print_traces_csv(const Machine& machine, const TraceSimulation& s, std::ostream& out) {
  std::vector<std::string> cells{"schema",   "command",      "tcsim_version",
                                 "machine",  "machine_hash", "records",
                                 "accesses", "level",        "link_outside"};
  for (const Field& f : fields) cells.emplace_back(f.name);
  cells.insert(cells.end(), {"bytes_in", "bytes_out"});
  out << csv_line(cells);
  const auto row = [&](const std::string& name, std::size_t l, const LevelCounts& counts,
                       const std::string& in, const std::string& out_bytes) {
    cells = {fmt::format("{}", results_schema),
             "simulate",
             version,
             machine.name,
             content_hash(machine),
             fmt::format("{}", s.records),
             fmt::format("{}", s.accesses),
             name,
             machine.link(LevelId{static_cast<int>(l) + 1})};
    for (const Field& f : fields) cells.push_back(fmt::format("{}", (counts.*f.count).value()));
    cells.insert(cells.end(), {in, out_bytes});
    out << csv_line(cells);
  };
  if (s.instructions.hits + s.instructions.misses > Lines(0)) {
    row(machine.levels[0].name + " (code)", 0, s.instructions, "", "");
  }
  for (std::size_t l = 0; l < s.levels.size(); ++l) {
    row(machine.levels[l].name, l, s.levels[l], fmt::format("{}", s.bytes[l].in.value()),
        fmt::format("{}", s.bytes[l].out.value()));
  }
}

}  // namespace

Exit simulate_traces(const Options& options, Context& context) {
  const auto files = options["trace"].as<std::vector<std::string>>();
  if (!arguments(options).empty()) {
    throw UsageError("--trace", fmt::format("'{}' is a workload", arguments(options)[0]),
                     "give one or the other");
  }
  for (const char* option : {"schedule", "size", "attribution", "sample", "tlb", "write-trace"}) {
    if (options.count(option) == 0 || options[option].defaulted()) continue;
    throw UsageError(fmt::format("--{}", option), "it is for workloads, not for traces",
                     "leave it out");
  }
  TraceOptions how;
  how.grain = options["grain"].as<std::int64_t>();
  how.instructions = instructions(options);
  how.stop = context.stop;
  const Format form = format(options);
  const auto trace_form = trace_format(options);
  std::vector<std::unique_ptr<sim::TraceReader>> traces;
  for (const auto& file : files) traces.push_back(sim::open_trace(file, trace_form));
  const Machine m = machine(options, context);
  const TraceSimulation s =
      simulate(traces, system(options, m, static_cast<int>(files.size())), how);
  switch (form) {
    case Format::table:
      print_traces_table(files, m, s, context.out);
      break;
    case Format::json:
      print_traces_json(files, m, s, options, context.out);
      break;
    case Format::csv:
      print_traces_csv(m, s, context.out);
  }
  return Exit::done;
}

void print_simulation(const Result& r, std::ostream& out) {
  if (r.sampled) print_sample(r, out);
  if (r.simulation) {
    print_header(out);
    for (std::size_t l = 0; l < r.simulation->levels.size(); ++l) {
      print_counts(r.machine.level(LevelId{static_cast<int>(l)}).name, r.simulation->levels[l],
                   out);
    }
    out << "\n";
  }
  if (!r.tlbs.empty()) {
    out << fmt::format("  {:<14}{:>10}{:>16}{:>16}\n", "TLB", "page", "hits", "misses");
    for (const TlbCounts& t : r.tlbs) {
      out << fmt::format("  {:<14}{:>10}{:>16}{:>16}\n", t.name, to_display(t.page), t.hits,
                         t.misses);
    }
    out << "\n";
  }
  if (!r.attribution.empty()) print_attribution(r, out);
}

void add_simulation(ordered_json& level, const Result& r, std::size_t link) {
  if (r.simulation && link < r.simulation->levels.size()) {
    level["cache"] = counts_json(r.simulation->levels[link]);
  }
  if (r.sampled && link < r.sampled->levels.size()) {
    const LevelEstimates& e = r.sampled->levels[link];
    const auto estimate = [](const Estimate& x) {
      return ordered_json{{"value", x.value}, {"error_95", x.error}};
    };
    level["sample"] = {{"misses", estimate(e.misses)},
                       {"write_backs", estimate(e.write_backs)},
                       {"bytes_outside", estimate(e.bytes)}};
  }
  if (link >= r.attribution.size()) return;
  const LevelAttribution& a = r.attribution[link];
  ordered_json causes = causes_json(a.total()), by_tensor = ordered_json::object();
  for (ArrayId array : all_arrays) {
    for (Phase p : all_phases) {
      const MissCauses& m =
          a.misses[static_cast<std::size_t>(index(p))][static_cast<std::size_t>(index(array))];
      if (m.total() == Lines(0)) continue;
      by_tensor[to_text(array)][p == Phase::packing ? "packing" : "compute"] = causes_json(m);
    }
  }
  causes["by_tensor"] = by_tensor;
  const Path path = only_path(r.workload, r.schedule);
  causes["carried_by"] = ordered_json::array();
  for (std::size_t s = 0; s < a.by_step.size(); ++s) {
    if (a.by_step[s] == Lines(0)) continue;
    causes["carried_by"].push_back(
        {{"step", s}, {"loop", step_text(path.steps[s])}, {"misses", a.by_step[s].value()}});
  }
  level["why"] = causes;
  ordered_json histogram = ordered_json::array();
  for (std::size_t b = 0; b < a.reuse_distances.size(); ++b) {
    histogram.push_back(
        {{"distance_lines", bucket_text(b)}, {"requests", a.reuse_distances[b].value()}});
  }
  level["reuse_distances"] = {{"first_uses", a.first_uses.value()}, {"histogram", histogram}};
}

void add_simulation(ordered_json& result, const Result& r) {
  if (r.simulation) result["line_touches"] = r.simulation->touches.value();
  if (r.sampled) {
    result["sample"] = {{"classes", r.sampled->classes}, {"of", r.sampled->of}};
  }
  if (r.tlbs.empty()) return;
  result["tlbs"] = ordered_json::array();
  for (const TlbCounts& t : r.tlbs) {
    result["tlbs"].push_back(
        {{"name", t.name}, {"page_bytes", t.page.value()}, {"hits", t.hits}, {"misses", t.misses}});
  }
}

std::vector<std::string> simulation_columns() {
  std::vector<std::string> names;
  for (const Field& f : fields) names.emplace_back(f.name);
  for (const char* name : {"compulsory", "capacity", "conflict", "reuse_distances",
                           "sampled_misses", "sampled_misses_error_95"}) {
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> simulation_cells(const Result& r, std::size_t link) {
  std::vector<std::string> cells;
  const auto add = [&](bool known, const auto&... values) {
    (cells.push_back(known ? fmt::format("{}", values()) : ""), ...);
  };
  const bool counted = r.simulation && link < r.simulation->levels.size();
  for (const Field& f : fields) {
    add(counted, [&] { return (r.simulation->levels[link].*f.count).value(); });
  }
  const auto why = [&] { return r.attribution[link].total(); };
  add(
      link < r.attribution.size(), [&] { return why().compulsory.value(); },
      [&] { return why().capacity.value(); }, [&] { return why().conflict.value(); },
      [&] {
        const LevelAttribution& a = r.attribution[link];
        std::string text = fmt::format("first:{}", a.first_uses.value());
        for (std::size_t b = 0; b < a.reuse_distances.size(); ++b) {
          text += fmt::format(";{}:{}", bucket_text(b), a.reuse_distances[b].value());
        }
        return text;
      });
  add(
      r.sampled && link < r.sampled->levels.size(),
      [&] { return r.sampled->levels[link].misses.value; },
      [&] { return r.sampled->levels[link].misses.error; });
  return cells;
}

}  // namespace tcsim::cli
