#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/csv.hpp"
#include "cli/request.hpp"
#include "cli/version.hpp"
#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

void show_table(const Machine& m, std::ostream& out) {
  out << fmt::format("{}  {}\ncontent hash {}\n\n", m.name, m.description, content_hash(m));
  out << fmt::format("  {:<10}{:<12}{:>10}{:>8}{:>6}{:>7}  {:<22}{}\n", "level", "kind", "capacity",
                     "sets", "ways", "line", "bandwidth inward", "origin");
  for (const Level& l : m.levels) {
    const bool cache = l.kind == LevelKind::cache;
    out << fmt::format(
        "  {:<10}{:<12}{:>10}{:>8}{:>6}{:>7}  {:<22}{}\n", l.name, to_text(l.kind),
        l.capacity.value.value() > 0 ? to_text(l.capacity.value) : "-",
        cache ? fmt::format("{}", l.sets()) : "-", cache ? fmt::format("{}", l.ways.value) : "-",
        cache ? to_text(l.line.value) : "-",
        fmt::format("{:.1f} GB/s", l.bandwidth.value.at(m.core.frequency.value).value() / 1e9),
        to_text(l.bandwidth.origin));
  }
  out << fmt::format(
      "\n  core      {}, {}-bit vectors, {} registers, {:.4g} FMA per cycle, latency {}\n"
      "  FMA peak  {:.1f} GFLOPS f64, {:.1f} GFLOPS f32\n",
      to_text(m.core.frequency.value), m.core.vector_bits.value, m.core.vector_registers.value,
      m.core.fma_per_cycle.value, m.core.fma_latency.value.value(), m.peak(Bytes(8)).value() / 1e9,
      m.peak(Bytes(4)).value() / 1e9);
}

nlohmann::ordered_json to_json(const Machine& m) {
  nlohmann::ordered_json j{
      {"schema", 1},    {"command", "machine show"},    {"tcsim_version", version},
      {"name", m.name}, {"description", m.description}, {"hash", content_hash(m)}};
  for (const Level& l : m.levels) {
    nlohmann::ordered_json level{{"name", l.name}, {"kind", to_text(l.kind)}};
    if (l.capacity.value.value() > 0) level["capacity_bytes"] = l.capacity.value.value();
    if (l.kind == LevelKind::cache) {
      level["sets"] = l.sets();
      level["ways"] = l.ways.value;
      level["line_bytes"] = l.line.value.value();
    }
    level["bandwidth_bytes_per_second"] = l.bandwidth.value.at(m.core.frequency.value).value();
    level["bandwidth_origin"] = to_text(l.bandwidth.origin);
    j["levels"].push_back(level);
  }
  j["core"] = {{"frequency_hertz", m.core.frequency.value.value()},
               {"vector_bits", m.core.vector_bits.value},
               {"vector_registers", m.core.vector_registers.value},
               {"fma_per_cycle", m.core.fma_per_cycle.value},
               {"fma_latency_cycles", m.core.fma_latency.value.value()}};
  j["peak_f64_gflops"] = m.peak(Bytes(8)).value() / 1e9;
  j["peak_f32_gflops"] = m.peak(Bytes(4)).value() / 1e9;
  return j;
}

const std::vector<std::string> csv_columns{"machine",
                                           "hash",
                                           "level",
                                           "kind",
                                           "capacity_bytes",
                                           "sets",
                                           "ways",
                                           "line_bytes",
                                           "bandwidth_bytes_per_second",
                                           "bandwidth_origin"};

void show_csv(const Machine& m, std::ostream& out) {
  const auto text = [](const auto& number) { return fmt::format("{}", number); };
  for (const Level& l : m.levels) {
    const bool cache = l.kind == LevelKind::cache;
    out << csv_line(
        {m.name, content_hash(m), l.name, to_text(l.kind), text(l.capacity.value.value()),
         text(cache ? l.sets() : 0), text(l.ways.value), text(l.line.value.value()),
         text(l.bandwidth.value.at(m.core.frequency.value).value()), to_text(l.bandwidth.origin)});
  }
}

Exit show(const std::vector<std::string>& names, const Options& options, Context& context) {
  const Format form = format(options);
  std::vector<Machine> machines;
  for (const std::string& name : names) machines.push_back(named_machine(name, options, context));
  if (form == Format::json) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    for (const Machine& m : machines) all.push_back(to_json(m));
    context.out << (all.size() == 1 ? all[0] : all).dump(2) << "\n";
    return Exit::done;
  }
  if (form == Format::csv) {
    context.out << csv_line(csv_columns);
    for (const Machine& m : machines) show_csv(m, context.out);
    return Exit::done;
  }
  for (const Machine& m : machines) {
    if (options["toml"].as<bool>()) {
      context.out << to_toml(m);
    } else {
      show_table(m, context.out);
    }
  }
  return Exit::done;
}

// Every file is looked at; the worst answer counts.
Exit check_files(const std::vector<std::string>& names, const Options& options, Context& context) {
  Exit code = Exit::done;
  for (const std::string& name : names) {
    try {
      const Machine m = named_machine(name, options, context);
      context.out << fmt::format("{}: ok ({}, {} levels, hash {})\n", name, m.name, m.levels.size(),
                                 content_hash(m));
    } catch (const InputError& e) {
      context.out << e.what() << "\n";
      code = Exit::input;
    }
  }
  return code;
}

}  // namespace

const Command& machine_command() {
  static const Command command{
      "machine",
      "show|check NAME|FILE...",
      "look at machine files",
      "tcsim machine show e5-2680v4",
      [](po::options_description& o) {
        o.add_options()("set", po::value<std::vector<std::string>>(),
                        "override a figure: L3.capacity=64MiB (repeatable)")(
            "toml", po::bool_switch(), "show: as a machine file");
        declare_output(o);
      },
      [](const Options& options, Context& context) {
        std::vector<std::string> given = arguments(options);
        const std::string what = given.empty() ? "" : given[0];
        if (given.size() < 2 || (what != "show" && what != "check")) {
          throw UsageError("machine", "show or check, and a machine, are wanted",
                           "for example 'tcsim machine show e5-2680v4'");
        }
        given.erase(given.begin());
        return what == "show" ? show(given, options, context)
                              : check_files(given, options, context);
      },
      1000};
  return command;
}

}  // namespace tcsim::cli
