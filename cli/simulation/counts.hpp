// What the printers of simulations share: names of counts, loops and reuse distances.
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>

#include "core/schedule/path.hpp"
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
    {"useful_prefetches", &LevelCounts::useful_prefetches}};

// The table of caches: its head, and a cache's line.
void print_header(std::ostream& out);
void print_counts(const std::string& name, const LevelCounts& counts, std::ostream& out);
nlohmann::ordered_json counts_json(const LevelCounts& counts);

// A loop of the schedule as it is written there; the last step stands for what it contains.
std::string step_text(const Step& step);
// Of reuse distances: 0, 1, 2-3, 4-7, ...
std::string bucket_text(std::size_t bucket);

}  // namespace tcsim::cli
