#include "cli/simulation/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "cli/simulation/counts.hpp"
#include "cli/simulation/options.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/stop.hpp"
#include "core/text/safe.hpp"
#include "sim/simulate_trace.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

// What was asked for of a trace: counts, or a sample of them.
struct TraceResult {
  std::optional<TraceSimulation> counts;
  std::optional<TraceAttribution> causes;
  std::optional<SampledSimulation> sampled;
};

void print_causes(const Machine& machine, const TraceAttribution& a, std::ostream& out) {
  out << fmt::format("\n  {:<14}{:>16}{:>16}{:>16}\n", "misses", "compulsory", "capacity",
                     "conflict");
  const auto row = [&](const std::string& name, const TraceAttribution::Level& level) {
    if (level.misses.total() == Lines(0)) return;
    out << fmt::format("  {:<14}{:>16}{:>16}{:>16}\n", name, level.misses.compulsory.value(),
                       level.misses.capacity.value(), level.misses.conflict.value());
  };
  row(machine.levels[0].name + " (code)", a.instructions);
  for (std::size_t l = 0; l < a.levels.size(); ++l) row(machine.levels[l].name, a.levels[l]);
  out << fmt::format("\n  {:<14}{:<26}{:>12}\n", "requests", "reuse distance, lines", "lines");
  const auto distances = [&](std::string name, const TraceAttribution::Level& level) {
    const auto line = [&](const std::string& distance, Lines lines) {
      if (lines == Lines(0)) return;
      out << fmt::format("  {:<14}{:<26}{:>12}\n", name, distance, lines.value());
      name.clear();
    };
    for (std::size_t b = 0; b < level.reuse_distances.size(); ++b) {
      line(bucket_text(b), level.reuse_distances[b]);
    }
    line("first use", level.first_uses);
  };
  distances(machine.levels[0].name + " (code)", a.instructions);
  for (std::size_t l = 0; l < a.levels.size(); ++l) distances(machine.levels[l].name, a.levels[l]);
}

void print_traces_table(const std::vector<std::string>& files, const Machine& machine,
                        const TraceResult& r, std::ostream& out) {
  for (const auto& file : files) out << "trace " << file << "\n";
  out << fmt::format("machine {}\n", machine.name);
  if (r.sampled) {
    out << "\n";
    print_sample(machine, *r.sampled, out);
    return;
  }
  const TraceSimulation& s = *r.counts;
  out << fmt::format("{} records, {} accesses\n\n", s.records, s.accesses);
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
  if (r.causes) print_causes(machine, *r.causes, out);
}

// Into a level's entry.
void add_causes(ordered_json& level, const TraceAttribution::Level& a) {
  level["why"] = causes_json(a.misses);
  level["reuse_distances"] = distances_json(a.first_uses, a.reuse_distances);
}

void print_traces_json(const std::vector<std::string>& files, const Machine& machine,
                       const TraceResult& r, const Options& options, std::ostream& out) {
  ordered_json j{{"schema", results_schema},
                 {"command", "simulate"},
                 {"tcsim_version", version},
                 {"traces", files},
                 {"machine", {{"name", machine.name}, {"hash", content_hash(machine)}}},
                 {"instructions", options["instructions"].as<std::string>()},
                 {"grain", options["grain"].as<std::int64_t>()},
                 {"seed", options["seed"].as<std::uint64_t>()}};
  if (r.counts) {
    j["records"] = r.counts->records;
    j["accesses"] = r.counts->accesses;
  } else {
    j["sample"] = {{"classes", r.sampled->classes}, {"of", r.sampled->of}};
  }
  j["levels"] = ordered_json::array();
  for (std::size_t l = 0; l < static_cast<std::size_t>(machine.cache_count()); ++l) {
    ordered_json level{{"name", machine.levels[l].name}};
    if (r.counts) level.update(counts_json(r.counts->levels[l]));
    level["link_outside"] = machine.link(LevelId{static_cast<int>(l) + 1});
    if (r.counts) {
      level["bytes_in"] = r.counts->bytes[l].in.value();
      level["bytes_out"] = r.counts->bytes[l].out.value();
    } else {
      level["sample"] = sample_json(r.sampled->levels[l]);
    }
    if (r.causes) add_causes(level, r.causes->levels[l]);
    if (r.counts && l == 0 && instructions(options) == Instructions::split) {
      level["instructions"] = counts_json(r.counts->instructions);
      if (r.causes) add_causes(level["instructions"], r.causes->instructions);
    }
    j["levels"].push_back(level);
  }
  out << json_text(j) << "\n";
}

void print_traces_csv(const Machine& machine, const TraceResult& r, std::ostream& out) {
  std::vector<std::string> cells{"schema",   "command",      "tcsim_version",
                                 "machine",  "machine_hash", "records",
                                 "accesses", "level",        "link_outside"};
  for (const CountField& f : count_fields) cells.emplace_back(f.name);
  cells.insert(cells.end(), {"bytes_in", "bytes_out", "compulsory", "capacity", "conflict",
                             "sampled_misses", "sampled_misses_error_95"});
  out << csv_line(cells);
  const auto number = [](bool known, auto value) { return known ? fmt::format("{}", value) : ""; };
  const bool counted = r.counts.has_value();
  const TraceSimulation& s = counted ? *r.counts : TraceSimulation{};
  const auto row = [&](const std::string& name, std::size_t l, const LevelCounts& counts,
                       const std::string& in, const std::string& out_bytes, const MissCauses* why) {
    cells = {fmt::format("{}", results_schema),
             "simulate",
             version,
             machine.name,
             content_hash(machine),
             number(counted, s.records),
             number(counted, s.accesses),
             name,
             machine.link(LevelId{static_cast<int>(l) + 1})};
    for (const CountField& f : count_fields) {
      cells.push_back(number(counted, (counts.*f.count).value()));
    }
    cells.insert(cells.end(), {in, out_bytes});
    for (const Lines MissCauses::*cause :
         {&MissCauses::compulsory, &MissCauses::capacity, &MissCauses::conflict}) {
      cells.push_back(why ? fmt::format("{}", (why->*cause).value()) : "");
    }
    const bool sampled = r.sampled.has_value();
    const Estimate misses = sampled ? r.sampled->levels[l].misses : Estimate{};
    cells.insert(cells.end(), {number(sampled, misses.value), number(sampled, misses.error)});
    out << csv_line(cells);
  };
  if (s.instructions.hits + s.instructions.misses > Lines(0)) {
    row(machine.levels[0].name + " (code)", 0, s.instructions, "", "",
        r.causes ? &r.causes->instructions.misses : nullptr);
  }
  for (std::size_t l = 0; l < static_cast<std::size_t>(machine.cache_count()); ++l) {
    row(machine.levels[l].name, l, counted ? s.levels[l] : LevelCounts{},
        number(counted, counted ? s.bytes[l].in.value() : 0),
        number(counted, counted ? s.bytes[l].out.value() : 0),
        r.causes ? &r.causes->levels[l].misses : nullptr);
  }
}

}  // namespace

Exit simulate_traces(const Options& options, Context& context) {
  const auto files = options["trace"].as<std::vector<std::string>>();
  if (!arguments(options).empty()) {
    throw UsageError("--trace", fmt::format("'{}' is a workload", arguments(options)[0]),
                     "give one or the other");
  }
  for (const char* option :
       {"schedule", "size", "tlb", "sets", "timeline", "timeline-part", "write-trace"}) {
    if (options.count(option) == 0 || options[option].defaulted()) continue;
    throw UsageError(fmt::format("--{}", option), "it is for workloads, not for traces",
                     "leave it out");
  }
  if (std::ranges::count(files, sim::standard_input) > 1) {
    throw UsageError("--trace -", "standard input is read twice", "give each core its own trace");
  }
  if (options.count("sample") != 0 && flag(options, "attribution")) {
    throw UsageError("--sample", "a sample has no attribution", "leave one of them out");
  }
  TraceOptions how;
  how.grain = options["grain"].as<std::int64_t>();
  how.instructions = instructions(options);
  how.threads = options["threads"].as<int>();
  how.stop = context.stop;
  const Format form = format(options);
  const auto trace_form = trace_format(options);
  const Machine m = machine(options, context);
  const sim::SystemConfig config = system(options, m, static_cast<int>(files.size()));
  // A pipe may be slow from its first byte on.
  const StopScope scope(context.stop);
  std::vector<std::unique_ptr<sim::TraceReader>> traces;
  for (const auto& file : files) traces.push_back(sim::open_trace(file, trace_form));
  TraceResult result;
  if (options.count("sample") != 0) {
    result.sampled = sample(traces, config, options["sample"].as<std::int64_t>(), how);
  } else if (flag(options, "attribution")) {
    result.causes = attribute(traces, config, how);
    result.counts = result.causes->simulation;
  } else {
    result.counts = simulate(traces, config, how);
  }
  switch (form) {
    case Format::table:
      print_traces_table(files, m, result, context.out);
      break;
    case Format::json:
      print_traces_json(files, m, result, options, context.out);
      break;
    case Format::csv:
      print_traces_csv(m, result, context.out);
  }
  return Exit::done;
}

}  // namespace tcsim::cli
