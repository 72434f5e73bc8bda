#include "cli/simulation/counts.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace tcsim::cli {

void print_header(std::ostream& out) {
  out << fmt::format("  {:<14}{:>16}{:>16}{:>16}{:>16}{:>16}\n", "cache", "hits", "misses", "fills",
                     "evictions", "write-backs");
}

void print_counts(const std::string& name, const LevelCounts& c, std::ostream& out) {
  out << fmt::format("  {:<14}{:>16}{:>16}{:>16}{:>16}{:>16}\n", name, c.hits.value(),
                     c.misses.value(), c.fills.value(), c.evictions.value(), c.write_backs.value());
  // What only some caches do.
  std::string more;
  for (const CountField& f : count_fields) {
    const std::string field = f.name;
    const bool shown = field == "clean_victims" || field == "writes_through" ||
                       field == "invalidations" || field == "victim_hits" ||
                       field.find("prefetches") != std::string::npos;
    if (!shown || (c.*f.count).value() == 0) continue;
    more += fmt::format("{}{} {}", more.empty() ? "" : ", ", f.name, (c.*f.count).value());
  }
  if (!more.empty()) out << fmt::format("  {:<14}{}\n", "", more);
}

nlohmann::ordered_json counts_json(const LevelCounts& counts) {
  nlohmann::ordered_json j;
  for (const CountField& f : count_fields) j[f.name] = (counts.*f.count).value();
  return j;
}

void print_sample(const Machine& machine, const SampledSimulation& sampled, std::ostream& out) {
  out << fmt::format("  {} of {} classes of sets simulated; totals within, at 95 % confidence:\n",
                     sampled.classes, sampled.of);
  out << fmt::format("  {:<14}{:>32}{:>32}\n", "cache", "misses", "write-backs");
  const auto estimate = [](const Estimate& e) {
    return fmt::format("{:.0f} +- {:.0f}", e.value, e.error);
  };
  for (std::size_t l = 0; l < sampled.levels.size(); ++l) {
    out << fmt::format("  {:<14}{:>32}{:>32}\n", machine.levels[l].name,
                       estimate(sampled.levels[l].misses), estimate(sampled.levels[l].write_backs));
  }
  out << "\n";
}

nlohmann::ordered_json sample_json(const LevelEstimates& e) {
  const auto estimate = [](const Estimate& x) {
    return nlohmann::ordered_json{{"value", x.value}, {"error_95", x.error}};
  };
  return {{"misses", estimate(e.misses)},
          {"write_backs", estimate(e.write_backs)},
          {"bytes_outside", estimate(e.bytes)}};
}

nlohmann::ordered_json causes_json(const MissCauses& m) {
  return {{"compulsory", m.compulsory.value()},
          {"capacity", m.capacity.value()},
          {"conflict", m.conflict.value()}};
}

nlohmann::ordered_json distances_json(Lines first_uses, const std::vector<Lines>& buckets) {
  nlohmann::ordered_json histogram = nlohmann::ordered_json::array();
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    histogram.push_back({{"distance_lines", bucket_text(b)}, {"requests", buckets[b].value()}});
  }
  return {{"first_uses", first_uses.value()}, {"histogram", histogram}};
}

std::string step_text(const Step& step) {
  if (step.kind == Step::Kind::kernel) return "within a kernel or pack";
  if (step.kind == Step::Kind::move) return fmt::format("pack {}", to_text(step.tensor));
  return fmt::format("for {} by {}", to_text(step.group), step.tile);
}

std::string bucket_text(std::size_t bucket) {
  if (bucket < 2) return std::to_string(bucket);
  return fmt::format("{}-{}", std::uint64_t{1} << (bucket - 1), (std::uint64_t{1} << bucket) - 1);
}

}  // namespace tcsim::cli
