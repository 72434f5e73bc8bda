// bounds: how little any order of a workload's multiply-adds can move, and what a schedule does.
#include <nlohmann/json.hpp>

#include "cli/answers/bounds.hpp"
#include "cli/bounds_curve.hpp"
#include "cli/request.hpp"
#include "cli/result.hpp"
#include "cli/values.hpp"
#include "cli/version.hpp"
#include "cli/work.hpp"
#include "core/error.hpp"
#include "core/fusion/chain_request.hpp"
#include "core/io/json.hpp"

namespace tcsim::cli {

namespace po = boost::program_options;

namespace {

using bounds::Moves;
using nlohmann::ordered_json;
using namespace bounding;

Moves moves_of(const Options& options) {
  const bool paper =
      options.count("accounting") != 0 && options["accounting"].as<std::string>() == "paper";
  return paper ? Moves::loads : Moves::loads_and_stores;
}

BoundsRequest bounds_request(const Options& options) {
  BoundsRequest request;
  if (options.count("cache") != 0) request.cache = options["cache"].as<std::vector<std::string>>();
  request.moves = moves_of(options);
  request.print_forms = options.count("symbolic") != 0;
  if (request.print_forms) request.notation = options["symbolic"].as<std::string>();
  request.forms = request.print_forms || format(options) == Format::json;
  return request;
}

Exit run_bounds(const Options& options, Context& context) {
  const std::string given = the_argument(options);
  if (options["run"].as<bool>() && options.count("curve") == 0) {
    throw UsageError("--run", "it is for marks on a curve", "add --curve 16KiB..64MiB");
  }
  if (options.count("curve") != 0) {
    if (is_affine(given) || fusion::names_chain(given)) {
      throw UsageError("--curve", "has schedules, which affine programs and chains have not",
                       "name a contraction or a convolution, or several capacities with --cache");
    }
    return run_bounds_curve(options, workloads(options), moves_of(options), context);
  }
  const Format form = format(options);
  std::vector<Answer> all;
  const BoundsRequest request = bounds_request(options);
  std::vector<Work> asked = works(workload_request(options, given));
  const bool suite = asked.size() > 1;
  for (Work& work : asked) {
    if (context.stop.stop_requested()) throw Interrupted();
    all.push_back(answer(request, std::move(work)));
    if (form != Format::table) continue;
    if (all.size() > 1) context.out << "\n";
    print_table(all.back(), request, context.out);
  }
  if (form == Format::csv) print_csv(all, context.out);
  if (form != Format::json) return Exit::done;
  if (!suite) {
    context.out << json_text(json_of(all[0], request)) << "\n";
    return Exit::done;
  }
  ordered_json j{{"schema", results_schema},
                 {"command", "bounds"},
                 {"tcsim_version", version},
                 {"results", ordered_json::array()}};
  for (const Answer& a : all) j["results"].push_back(json_of(a, request));
  context.out << json_text(j) << "\n";
  return Exit::done;
}

}  // namespace

const Command& bounds_command() {
  static const Command command{
      "bounds",
      "WORKLOAD",
      "how little any order of its multiply-adds can move, proven, and what one moves that is "
      "there",
      "tcsim bounds tccg:8 --symbolic --cache 32KiB --cache 1MiB",
      [](po::options_description& o) {
        declare_workload(o);
        o.add_options()("symbolic", words({"text", "latex", "python"})->implied("text"),
                        "print expressions of the sizes and the capacity S")(
            "cache", po::value<std::vector<std::string>>(),
            "capacity of the memory: 32KiB, or a bare number of elements (repeatable) [32KiB]")(
            "curve", po::value<std::string>(),
            "over the capacity instead, LOW..HIGH or LOW..HIGH:POINTS: lower and upper bound, the "
            "best schedule in a store of S, and in an LRU cache of S")(
            "no-simulate", po::bool_switch(), "with --curve: leave the simulations out")(
            "run", po::bool_switch(),
            "with --curve: also run a schedule for the machine here, a mark for each link")(
            "machine", po::value<std::string>()->default_value("host"),
            "of --run: a shipped name, a file, or host: this machine, measured on first use")(
            "set", po::value<std::vector<std::string>>(),
            "of --run: override a figure of the machine: L3.capacity=64MiB (repeatable)")(
            "model", words({"window", "listing3"}, "window"),
            "of --run: that predicts the traffic")("threads", whole(1, 1),
                                                   "of --run: simulate on at most so many")(
            "accounting", words({"honest", "paper"}, "honest"),
            "honest counts loads and stores, paper loads alone");
        declare_schedule(o);
        declare_run(o);
        declare_output(o);
      },
      run_bounds};
  return command;
}

}  // namespace tcsim::cli
