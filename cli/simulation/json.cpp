#include "cli/simulation/views.hpp"

#include "cli/simulation/counts.hpp"

namespace tcsim::cli {

namespace {

nlohmann::ordered_json causes_json(const MissCauses& m) {
  return {{"compulsory", m.compulsory.value()},
          {"capacity", m.capacity.value()},
          {"conflict", m.conflict.value()}};
}

}  // namespace

using nlohmann::ordered_json;

void add_simulation(ordered_json& level, const Result& r, std::size_t link) {
  if (r.simulation && link < r.simulation->levels.size()) {
    level["cache"] = counts_json(r.simulation->levels[link]);
  }
  if (r.sampled && link < r.sampled->levels.size()) {
    const LevelEstimates& e = r.sampled->levels[link];
    const auto estimate = [](const Estimate& x) {
      return ordered_json{{"value", x.value}, {"error_95", x.error}};
    };
    level["sample"] = {{"misses", estimate(e.misses)},
                       {"write_backs", estimate(e.write_backs)},
                       {"bytes_outside", estimate(e.bytes)}};
  }
  if (link >= r.attribution.size()) return;
  const LevelAttribution& a = r.attribution[link];
  ordered_json causes = causes_json(a.total()), by_tensor = ordered_json::object();
  for (const Array& array : printed_arrays) {
    for (Phase p : all_phases) {
      const MissCauses m = sum_of(a.arrays, a.misses[p], array);
      if (m.total() == Lines(0)) continue;
      by_tensor[to_text(array)][p == Phase::packing ? "packing" : "compute"] = causes_json(m);
    }
  }
  causes["by_tensor"] = by_tensor;
  const Path path = only_path(r.workload, r.schedule);
  causes["carried_by"] = ordered_json::array();
  for (std::size_t s = 0; s < a.by_step.size(); ++s) {
    if (a.by_step[s] == Lines(0)) continue;
    causes["carried_by"].push_back(
        {{"step", s}, {"loop", step_text(path.steps[s])}, {"misses", a.by_step[s].value()}});
  }
  level["why"] = causes;
  ordered_json histogram = ordered_json::array();
  for (std::size_t b = 0; b < a.reuse_distances.size(); ++b) {
    histogram.push_back(
        {{"distance_lines", bucket_text(b)}, {"requests", a.reuse_distances[b].value()}});
  }
  level["reuse_distances"] = {{"first_uses", a.first_uses.value()}, {"histogram", histogram}};
}

void add_simulation(ordered_json& result, const Result& r) {
  if (r.simulation) result["line_touches"] = r.simulation->touches.value();
  if (r.sampled) {
    result["sample"] = {{"classes", r.sampled->classes}, {"of", r.sampled->of}};
  }
  if (r.tlbs.empty()) return;
  result["tlbs"] = ordered_json::array();
  for (const TlbCounts& t : r.tlbs) {
    result["tlbs"].push_back(
        {{"name", t.name}, {"page_bytes", t.page.value()}, {"hits", t.hits}, {"misses", t.misses}});
  }
}

}  // namespace tcsim::cli
