// What the printers of simulations share: names of counts, loops and reuse distances.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include <vector>

#include "core/machine/machine.hpp"
#include "core/schedule/path.hpp"
#include "sim/attribution.hpp"
#include "sim/sample.hpp"
#include "sim/simulate.hpp"

namespace tcsim::cli {

// The counts of a level, under the names that JSON and CSV have for them.
struct CountField {
  const char* name;
  Lines LevelCounts::*count;
};
inline constexpr CountField count_fields[] = {
    {"hits", &LevelCounts::hits},
    {"misses", &LevelCounts::misses},
    {"fetches", &LevelCounts::fetches},
    {"fills", &LevelCounts::fills},
    {"evictions", &LevelCounts::evictions},
    {"write_backs", &LevelCounts::write_backs},
    {"clean_victims", &LevelCounts::clean_victims},
    {"writes_through", &LevelCounts::writes_through},
    {"invalidations", &LevelCounts::invalidations},
    {"prefetches", &LevelCounts::prefetches},
    {"useful_prefetches", &LevelCounts::useful_prefetches},
    {"victim_hits", &LevelCounts::victim_hits}};

// The table of caches: its head, and a cache's line.
void print_header(std::ostream& out);
void print_counts(const std::string& name, const LevelCounts& counts, std::ostream& out);
nlohmann::ordered_json counts_json(const LevelCounts& counts);

// A sample's table, and a level of it.
void print_sample(const Machine& machine, const SampledSimulation& sampled, std::ostream& out);
nlohmann::ordered_json sample_json(const LevelEstimates& level);

nlohmann::ordered_json causes_json(const MissCauses& causes);
nlohmann::ordered_json distances_json(Lines first_uses, const std::vector<Lines>& buckets);

// A loop of the schedule as it is written there; the last step stands for what it contains.
std::string step_text(const Step& step);
// Of reuse distances: 0, 1, 2-3, 4-7, ...
std::string bucket_text(std::size_t bucket);

}  // namespace tcsim::cli
