#include "cli/simulation/views.hpp"

#include <fmt/format.h>

#include "cli/simulation/counts.hpp"

namespace tcsim::cli {

std::vector<std::string> simulation_columns() {
  std::vector<std::string> names;
  for (const CountField& f : count_fields) names.emplace_back(f.name);
  for (const char* name :
       {"compulsory", "capacity", "conflict", "reuse_distances", "sampled_misses",
        "sampled_misses_error_95", "sampled_write_backs", "sampled_write_backs_error_95",
        "sampled_bytes_outside", "sampled_bytes_outside_error_95"}) {
    names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> simulation_cells(const Result& r, std::size_t link) {
  std::vector<std::string> cells;
  const auto add = [&](bool known, const auto&... values) {
    (cells.push_back(known ? fmt::format("{}", values()) : ""), ...);
  };
  const bool counted = r.simulation && link < r.simulation->levels.size();
  for (const CountField& f : count_fields) {
    add(counted, [&] { return (r.simulation->levels[link].*f.count).value(); });
  }
  const auto why = [&] { return r.attribution[link].total(); };
  add(
      link < r.attribution.size(), [&] { return why().compulsory.value(); },
      [&] { return why().capacity.value(); }, [&] { return why().conflict.value(); },
      [&] {
        const LevelAttribution& a = r.attribution[link];
        std::string text = fmt::format("first:{}", a.first_uses.value());
        for (std::size_t b = 0; b < a.reuse_distances.size(); ++b) {
          text += fmt::format(";{}:{}", bucket_text(b), a.reuse_distances[b].value());
        }
        return text;
      });
  add(
      r.sampled && link < r.sampled->levels.size(),
      [&] { return r.sampled->levels[link].misses.value; },
      [&] { return r.sampled->levels[link].misses.error; },
      [&] { return r.sampled->levels[link].write_backs.value; },
      [&] { return r.sampled->levels[link].write_backs.error; },
      [&] { return r.sampled->levels[link].bytes.value; },
      [&] { return r.sampled->levels[link].bytes.error; });
  return cells;
}

}  // namespace tcsim::cli
