// What was measured, as a machine.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/statistics.hpp"
#include "core/units/text.hpp"
#include "microbench/probe.hpp"

namespace tcsim {

namespace {

// Measured figures have no more than four digits that mean something.
double four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

template <class Quantity>
std::vector<double> values(const std::vector<Quantity>& quantities) {
  std::vector<double> v;
  for (const Quantity& q : quantities) v.push_back(q.value());
  return v;
}

const PeakSeries* find_peak(const Measured& m) {
  for (const PeakSeries& p : m.peaks) {
    if (p.instruction_set == m.instruction_set && p.element == Bytes(8) && p.cores == 1) return &p;
  }
  return nullptr;
}

Core assemble_core(const Measured& m) {
  Core core;
  core.peaks = m.peaks;
  const Hertz frequency(four_digits(m.frequency.value()));
  core.frequency = {frequency, Origin::measured,
                    "sustained while measuring: chains of integer additions of one cycle each, "
                    "right after each repetition"};
  core.vector_bits = {m.vector_bits, Origin::vendor,
                      fmt::format("widest vectors of the processor ({})", m.instruction_set)};
  core.vector_registers = {m.vector_registers, Origin::vendor, m.instruction_set};

  if (const PeakSeries* p = find_peak(m)) {
    const std::vector<double> flops = values(p->repetitions);
    const double lanes = m.vector_bits / 64.0;
    core.fma_per_cycle = {
        four_digits(median(flops) / (2 * lanes * frequency.value())), Origin::measured,
        fmt::format("{} independent f64 multiply-adds over the frequency, median "
                    "of {}, interquartile range {:.1f} %",
                    m.instruction_set, flops.size(), 100 * relative_spread(flops))};
  }
  std::string all;
  for (const FmaLatency& l : m.fma_latencies) {
    all += fmt::format("{}{} f{} {:.2f}", all.empty() ? "" : ", ", l.instruction_set,
                       8 * l.element.value(), l.median.value());
    if (l.instruction_set == m.instruction_set && l.element == Bytes(8)) {
      core.fma_latency.value = Cycles(std::max(1.0, std::round(l.median.value())));
    }
  }
  core.fma_latency.origin = Origin::measured;
  core.fma_latency.source = "chains of multiply-adds, in cycles: " + all;
  return core;
}

Level cache_level(const CacheGeometry& g, const std::string& sources) {
  Level l;
  l.name = fmt::format("L{}", g.level);
  const std::string source = sources + (g.note.empty() ? "" : " (" + g.note + ")");
  const Origin origin = g.note.empty() ? Origin::vendor : Origin::assumed;
  l.capacity = {g.capacity, origin, source};
  l.ways = {g.ways, origin, source};
  l.line = {g.line, origin, source};
  l.shared_by = g.shared_by;
  l.replacement = {Replacement::lru, Origin::assumed, "no source tells; what the model takes"};
  l.inclusion = {Inclusion::neither, Origin::assumed,
                 !g.inclusive   ? "no source tells"
                 : *g.inclusive ? "it is said to hold all that the caches inside it hold, but the "
                                  "model takes no promise"
                                : "said not to be inclusive; whether it is exclusive, no source "
                                  "tells"};
  return l;
}

// The streams that a level's own figures come from: series of that mix, or what they come to.
template <class Stream>
bool is_main(const Stream& s, const Measured& m, AccessMix mix = AccessMix::load_fma_store) {
  return s.mix == mix && s.instruction_set == m.instruction_set && s.element == Bytes(8) &&
         s.cores == 1;
}

std::vector<const BandwidthSeries*> main_series(const Measured& m) {
  std::vector<const BandwidthSeries*> main;
  for (const auto& level : m.streams) {
    for (const BandwidthSeries& s : level) {
      if (is_main(s, m)) main.push_back(&s);
    }
  }
  std::sort(main.begin(), main.end(),
            [](const auto* a, const auto* b) { return a->working_set < b->working_set; });
  return main;
}

// `per_cycle`: the level runs on the core's clock, so that its bandwidth follows the frequency.
LevelFigure set_bandwidth(Level& level, const LevelSpan& span, bool per_cycle, const Measured& m) {
  const std::vector<const BandwidthSeries*> main = main_series(m);
  RateCurve curve;
  for (const BandwidthSeries* s : main) {
    curve.push_back({s->working_set, s->median().value()});
  }
  const std::vector<std::size_t> points = points_of(curve, span);
  std::vector<double> rates;
  std::size_t unstable = 0;
  for (std::size_t p : points) {
    const BandwidthSeries& s = *main[p];
    unstable += s.unstable;
    for (BytesPerSecond r : s.repetitions) {
      rates.push_back(per_cycle ? r.value() / s.frequency.value() : r.value());
    }
  }
  LevelFigure figure{curve[points.front()].working_set,
                     curve[points.back()].working_set,
                     relative_spread(rates),
                     false,
                     {}};
  figure.unstable = figure.spread > unstable_spread || 2 * unstable > points.size();
  const auto unit =
      per_cycle ? Bandwidth::Unit::bytes_per_cycle : Bandwidth::Unit::bytes_per_second;
  level.bandwidth = {
      {four_digits(median(rates)), unit},
      Origin::measured,
      fmt::format("Load-FMA-Store stream, {} f64, one core, bytes loaded plus bytes stored: median "
                  "of {} repetitions on {} working sets from {} to {}, interquartile range "
                  "{:.1f} %{}",
                  m.instruction_set, rates.size(), points.size(), to_text(figure.from),
                  to_text(figure.to), 100 * figure.spread, figure.unstable ? ", unstable" : "")};
  return figure;
}

bool same_kind(const MixFigure& f, const BandwidthSeries& s) {
  return f.mix == s.mix && f.element == s.element && f.instruction_set == s.instruction_set &&
         f.cores == s.cores;
}

std::vector<MixFigure> mix_figures(const std::vector<BandwidthSeries>& level,
                                   const LevelSpan& span) {
  std::vector<MixFigure> figures;
  for (const BandwidthSeries& s : level) {
    if (std::none_of(figures.begin(), figures.end(),
                     [&](const MixFigure& f) { return same_kind(f, s); })) {
      figures.push_back({s.mix, s.element, s.instruction_set, s.cores, {}, 0, 0, false});
    }
  }
  for (MixFigure& f : figures) {
    std::vector<double> rates, per_cycle;
    int series = 0, unstable = 0;
    for (const BandwidthSeries& s : level) {
      // The curve goes beyond the plateau; cores that share a level have each a part of a set.
      if (!same_kind(f, s) || (s.cores == 1 && !span.holds(s.working_set))) continue;
      ++series;
      unstable += s.unstable;
      for (BytesPerSecond r : s.repetitions) {
        rates.push_back(r.value());
        per_cycle.push_back(r.value() / s.frequency.value());
      }
    }
    if (rates.empty()) continue;
    f.median = BytesPerSecond(median(rates));
    f.bytes_per_cycle = median(per_cycle);
    f.spread = relative_spread(rates);
    f.unstable = f.spread > unstable_spread || 2 * unstable > series;
  }
  std::erase_if(figures, [](const MixFigure& f) { return f.median == BytesPerSecond(0); });
  std::stable_sort(figures.begin(), figures.end(),
                   [](const MixFigure& a, const MixFigure& b) { return a.cores < b.cores; });
  return figures;
}

// The mix that is left out of `bandwidth`, as a share of it.
void set_loads(Level& level, const LevelFigure& figure, const Measured& m, Hertz frequency) {
  for (const MixFigure& f : figure.mixes) {
    if (!is_main(f, m, AccessMix::load)) continue;
    const Bandwidth& all = level.bandwidth.value;
    const double share = all.unit == Bandwidth::Unit::bytes_per_cycle
                             ? f.bytes_per_cycle / all.value
                             : f.median / all.at(frequency);
    level.loads = {
        std::max(0.5, four_digits(share)), Origin::measured,
        fmt::format("load stream on the same working sets: median {:.4g} GB/s, "
                    "interquartile range {:.1f} %{}",
                    f.median.value() / 1e9, 100 * f.spread, f.unstable ? ", unstable" : "")};
  }
}

void set_latency(Level& level, const ChaseSeries& chase) {
  std::vector<double> cycles;
  for (Seconds s : chase.repetitions) cycles.push_back(s.value() * chase.frequency.value());
  level.latency = {
      Cycles(four_digits(median(cycles))), Origin::measured,
      fmt::format("pointer chase in random order over {}, {:.4g} ns: median of {} repetitions, "
                  "interquartile range {:.1f} %{}",
                  to_text(chase.working_set), 1e9 * median(values(chase.repetitions)),
                  cycles.size(), 100 * relative_spread(cycles),
                  chase.unstable ? ", unstable" : "")};
}

Method describe(const Measured& m) {
  Method method;
  method.affinity = fmt::format(
      "one thread on each core, {} {}",
      m.pinned ? "pinned to processors" : "not pinned (not allowed):", fmt::join(m.cpus, ","));
  method.clock = fmt::format("steady clock, steps of {:.3g} ns, {:.3g} ns to read",
                             m.clock.resolution.value() * 1e9, m.clock.cost.value() * 1e9);
  method.pages = fmt::format("huge pages asked for, {} of {} MiB on them",
                             m.on_huge_pages.value() >> 20, m.block.value() >> 20);
  method.warm_up =
      "the working set once and one repetition before each round, an eighth of a repetition after "
      "each disturbance";
  method.repetitions = m.rounds * m.repetitions;
  return method;
}

void add_remarks(Probed& p, const MergedTopology& topology) {
  std::vector<std::string>& remarks = p.machine.remarks;
  const auto add = [&](const std::vector<std::string>& more) {
    remarks.insert(remarks.end(), more.begin(), more.end());
  };
  add(topology.remarks);
  add(p.measured.levels.remarks);
  add(p.measured.remarks);
  if (p.measured.on_huge_pages < p.measured.block) {
    remarks.push_back(
        "not all memory is on huge pages: latencies and bandwidths of large working sets contain "
        "address translation");
  }
  for (std::size_t l = 0; l < p.figures.size(); ++l) {
    if (p.measured.latencies[l].unstable) {
      remarks.push_back(fmt::format("{}'s latency is unstable", p.machine.levels[l].name));
    }
    if (!p.figures[l].unstable) continue;
    remarks.push_back(fmt::format(
        "{} is unstable: repetitions spread over {:.0f} % (interquartile range), or rounds differ "
        "by more than {:.0f} %",
        p.machine.levels[l].name, 100 * p.figures[l].spread, 100 * unstable_spread));
  }
}

}  // namespace

void lower_to_inner(std::vector<Level>& levels, Hertz frequency) {
  for (std::size_t i = 1; i < levels.size(); ++i) {
    Figure<Bandwidth>& outer = levels[i].bandwidth;
    const Bandwidth inner = levels[i - 1].bandwidth.value;
    if (outer.value.at(frequency) <= inner.at(frequency)) continue;
    outer.source +=
        fmt::format("; lowered from {} to that of {}", to_text(outer.value), levels[i - 1].name);
    outer.value = inner;
  }
}

Probed assemble(const MergedTopology& topology, const std::string& description, Measured measured) {
  Probed p;
  p.topology = topology.topology;
  p.measured = std::move(measured);
  const Measured& m = p.measured;
  p.machine.name = "host";
  p.machine.description = description;
  p.machine.core = assemble_core(m);
  std::vector<Level>& levels = p.machine.levels;
  for (const CacheGeometry& g : p.topology.caches) {
    levels.push_back(cache_level(g, p.topology.source));
  }
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  memory.shared_by = levels.back().shared_by;
  for (const NumaNode& node : p.topology.nodes) {
    memory.shared_by = std::max(memory.shared_by, node.cores);
  }
  levels.push_back(memory);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const bool own = levels[l].kind == LevelKind::cache && levels[l].shared_by == 1;
    p.figures.push_back(set_bandwidth(levels[l], m.levels.spans[l], own, m));
    LevelFigure& f = p.figures.back();
    f.mixes = mix_figures(m.streams[l], {f.from, f.to});
    levels[l].series = m.streams[l];
    set_latency(levels[l], m.latencies[l]);
  }
  lower_to_inner(levels, p.machine.core.frequency.value);
  for (std::size_t l = 0; l < levels.size(); ++l) {
    set_loads(levels[l], p.figures[l], m, p.machine.core.frequency.value);
  }
  check(p.machine, "probe");
  p.machine.method = describe(m);
  add_remarks(p, topology);
  return p;
}

}  // namespace tcsim
