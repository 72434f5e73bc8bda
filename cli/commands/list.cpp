#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/kernels.hpp"
#include "bench/tuned_file.hpp"
#include "cli/pages.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/version.hpp"
#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "core/units/nearest.hpp"
#include "core/units/text.hpp"
#include "core/workload/suite.hpp"
#include "kernels/shapes.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

// Rows of named columns, printed in any format.
struct Table {
  std::string command;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
};

void print(const Table& table, Format format, std::ostream& out) {
  if (format == Format::json) {
    nlohmann::ordered_json j{{"schema", 1}, {"command", table.command}, {"tcsim_version", version}};
    j["rows"] = nlohmann::ordered_json::array();
    for (const auto& row : table.rows) {
      nlohmann::ordered_json item;
      for (std::size_t i = 0; i < row.size(); ++i) item[table.columns[i]] = row[i];
      j["rows"].push_back(item);
    }
    out << json_text(j) << "\n";
    return;
  }
  if (format == Format::csv) {
    out << csv_line(table.columns);
    for (const auto& row : table.rows) out << csv_line(row);
    return;
  }
  out << aligned(table.columns, table.rows);
}

Table list_workloads() {
  Table t{"list workloads", {"workload", "label", "sizes", "type", "layout", "gflop"}, {}};
  for (const std::string& name : shipped_suites()) {
    for (const Contraction& c : find_suite(name).workloads) {
      t.rows.push_back({c.name(), c.label(), c.sizes(), to_text(c.type()), to_text(c.layout()),
                        fmt::format("{:.4g}", c.flops() / 1e9)});
    }
  }
  return t;
}

Table list_machines() {
  Table t{"list machines", {"machine", "levels", "peak_f64_gflops", "description"}, {}};
  for (const std::string& name : shipped_machines()) {
    const Machine m = find_machine(name);
    std::string levels;
    for (int l = 0; l < m.cache_count(); ++l) {
      const Level& level = m.level(LevelId{l});
      levels +=
          fmt::format("{}{} {}", l > 0 ? " + " : "", level.name, to_text(level.capacity.value));
    }
    t.rows.push_back(
        {name, levels, fmt::format("{:.1f}", m.peak(Bytes(8)).value() / 1e9), m.description});
  }
  return t;
}

// In percent of the peak, by the catalog that "bench kernels" keeps; "" where it was not measured.
std::string best_of_peak(const std::optional<bench::KernelCatalog>& catalog, const KernelShape& k) {
  if (!catalog) return "";
  for (const bench::MeasuredKernel& m : catalog->kernels) {
    if (m.shape.mr == k.mr && m.shape.nr == k.nr && m.shape.type == k.type &&
        m.shape.needs == k.needs) {
      return fmt::format("{:.1f}", 100 * m.best_of_peak());
    }
  }
  return "";
}

Table list_kernels() {
  Table t{"list kernels",
          {"shape", "type", "instruction_set", "runs_here", "best_percent_of_peak"},
          {}};
  const auto catalog = bench::kept_catalog();
  for (const KernelShape& k : kernel_shapes()) {
    t.rows.push_back({fmt::format("{}x{}", k.mr.value(), k.nr.value()), to_text(k.type),
                      to_text(k.needs), k.needs <= best_instruction_set() ? "yes" : "no",
                      best_of_peak(catalog, k)});
  }
  return t;
}

Table list_tuned() {
  Table t{"list tuned",
          {"label", "sizes", "type", "layout", "threads", "processor", "instruction_set", "gflops",
           "percent_of_peak", "times_the_models_choice", "candidates", "date", "schedule"},
          {}};
  const TunedSchedules tuned = bench::load_tuned(bench::tuned_file());
  for (const Tuned& one : tuned.all()) {
    const TunedKey& k = one.key;
    t.rows.push_back({k.label, k.sizes, to_text(k.type), to_text(k.layout),
                      fmt::format("{}", k.threads), k.processor, k.instruction_set,
                      fmt::format("{:.1f}", one.measured.value() / 1e9),
                      fmt::format("{:.1f}", 100 * one.of_peak), fmt::format("{:.3f}", one.ratio),
                      fmt::format("{}", one.tried.size()), one.date, one.schedule});
  }
  return t;
}

}  // namespace

const Command& list_command() {
  static const Command command{
      "list",
      "workloads|machines|kernels|tuned",
      "what ships with tcsim, and what tcsim tune found",
      "tcsim list workloads",
      [](po::options_description& o) { declare_output(o); },
      [](const Options& options, Context& context) {
        const auto given = arguments(options);
        const std::string what = given.empty() ? "" : given[0];
        const std::vector<std::string> known = argument_words(list_command());
        if (std::ranges::find(known, what) == known.end()) {
          throw UsageError("list", fmt::format("'{}' cannot be listed", what), one_of(what, known));
        }
        print(what == "workloads"  ? list_workloads()
              : what == "machines" ? list_machines()
              : what == "kernels"  ? list_kernels()
                                   : list_tuned(),
              format(options), context.out);
        return Exit::done;
      }};
  return command;
}

}  // namespace tcsim::cli
