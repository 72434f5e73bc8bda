#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/machine/actions.hpp"
#include "cli/pages.hpp"
#include "cli/request.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"
#include "core/units/nearest.hpp"
#include "exchange/exchange.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using Action = Exit (*)(const Names&, const Options&, Context&);

constexpr std::pair<const char*, Action> actions[] = {{"show", show_machines},
                                                      {"check", check_machines},
                                                      {"diff", diff_machines},
                                                      {"import", import_machines},
                                                      {"export", export_machines}};

std::vector<std::string> import_formats() {
  std::vector<std::string> names;
  for (ImportFormat f : all_import_formats) names.push_back(to_text(f));
  names.emplace_back(accelergy);
  return names;
}

void declare(po::options_description& o) {
  o.add_options()("set", po::value<std::vector<std::string>>(),
                  "override a figure: L3.capacity=64MiB (repeatable)")("toml", po::bool_switch(),
                                                                       "show: as a machine file")(
      "series", po::bool_switch(), "show: every measurement instead of the levels")(
      "from", words(import_formats()), "import: the file's format, if it cannot be told")(
      "name", po::value<std::string>(), "import: the machine's name")(
      "base", po::value<std::string>(), "import: a machine that gives what the file does not say")(
      "component", po::value<std::vector<std::string>>(),
      "import of energy tables: L3=shared_glb:8B, core=mac (repeatable)")(
      "to", words({"kerncraft", "pycachesim", "dinero", "gem5", "champsim", "timeloop", "blis"}),
      "export: the format")("kernel", po::value<std::string>(),
                            "export to blis: the microkernel, 8x6")(
      "type", words({"f64", "f32"}, "f64"), "export to blis: the element type");
  declare_output(o);
}

Exit run_machine(const Options& options, Context& context) {
  Names given = arguments(options);
  const std::string what = given.empty() ? "" : given[0];
  const auto action = std::find_if(std::begin(actions), std::end(actions),
                                   [&](const auto& a) { return what == a.first; });
  if (action == std::end(actions)) {
    throw UsageError("machine", fmt::format("'{}' is nothing to do with machines", what),
                     one_of(what, argument_words(machine_command())));
  }
  given.erase(given.begin());
  if (given.empty()) {
    throw UsageError(fmt::format("machine {}", what), "a machine is missing",
                     fmt::format("for example 'tcsim machine {} {}'", what,
                                 what == "import" ? "topology.xml" : "e5-2680v4"));
  }
  return action->second(given, options, context);
}

}  // namespace

void want(const Names& names, std::size_t wanted, const std::string& action) {
  if (names.size() == wanted) return;
  throw UsageError(fmt::format("machine {}", action),
                   fmt::format("{} names are given", names.size()),
                   fmt::format("give {}", wanted == 1 ? "one" : "two"));
}

const Command& machine_command() {
  static const Command command{"machine",
                               "show|check|diff|import|export NAME|FILE...",
                               "look at machine files, compare and convert them",
                               "tcsim machine export e5-2680v4 --to kerncraft",
                               declare,
                               run_machine,
                               1000};
  return command;
}

}  // namespace tcsim::cli
