#include "cli/simulation/views.hpp"

#include "cli/simulation/counts.hpp"

namespace tcsim::cli {

using nlohmann::ordered_json;

void add_simulation(ordered_json& level, const Result& r, std::size_t link) {
  if (is_of_sets(r, link)) level["sets"] = sets_json(r);
  if (r.simulation && link < r.simulation->levels.size()) {
    level["cache"] = counts_json(r.simulation->levels[link]);
  }
  if (r.sampled && link < r.sampled->levels.size()) {
    level["sample"] = sample_json(r.sampled->levels[link]);
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
  level["reuse_distances"] = distances_json(a.first_uses, a.reuse_distances);
}

void add_simulation(ordered_json& result, const Result& r) {
  if (r.simulation) result["line_touches"] = r.simulation->touches.value();
  if (r.timeline) result["timeline"] = timeline_json(*r.timeline);
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
