#include "cli/simulation/simulation.hpp"

#include <fmt/format.h>

#include "cli/simulation/counts.hpp"
#include "cli/simulation/options.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/text/safe.hpp"
#include "sim/simulate_trace.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

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
  for (const CountField& f : count_fields) cells.emplace_back(f.name);
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
    for (const CountField& f : count_fields)
      cells.push_back(fmt::format("{}", (counts.*f.count).value()));
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

}  // namespace tcsim::cli
