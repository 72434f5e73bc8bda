#include "sim/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "sim/general.hpp"
#include "sim/hierarchy.hpp"
#include "sim/plain.hpp"
#include "sim/sampled_classes.hpp"

namespace tcsim {

namespace {

bool runs_on_blocks(const Plan& plan, const sim::SystemConfig& config) {
  if (!runs_by_blocks(config)) return false;
  return is_plain(config) || plan.arena_size() / config.levels.front().line < sim::max_lines;
}

void check_plain(const Plan& plan, const sim::SystemConfig& config) {
  if (plan.arena_size() / config.levels.front().line < sim::max_lines) return;
  throw UnsupportedError(
      plan.contraction().name(),
      fmt::format("its arrays have {} bytes, 2^31 - 1 lines or more", plan.arena_size().value()),
      "use smaller sizes or longer lines");
}

}  // namespace

LevelCounts& LevelCounts::operator+=(const LevelCounts& o) {
  for (const auto count :
       {&LevelCounts::hits, &LevelCounts::misses, &LevelCounts::victim_hits,
        &LevelCounts::write_backs, &LevelCounts::fetches, &LevelCounts::fills,
        &LevelCounts::evictions, &LevelCounts::clean_victims, &LevelCounts::writes_through,
        &LevelCounts::invalidations, &LevelCounts::prefetches, &LevelCounts::useful_prefetches}) {
    this->*count += o.*count;
  }
  return *this;
}

Simulation simulate(const Plan& plan, const Machine& machine, const SimulationOptions& options) {
  return simulate(plan, sim::system_of(view_of_one_core(machine)), options);
}

Simulation simulate(const Plan& plan, const sim::SystemConfig& config,
                    const SimulationOptions& options) {
  sim::check(plan, config);
  if (!runs_on_blocks(plan, config)) return sim::simulate_general(plan, config, options);
  check_plain(plan, config);
  return sim::simulate_plain(plan, config, options);
}

Traffic simulate_share(const Plan& plan, const sim::SystemConfig& config, Share share,
                       const SimulationOptions& options) {
  sim::check(plan, config);
  // Only plain levels have blocks of one line; slices depend on the bits that name the share; and
  // arrays begin at multiples of 4096 bytes.
  const bool has_blocks =
      is_plain(config) ||
      (most_shares(config) / share.of >= 4 &&
       std::ranges::none_of(config.levels, [](auto& l) { return l.index.is_sliced(); }));
  const bool apart = share.of * config.levels.front().line.value() <= 4096;
  if (!has_blocks || !apart || !runs_on_blocks(plan, config)) {
    return sim::simulate_general(plan, config, share, options);
  }
  check_plain(plan, config);
  return sim::simulate_plain(plan, config, share, options);
}

std::int64_t most_shares(const sim::SystemConfig& config) {
  return sim::independent_classes(config);
}

Bytes bytes_in(const sim::SystemConfig& config, Share share, Bytes from, Bytes size) {
  const std::int64_t bytes = std::int64_t{1} << sim::region_bits_of(config);
  const std::int64_t period = share.of * bytes, begin = share.number * bytes;
  // Those before an address.
  const auto before = [&](Bytes to) {
    const std::int64_t left = to.value() % period;
    return to.value() / period * bytes + std::clamp(left - begin, std::int64_t{0}, bytes);
  };
  return Bytes(before(from + size) - before(from));
}

std::vector<TlbCounts> simulate_tlbs(const Plan& plan, const Machine& machine,
                                     const SimulationOptions& options) {
  std::map<std::int64_t, sim::SystemConfig> by_page;
  for (const Tlb& tlb : machine.tlbs) {
    const std::string place = fmt::format("{}: {}", machine.name, tlb.name);
    if (tlb.ways < 1 || tlb.entries % tlb.ways != 0) {
      throw UnsupportedError(place, fmt::format("{} entries of {} ways", tlb.entries, tlb.ways),
                             "give it a whole number of sets");
    }
    sim::SystemConfig& config = by_page[tlb.page.value()];
    config.name = machine.name;
    sim::LevelConfig level;
    level.name = tlb.name;
    level.sets = tlb.entries / tlb.ways;
    level.ways = tlb.ways;
    level.line = tlb.page;
    config.levels.push_back(level);
  }
  std::map<std::string, TlbCounts> counted;
  for (const auto& [page, config] : by_page) {
    sim::check(config);
    check_plain(plan, config);
    const std::vector<LevelCounts> levels = sim::count_plain(plan, config, options);
    for (std::size_t i = 0; i < config.levels.size(); ++i) {
      counted[config.levels[i].name] = {config.levels[i].name, Bytes(page), levels[i].hits.value(),
                                        levels[i].misses.value()};
    }
  }
  std::vector<TlbCounts> result;
  for (const Tlb& tlb : machine.tlbs) result.push_back(counted[tlb.name]);
  return result;
}

}  // namespace tcsim
