#include "cli/simulation/options.hpp"

#include <fmt/format.h>

#include "cli/request.hpp"
#include "cli/values.hpp"
#include "core/error.hpp"

namespace tcsim::cli {

namespace {

namespace po = boost::program_options;

constexpr std::int64_t most_classes = std::int64_t{1} << 31;

}  // namespace

bool flag(const Options& options, const char* name) {
  return options.count(name) != 0 && options[name].as<bool>();
}

void declare_simulation(po::options_description& options) {
  options.add_options()("attribution", po::bool_switch(),
                        "say why lines are missed, by tensor, phase and loop, and how far uses lie "
                        "apart; slower")(
      "sample", new Whole<std::int64_t>(2, most_classes),
      "simulate so many classes of sets only and estimate the rest")(
      "tlb", po::bool_switch(), "also simulate the machine's TLBs")(
      "sets", po::value<std::string>(),
      "also say of each set of this level which tensors' lines fall into it, and what it misses "
      "and "
      "why; slower")(
      "timeline", new Whole<int>(1, most_timeline_frames),
      "also cut the run into at most so many frames and say of each what every cache holds and "
      "misses, and which iterations run; slower")(
      "timeline-part", po::value<std::string>(),
      "FROM..TO: only these of the core's line touches (numbers as the table has them)")(
      "rule", po::value<std::vector<std::string>>(),
      "LEVEL.RULE=VALUE: write_hit_refreshes or write_back_refreshes=true|false, "
      "write_back_miss=allocate|pass, empty_ways=first|tree, replacement=QLRU_H11_M1_R0_U0 or the "
      "like (repeatable)")("no-drain", po::bool_switch(),
                           "leave dirty lines where they are at the end")(
      "no-replay", po::bool_switch(), "simulate again what happened before; for comparison")(
      "seed", whole<std::uint64_t>(1, 0),
      "of random, brrip and QLRU_..._MR... replacement, and of the sample")(
      "write-trace", po::value<std::string>(),
      "write the accesses of the schedule to this file and do no more")(
      "trace", po::value<std::vector<std::string>>(),
      "simulate this trace instead of a workload; - is standard input; one for each core "
      "(repeatable)")(
      "trace-format", words({"din", "lackey", "binary", "champsim"}),
      "of the traces; otherwise they are looked at; of --write-trace binary or champsim")(
      "grain", whole<std::int64_t>(1, 1), "accesses of one core before the next one's turn")(
      "instructions", words({"ignore", "unified", "split"}, "ignore"),
      "of a trace: split gives them an innermost cache of their own");
}

SimulationRequest simulation_request(const Options& options) {
  SimulationRequest request;
  request.attribution = flag(options, "attribution");
  request.tlb = flag(options, "tlb");
  if (options.count("sample") != 0) request.sample = options["sample"].as<std::int64_t>();
  if (options.count("rule") != 0) request.rules = options["rule"].as<std::vector<std::string>>();
  request.drain = !flag(options, "no-drain");
  if (options.count("sets") != 0) request.sets = options["sets"].as<std::string>();
  if (options.count("timeline") != 0) request.timeline = options["timeline"].as<int>();
  if (options.count("timeline-part") != 0) {
    const auto& part = options["timeline-part"].as<std::string>();
    request.timeline_part = parse_touch_range(part, "--timeline-part " + part);
    if (!request.timeline) {
      throw UsageError("--timeline-part", "there is no timeline", "add --timeline FRAMES");
    }
  }
  if (request.timeline && request.sets && format(options) == Format::csv) {
    throw UsageError("--timeline", "CSV has rows of sets or of frames",
                     "give --sets or --timeline, one of them at a time");
  }
  if (options.count("seed") != 0) request.seed = options["seed"].as<std::uint64_t>();
  return request;
}

sim::SystemConfig system(const Options& options, const Machine& machine, int cores) {
  return system(simulation_request(options), machine, cores);
}

Instructions instructions(const Options& options) {
  const auto& given = options["instructions"].as<std::string>();
  if (given == "ignore") return Instructions::ignore;
  return given == "split" ? Instructions::split : Instructions::unified;
}

std::optional<sim::TraceFormat> trace_format(const Options& options) {
  if (options.count("trace-format") == 0) return {};
  const auto& given = options["trace-format"].as<std::string>();
  if (given == "champsim") {
    throw UsageError("--trace-format", "traces for ChampSim are written, not read",
                     "leave it out, or use --write-trace FILE");
  }
  if (given == "din") return sim::TraceFormat::din;
  return given == "lackey" ? sim::TraceFormat::lackey : sim::TraceFormat::binary;
}

}  // namespace tcsim::cli
