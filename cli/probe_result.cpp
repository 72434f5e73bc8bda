#include "cli/probe_result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/describe.hpp"
#include "cli/version.hpp"
#include "core/io/json.hpp"
#include "core/statistics.hpp"
#include "core/text/safe.hpp"
#include "core/units/text.hpp"

namespace tcsim::cli {

namespace {

using nlohmann::ordered_json;

template <class Quantity>
std::vector<double> values(const std::vector<Quantity>& quantities) {
  std::vector<double> v;
  for (const Quantity& q : quantities) v.push_back(q.value());
  return v;
}

std::string type_of(Bytes element) { return fmt::format("f{}", 8 * element.value()); }

constexpr const char* mark_of(bool unstable) { return unstable ? "*" : " "; }

std::vector<int> cores_of(const Probed& p) {
  std::vector<int> cores;
  for (const LevelFigure& f : p.figures) {
    for (const MixFigure& m : f.mixes) cores.push_back(m.cores);
  }
  std::sort(cores.begin(), cores.end());
  cores.erase(std::unique(cores.begin(), cores.end()), cores.end());
  return cores;
}

const MixFigure* find(const LevelFigure& level, AccessMix mix, const std::string& set,
                      Bytes element, int cores) {
  for (const MixFigure& m : level.mixes) {
    if (m.mix == mix && m.instruction_set == set && m.element == element && m.cores == cores) {
      return &m;
    }
  }
  return nullptr;
}

std::string cell(const MixFigure* m) {
  return m == nullptr ? fmt::format("{:>9} ", "-")
                      : fmt::format("{:>9.1f}{}", m->median.value() / 1e9, mark_of(m->unstable));
}

std::string plural(int n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

void print_head(const Probed& p, std::ostream& out) {
  const Topology& t = p.topology;
  out << fmt::format("{}  {}\n{}, {}, {}, {} (from {})\n", p.machine.name,
                     visible(p.machine.description), plural(t.packages, "package"),
                     plural(t.cores, "core"), plural(t.threads, "hardware thread"),
                     plural(static_cast<int>(t.nodes.size()), "NUMA node"), t.source);
  for (const NumaNode& n : t.nodes) {
    out << fmt::format("  NUMA node {}: {}, {:.1f} GiB\n", n.id, plural(n.cores, "core"),
                       static_cast<double>(n.memory.value()) / (1 << 30));
  }
  out << fmt::format("content hash {}\n", content_hash(p.machine));
}

void print_levels(const Probed& p, std::ostream& out) {
  const Machine& m = p.machine;
  const double hertz = m.core.frequency.value.value();
  out << fmt::format(
      "\n  one core, load-fma-store, {} f64\n"
      "  {:<8}{:>9}{:>6}{:>8}  {:<24}{:>9}{:>9}{:>8}{:>9}{:>9}\n",
      p.measured.instruction_set, "level", "capacity", "ways", "cores", "plateau", "GB/s",
      "B/cycle", "spread", "latency", "");
  for (std::size_t l = 0; l < m.levels.size(); ++l) {
    const Level& level = m.levels[l];
    const LevelFigure& f = p.figures[l];
    const bool cache = level.kind == LevelKind::cache;
    const double rate = level.bandwidth.value.at(m.core.frequency.value).value();
    const double cycles = level.latency ? level.latency->value.value() : 0;
    out << fmt::format(
        "  {:<8}{:>9}{:>6}{:>8}  {:<24}{:>9.1f}{:>9.2f}{:>7.1f}%{:>7.4g} cycles{:>7.1f} ns{}{}\n",
        level.name, cache ? to_text(level.capacity.value) : "-",
        cache ? fmt::format("{}", level.ways.value) : "-", level.shared_by,
        fmt::format("{} - {}", to_binary_display(f.from), to_binary_display(f.to)), rate / 1e9,
        rate / hertz, 100 * f.spread, cycles, 1e9 * cycles / hertz,
        mark_of(p.measured.latencies[l].unstable), f.unstable ? " unstable" : "");
  }
}

void print_mixes(const Probed& p, std::ostream& out) {
  constexpr AccessMix mixes[] = {AccessMix::load_fma_store, AccessMix::load, AccessMix::copy,
                                 AccessMix::triad};
  const std::vector<int> cores = cores_of(p);
  std::vector<int> shown{cores.front()};
  if (cores.size() > 1) shown.push_back(cores.back());
  for (int n : shown) {
    out << fmt::format("\n  GB/s, {:<13}{:<6}", n == 1 ? "one core" : plural(n, "core"), "");
    for (AccessMix mix : mixes) out << fmt::format("{:>15}", to_text(mix));
    out << "\n";
    for (std::size_t l = 0; l < p.figures.size(); ++l) {
      for (const PeakSeries& peak :
           p.machine.core.peaks) {  // one for each instruction set and type
        if (peak.cores != cores.front()) continue;
        std::string line;
        bool any = false;
        for (AccessMix mix : mixes) {
          const MixFigure* m = find(p.figures[l], mix, peak.instruction_set, peak.element, n);
          any |= m != nullptr;
          line += "     " + cell(m);
        }
        if (!any) continue;
        out << fmt::format("  {:<8}{:<9}{:<6}{}\n", p.machine.levels[l].name, peak.instruction_set,
                           type_of(peak.element), line);
      }
    }
  }
}

void print_scaling(const Probed& p, std::ostream& out) {
  const std::vector<int> cores = cores_of(p);
  if (cores.size() < 2) return;
  out << "\n  load-fma-store by cores, GB/s of all together\n  " << fmt::format("{:<8}", "cores");
  for (const Level& l : p.machine.levels) out << fmt::format("{:>10}", l.name);
  out << "\n";
  for (int n : cores) {
    out << fmt::format("  {:<8}", n);
    for (const LevelFigure& f : p.figures) {
      out << cell(find(f, AccessMix::load_fma_store, p.measured.instruction_set, Bytes(8), n));
    }
    out << "\n";
  }
}

void print_core(const Probed& p, std::ostream& out) {
  const std::vector<PeakSeries>& peaks = p.machine.core.peaks;
  out << fmt::format("\n  core      {} sustained while measuring\n  {:<17}{:>10}",
                     to_text(p.machine.core.frequency.value), "FMA", "latency");
  std::vector<int> counts;
  for (const PeakSeries& s : peaks) {
    if (std::find(counts.begin(), counts.end(), s.cores) == counts.end()) {
      counts.push_back(s.cores);
      out << fmt::format("{:>20}", "GFLOPS, " + plural(s.cores, "core"));
    }
  }
  out << "\n";
  for (const FmaLatency& l : p.measured.fma_latencies) {
    out << fmt::format("  {:<9}{:<8}{:>10.2f}", l.instruction_set, type_of(l.element),
                       l.median.value());
    for (const PeakSeries& s : peaks) {
      if (s.instruction_set != l.instruction_set || s.element != l.element) continue;
      out << fmt::format("{:>19.1f}{}", s.median().value() / 1e9,
                         mark_of(s.spread() > unstable_spread));
    }
    out << "\n";
  }
  out << overhead_lines(p.machine.core);
}

void print_table(const Probed& p, std::ostream& out) {
  print_head(p, out);
  print_levels(p, out);
  print_mixes(p, out);
  print_scaling(p, out);
  print_core(p, out);
  out << "\n  figures are medians; * unstable: spread (interquartile range over median) above 10 "
         "%\n"
      << "  affinity     " << p.machine.method->affinity << "\n  clock        "
      << p.machine.method->clock << "\n  pages        " << p.machine.method->pages
      << "\n  warm-up      " << p.machine.method->warm_up
      << fmt::format("\n  repetitions  {} of each series in {}, {} disturbed ones left out\n",
                     p.machine.method->repetitions, plural(p.measured.rounds, "round"),
                     p.measured.disturbed);
  for (const std::string& remark : p.machine.remarks)
    out << "  remark       " << visible(remark) << "\n";
}

ordered_json to_json(const BandwidthSeries& s) {
  return {{"mix", to_text(s.mix)},
          {"instruction_set", s.instruction_set},
          {"element_bytes", s.element.value()},
          {"cores", s.cores},
          {"working_set_bytes", s.working_set.value()},
          {"median_bytes_per_second", s.median().value()},
          {"median_bytes_per_cycle", s.median().value() / s.frequency.value()},
          {"spread", s.spread()},
          {"unstable", s.unstable},
          {"frequency_hertz", s.frequency.value()},
          {"repetitions_bytes_per_second", values(s.repetitions)}};
}

ordered_json level_json(const Probed& p, std::size_t l) {
  const Level& level = p.machine.levels[l];
  const LevelFigure& f = p.figures[l];
  const Hertz hertz = p.machine.core.frequency.value;
  ordered_json j{{"name", level.name}, {"kind", to_text(level.kind)}};
  if (level.kind == LevelKind::cache) {
    j["capacity_bytes"] = level.capacity.value.value();
    j["ways"] = level.ways.value;
    j["line_bytes"] = level.line.value.value();
  }
  j["shared_by_cores"] = level.shared_by;
  j["plateau_from_bytes"] = f.from.value();
  j["plateau_to_bytes"] = f.to.value();
  j["bandwidth_bytes_per_second"] = level.bandwidth.value.at(hertz).value();
  j["bandwidth_bytes_per_cycle"] = level.bandwidth.value.at(hertz).value() / hertz.value();
  j["spread"] = f.spread;
  j["unstable"] = f.unstable;
  if (level.latency) {
    j["latency_cycles"] = level.latency->value.value();
    j["latency_seconds"] = level.latency->value.value() / hertz.value();
    j["latency_unstable"] = p.measured.latencies[l].unstable;
  }
  j["series"] = ordered_json::array();
  for (const BandwidthSeries& s : p.machine.levels[l].series) j["series"].push_back(to_json(s));
  return j;
}

ordered_json to_json(const ChaseSeries& c) {
  const double seconds = median(values(c.repetitions));
  return {{"working_set_bytes", c.working_set.value()},
          {"median_seconds", seconds},
          {"median_cycles", seconds * c.frequency.value()},
          {"unstable", c.unstable},
          {"repetitions_seconds", values(c.repetitions)}};
}

ordered_json core_json(const Probed& p) {
  ordered_json j{{"frequency_hertz", p.machine.core.frequency.value.value()},
                 {"vector_bits", p.machine.core.vector_bits.value},
                 {"fma_per_cycle", p.machine.core.fma_per_cycle.value},
                 {"fma_latency_cycles", p.machine.core.fma_latency.value.value()}};
  for (const PeakSeries& s : p.machine.core.peaks) {
    j["peaks"].push_back({{"instruction_set", s.instruction_set},
                          {"element_bytes", s.element.value()},
                          {"cores", s.cores},
                          {"median_flops_per_second", s.median().value()},
                          {"spread", s.spread()},
                          {"repetitions_flops_per_second", values(s.repetitions)}});
  }
  for (const FmaLatency& l : p.measured.fma_latencies) {
    j["fma_latencies"].push_back({{"instruction_set", l.instruction_set},
                                  {"element_bytes", l.element.value()},
                                  {"cycles", l.median.value()}});
  }
  return j;
}

ordered_json topology_json(const Topology& t) {
  ordered_json j{{"sources", t.source},
                 {"packages", t.packages},
                 {"cores", t.cores},
                 {"hardware_threads", t.threads}};
  for (const NumaNode& n : t.nodes) {
    j["numa_nodes"].push_back(
        {{"id", n.id}, {"cores", n.cores}, {"memory_bytes", n.memory.value()}});
  }
  return j;
}

void print_json(const Probed& p, std::ostream& out) {
  ordered_json j{{"schema", 1},
                 {"command", "probe"},
                 {"tcsim_version", version},
                 {"machine",
                  {{"name", p.machine.name},
                   {"description", p.machine.description},
                   {"hash", content_hash(p.machine)}}}};
  j["topology"] = topology_json(p.topology);
  j["core"] = core_json(p);
  for (std::size_t l = 0; l < p.machine.levels.size(); ++l) j["levels"].push_back(level_json(p, l));
  for (const ChaseSeries& c : p.measured.chases) j["load_latency_curve"].push_back(to_json(c));
  j["method"] = {{"affinity", p.machine.method->affinity},
                 {"clock", p.machine.method->clock},
                 {"clock_resolution_seconds", p.measured.clock.resolution.value()},
                 {"pages", p.machine.method->pages},
                 {"huge_page_bytes", p.measured.on_huge_pages.value()},
                 {"memory_bytes", p.measured.block.value()},
                 {"warm_up", p.machine.method->warm_up},
                 {"rounds", p.measured.rounds},
                 {"repetitions", p.machine.method->repetitions},
                 {"disturbed", p.measured.disturbed}};
  j["remarks"] = p.machine.remarks;
  out << json_text(j) << "\n";
}

// One row for each bandwidth and peak series; what a row does not have is empty.
void print_csv(const Probed& p, std::ostream& out) {
  out << "level,mix,instruction_set,element_bytes,cores,working_set_bytes,"
         "median_bytes_per_second,median_bytes_per_cycle,median_flops_per_second,spread,unstable,"
         "repetitions\n";
  for (std::size_t l = 0; l < p.machine.levels.size(); ++l) {
    for (const BandwidthSeries& s : p.machine.levels[l].series) {
      out << fmt::format(
          "{},{},{},{},{},{},{},{},,{},{},{}\n", csv_cell(p.machine.levels[l].name), to_text(s.mix),
          s.instruction_set, s.element.value(), s.cores, s.working_set.value(), s.median().value(),
          s.median().value() / s.frequency.value(), s.spread(), s.unstable, s.repetitions.size());
    }
  }
  for (const PeakSeries& s : p.machine.core.peaks) {
    out << fmt::format("core,fma,{},{},{},,,,{},{},{},{}\n", s.instruction_set, s.element.value(),
                       s.cores, s.median().value(), s.spread(), s.spread() > unstable_spread,
                       s.repetitions.size());
  }
}

}  // namespace

void print(const Probed& probed, Format format, std::ostream& out) {
  switch (format) {
    case Format::table:
      return print_table(probed, out);
    case Format::json:
      return print_json(probed, out);
    case Format::csv:
      return print_csv(probed, out);
  }
}

}  // namespace tcsim::cli
