#include "cli/simulation/views.hpp"

#include <fmt/format.h>

#include "cli/simulation/counts.hpp"

namespace tcsim::cli {

namespace {

void print_attribution(const Result& r, std::ostream& out) {
  const Path path = only_path(r.workload, r.schedule);
  out << fmt::format("  {:<14}{:<22}{:>16}{:>16}{:>16}\n", "misses", "", "compulsory", "capacity",
                     "conflict");
  for (std::size_t l = 0; l < r.attribution.size(); ++l) {
    std::string name = r.machine.level(LevelId{static_cast<int>(l)}).name;
    const auto row = [&](const std::string& of, const MissCauses& m) {
      if (m.total() == Lines(0)) return;
      out << fmt::format("  {:<14}{:<22}{:>16}{:>16}{:>16}\n", name, of, m.compulsory.value(),
                         m.capacity.value(), m.conflict.value());
      name.clear();
    };
    const LevelAttribution& level = r.attribution[l];
    row("all", level.total());
    for (Phase p : all_phases) {
      for (const Array& a : printed_arrays) {
        row(fmt::format("{}{}", to_text(a), p == Phase::packing ? ", packing" : ""),
            sum_of(level.arrays, level.misses[p], a));
      }
    }
  }
  out << fmt::format("\n  {:<14}{:<26}{:>12}\n", "misses again", "reuse carried by", "lines");
  for (std::size_t l = 0; l < r.attribution.size(); ++l) {
    std::string name = r.machine.level(LevelId{static_cast<int>(l)}).name;
    for (std::size_t s = 0; s < path.steps.size(); ++s) {
      const Lines lines = r.attribution[l].by_step[s];
      if (lines == Lines(0)) continue;
      out << fmt::format("  {:<14}{:<26}{:>12}\n", name, step_text(path.steps[s]), lines.value());
      name.clear();
    }
  }
  out << fmt::format("\n  {:<14}{:<26}{:>12}\n", "requests", "reuse distance, lines", "lines");
  for (std::size_t l = 0; l < r.attribution.size(); ++l) {
    std::string name = r.machine.level(LevelId{static_cast<int>(l)}).name;
    const auto row = [&](const std::string& distance, Lines lines) {
      if (lines == Lines(0)) return;
      out << fmt::format("  {:<14}{:<26}{:>12}\n", name, distance, lines.value());
      name.clear();
    };
    for (std::size_t b = 0; b < r.attribution[l].reuse_distances.size(); ++b) {
      row(bucket_text(b), r.attribution[l].reuse_distances[b]);
    }
    row("first use", r.attribution[l].first_uses);
  }
  out << "\n";
}

}  // namespace

void print_simulation(const Result& r, std::ostream& out) {
  if (r.sampled) print_sample(r.machine, *r.sampled, out);
  if (r.simulation) {
    print_header(out);
    for (std::size_t l = 0; l < r.simulation->levels.size(); ++l) {
      print_counts(r.machine.level(LevelId{static_cast<int>(l)}).name, r.simulation->levels[l],
                   out);
    }
    out << "\n";
  }
  if (!r.tlbs.empty()) {
    out << fmt::format("  {:<14}{:>10}{:>16}{:>16}\n", "TLB", "page", "hits", "misses");
    for (const TlbCounts& t : r.tlbs) {
      out << fmt::format("  {:<14}{:>10}{:>16}{:>16}\n", t.name, to_display(t.page), t.hits,
                         t.misses);
    }
    out << "\n";
  }
  if (!r.attribution.empty()) print_attribution(r, out);
  if (r.sets) print_sets(r, out);
  if (r.timeline) print_timeline(*r.timeline, out);
}

}  // namespace tcsim::cli
