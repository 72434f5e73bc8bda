#include "cli/simulation/options.hpp"

#include <fmt/format.h>

#include "cli/values.hpp"
#include "core/error.hpp"

namespace tcsim::cli {

namespace {

namespace po = boost::program_options;

constexpr std::int64_t most_classes = std::int64_t{1} << 31;

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
    } else if (name == "replacement") {
      level.qlru = sim::qlru_named(value);
      if (!level.qlru) {
        throw UsageError(
            place, fmt::format("'{}' is no variant of QLRU", value),
            "name one as uops.info does, such as QLRU_H11_M1_R0_U0 or QLRU_H11_MR31_R1_U2 "
            "(R0 and R2 do not go with U2 and U3); for others use --set " +
                owner + ".replacement");
      }
    } else if (name == "empty_ways") {
      level.empty_ways = either("first", "tree") ? sim::EmptyWays::first : sim::EmptyWays::tree;
    } else {
      throw UsageError(place, fmt::format("there is no rule '{}'", name),
                       "use write_hit_refreshes, write_back_refreshes, write_back_miss, empty_ways "
                       "or replacement");
    }
    return;
  }
  throw UsageError(place, fmt::format("there is no cache '{}'", owner), "use a level's name");
}

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
      "(repeatable)")("trace-format", words({"din", "lackey", "binary"}),
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

}  // namespace tcsim::cli
