#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "bench/kernels.hpp"
#include "bench/tuned_file.hpp"
#include "cli/kernel_result.hpp"
#include "cli/onnx_suite.hpp"
#include "cli/pages.hpp"
#include "cli/request.hpp"
#include "cli/table.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/fusion/operation_tree.hpp"
#include "core/io/json.hpp"
#include "core/machine/toml.hpp"
#include "core/text/safe.hpp"
#include "core/units/nearest.hpp"
#include "core/units/text.hpp"
#include "core/workload/suite.hpp"

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

// Of an ONNX model; what is no contraction goes to standard error.
Table list_network(const Options& options, Context& context) {
  const std::string dims =
      options.count("dims") != 0 ? options["dims"].as<std::string>() : std::string();
  const OnnxSuite network = read_onnx(options["from"].as<std::string>(), dims);
  Table t{"list workloads", {"workload", "count", "label", "sizes", "type", "layout", "gflop"}, {}};
  for (std::size_t i = 0; i < network.suite.workloads.size(); ++i) {
    const Contraction& c = network.suite.workloads[i];
    t.rows.push_back({c.name(), fmt::format("{}", network.counts.at(i)), c.label(), c.sizes(),
                      to_text(c.type()), to_text(c.layout()),
                      fmt::format("{:.4g}", c.flops() / 1e9)});
  }
  for (const auto& [what, count] : network.left_out) {
    if (!context.quiet) context.err << fmt::format("left out: {} x {}\n", count, visible(what));
  }
  return t;
}

Table list_chains() {
  Table t{"list chains", {"chain", "statements", "sizes", "type", "gflop"}, {}};
  for (const std::string& name : shipped_chains()) {
    for (const fusion::Chain& chain : fusion::find_chains({name, "", {}, ""})) {
      const Program& p = chain.program;
      std::string statements, sizes;
      for (const Program::Statement& s : p.statements()) {
        if (!statements.empty()) statements += "; ";
        statements += to_text(p, s.out) + " += " + to_text(p, s.in[0]);
        for (std::size_t i = 1; i < s.in.size(); ++i) statements += " * " + to_text(p, s.in[i]);
      }
      for (const Program::Dim& d : p.dims()) {
        sizes += fmt::format("{}{}={}", sizes.empty() ? "" : ",", d.name, d.extent);
      }
      t.rows.push_back({p.name(), statements, sizes, to_text(p.tensors().front().type),
                        fmt::format("{:.4g}", fusion::operation_tree(p).flops() / 1e9)});
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

// Options of "list kernels" alone.
constexpr std::array kernel_options{"type", "scheme", "machine"};

// The catalog that --machine names: this machine's, or a file.
KernelCatalog named_catalog(const std::string& name) {
  if (name == "host") return bench::host_kernel_catalog();
  const std::vector<std::string> shipped = shipped_machines();
  if (std::ranges::find(shipped, name) != shipped.end()) {
    throw UsageError("--machine", fmt::format("the kernels of {} are not known", name),
                     "say host, or a file that 'tcsim probe --kernels --out FILE' wrote there");
  }
  return bench::load_kernel_catalog(name);
}

void list_kernels(const Options& options, std::ostream& out) {
  KernelChoice choice;
  if (options.count("type") != 0) {
    choice.element = Bytes(options["type"].as<std::string>() == "f64" ? 8 : 4);
  }
  if (options.count("scheme") != 0) {
    const auto& name = options["scheme"].as<std::string>();
    choice.scheme = *std::ranges::find_if(all_kernel_schemes,
                                          [&](KernelScheme s) { return name == to_text(s); });
  }
  print(named_catalog(options["machine"].as<std::string>()), choice, "list kernels",
        format(options), out);
}

Exit list(const Options& options, Context& context) {
  const auto given = arguments(options);
  const std::string what = given.empty() ? "" : given[0];
  const std::vector<std::string> known = argument_words(list_command());
  if (std::ranges::find(known, what) == known.end()) {
    throw UsageError("list", fmt::format("'{}' cannot be listed", what), one_of(what, known));
  }
  if (what == "kernels") {
    list_kernels(options, context.out);
    return Exit::done;
  }
  for (const char* option : kernel_options) {
    if (options.count(option) != 0 && !options[option].defaulted()) {
      throw UsageError(fmt::format("--{}", option), fmt::format("list {} has no such option", what),
                       "leave it out; see 'tcsim help list'");
    }
  }
  for (const char* option : {"from", "dims"}) {
    if (options.count(option) == 0 || (what == "workloads" && options.count("from") != 0)) continue;
    throw UsageError(fmt::format("--{}", option), "is for the workloads of a model",
                     "say tcsim list workloads --from model.onnx");
  }
  if (options.count("from") != 0) {
    print(list_network(options, context), format(options), context.out);
    return Exit::done;
  }
  print(what == "workloads"  ? list_workloads()
        : what == "chains"   ? list_chains()
        : what == "machines" ? list_machines()
                             : list_tuned(),
        format(options), context.out);
  return Exit::done;
}

std::vector<std::string> scheme_words() {
  std::vector<std::string> all;
  for (KernelScheme s : all_kernel_schemes) all.push_back(to_text(s));
  return all;
}

void declare_list(po::options_description& o) {
  o.add_options()("type", words({"f64", "f32"}), "of kernels: those of one type")(
      "scheme", words(scheme_words()),
      "of kernels: how the right operand lies, packed or as an image in place")(
      "machine", po::value<std::string>()->default_value("host"),
      "of kernels: host, or a file that 'tcsim probe --kernels --out FILE' wrote")(
      "from", po::value<std::string>(), "of workloads: those of an ONNX model (docs/python.md)")(
      "dims", po::value<std::string>(), "with --from: what the model leaves open, batch=1,...");
  declare_output(o);
}

}  // namespace

const Command& list_command() {
  static const Command command{
      "list",
      "workloads|chains|machines|kernels|tuned",
      "what ships with tcsim, how fast its kernels are here, and what tcsim tune found",
      "tcsim list workloads",
      declare_list,
      list};
  return command;
}

}  // namespace tcsim::cli
