// Machines as ChampSim's configuration: JSON with its L1D, L2C and LLC (its champsim_config.json
// and docs name the keys).
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/io/json.hpp"
#include "core/units/text.hpp"
#include "exchange/draft.hpp"
#include "exchange/simulators.hpp"

namespace tcsim {

namespace {

constexpr const char* champsim_name = "ChampSim";
constexpr const char* champsim_levels[] = {"L1D", "L2C", "LLC"};

nlohmann::ordered_json champsim_cache(const Machine& machine, const Level& l,
                                      std::vector<std::string>& unknown) {
  using exchange::cannot_say;
  const std::int64_t sets = l.sets();
  if (!std::has_single_bit(static_cast<std::uint64_t>(sets))) {
    const auto fewer = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(sets)));
    cannot_say(machine, l, champsim_name, fmt::format("{} sets, only powers of two", sets),
               "capacity=" + to_text(l.line.value * (l.ways.value * fewer)));
  }
  if (l.replacement.value != Replacement::lru && l.replacement.value != Replacement::srrip) {
    cannot_say(machine, l, champsim_name,
               fmt::format("replacement {}", to_text(l.replacement.value)), "replacement=lru");
  }
  if (l.prefetch != Prefetch::none && l.prefetch != Prefetch::next_line) {
    cannot_say(machine, l, champsim_name, fmt::format("prefetch {}", to_text(l.prefetch)),
               "prefetch=none");
  }
  if (l.inclusion.value != Inclusion::neither) {
    cannot_say(machine, l, champsim_name, fmt::format("{} caches", to_text(l.inclusion.value)),
               "inclusion=neither");
  }
  nlohmann::ordered_json j{{"sets", sets}, {"ways", l.ways.value}};
  if (l.latency) {
    j["latency"] = std::max<long long>(1, std::llround(l.latency->value.value()));
  } else {
    unknown.push_back(l.name);
  }
  j["prefetcher"] = l.prefetch == Prefetch::next_line ? "next_line" : "no";
  j["replacement"] = to_text(l.replacement.value);
  return j;
}

}  // namespace

Exported export_champsim(const Machine& machine) {
  Exported out;
  const std::vector<const Level*> caches = exchange::usual_caches(machine, champsim_name);
  if (caches.size() != std::size(champsim_levels)) {
    throw UnsupportedError(machine.name,
                           fmt::format("it has {} caches, ChampSim three", caches.size()),
                           "export a machine with L1, L2 and L3");
  }
  nlohmann::ordered_json j{{"executable_name", "bin/champsim"},
                           {"block_size", caches.front()->line.value.value()},
                           {"num_cores", 1},
                           {"ooo_cpu", nlohmann::ordered_json::array()}};
  j["ooo_cpu"].push_back({{"frequency", std::llround(machine.core.frequency.value.value() / 1e6)}});
  std::vector<std::string> unknown;
  for (std::size_t i = 0; i < caches.size(); ++i) {
    j[champsim_levels[i]] = champsim_cache(machine, *caches[i], unknown);
    if (caches[i]->name != champsim_levels[i]) {
      out.lost.push_back(
          fmt::format("the name of {}, which is {}", caches[i]->name, champsim_levels[i]));
    }
  }
  out.text = json_text(j) + "\n";
  if (!unknown.empty()) {
    out.lost.push_back(
        fmt::format("latencies of {}, which the machine does not say: ChampSim's own count",
                    fmt::join(unknown, ", ")));
  }
  out.lost.emplace_back(
      "instruction caches, queues, pipelines and DRAM timings: ChampSim's own count");
  exchange::lose_the_rest(out.lost, machine);
  return out;
}

}  // namespace tcsim
