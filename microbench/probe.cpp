#include "microbench/probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "microbench/measure.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t stream_step = 512;  // 64 doubles: the longest step of any loop
constexpr Bytes most_memory(std::int64_t{512} << 20);

// Measured figures have no more than four digits that mean something.
double four_digits(double value) { return std::stod(fmt::format("{:.4g}", value)); }

std::string median_of(const Timed& t) { return fmt::format("median of {}", t.repetitions); }

class Probe {
 public:
  Probe(const ProbeLoops& loops, const ProbeOptions& options, std::size_t steps)
      : loops_(loops), options_(options), steps_(steps) {}

  Core core() {
    Core core;
    step("frequency");
    const Timed add = time_rounds(add_chain, options_.stop);
    const Hertz frequency(four_digits(add_chain_length / add.median.value()));
    core.frequency = {frequency, Origin::measured,
                      "chain of integer additions of one cycle each, " + median_of(add)};
    core.vector_bits = {loops_.vector_bits, Origin::vendor,
                        fmt::format("widest vectors of the processor ({})", loops_.name)};
    core.vector_registers = {loops_.vector_registers, Origin::vendor, loops_.name};

    step("FMA peak");
    const Timed fma = time_rounds(loops_.independent, options_.stop);
    const double per_cycle = loops_.accumulators / (fma.median.value() * frequency.value());
    core.fma_per_cycle = {four_digits(per_cycle), Origin::measured,
                          fmt::format("{} independent f64 multiply-adds over the frequency, {}",
                                      loops_.name, median_of(fma))};
    step("FMA latency");
    const Timed chain = time_rounds(loops_.dependent, options_.stop);
    const double cycles = chain.median.value() * frequency.value() / chain_length;
    core.fma_latency = {Cycles(std::max(1.0, std::round(cycles))), Origin::measured,
                        fmt::format("chain of {} multiply-adds, {:.2f} cycles each, {}",
                                    loops_.name, cycles, median_of(chain))};
    return core;
  }

  // `per_cycle`: the level runs on the core's clock, so that its bandwidth follows the frequency.
  Figure<Bandwidth> bandwidth(const std::string& level, double* data, Bytes size, bool per_cycle,
                              Hertz frequency) {
    step(level + " bandwidth");
    const long n = static_cast<long>(size.value() / 8);
    const Timed pass =
        time_rounds([&](long rounds) { loops_.stream(data, n, rounds); }, options_.stop);
    const double bytes = 2 * static_cast<double>(size.value());
    const auto rate = [&](Seconds s) {
      return Bandwidth{four_digits(bytes / s.value()), Bandwidth::Unit::bytes_per_second};
    };
    const std::string source = fmt::format(
        "Load-FMA-Store stream ({}) over {}, bytes loaded plus bytes stored, {}, {} to {}",
        loops_.name, to_display(size), median_of(pass), to_text(rate(pass.slowest)),
        to_text(rate(pass.fastest)));
    Bandwidth value = rate(pass.median);
    if (per_cycle) {
      value = {four_digits(value.value / frequency.value()), Bandwidth::Unit::bytes_per_cycle};
    }
    return {value, Origin::measured, source};
  }

  void done() const {
    if (options_.progress) options_.progress("done", 1);
  }

 private:
  void step(const std::string& what) {
    if (options_.progress) {
      options_.progress(what, static_cast<double>(step_) / static_cast<double>(steps_));
    }
    ++step_;
  }

  const ProbeLoops& loops_;
  const ProbeOptions& options_;
  std::size_t steps_, step_ = 0;
};

Level cache_level(const CacheGeometry& g) {
  Level l;
  l.name = fmt::format("L{}", g.level);
  const std::string source =
      "the kernel's cache description" + (g.note.empty() ? "" : " (" + g.note + ")");
  const Origin origin = g.note.empty() ? Origin::vendor : Origin::assumed;
  l.capacity = {g.capacity, origin, source};
  l.ways = {g.ways, origin, source};
  l.line = {g.line, origin, source};
  l.shared_by = g.shared_by;
  return l;
}

}  // namespace

std::vector<Bytes> working_sets(const std::vector<CacheGeometry>& caches) {
  std::vector<Bytes> sets;
  const auto add = [&](double bytes) {
    const auto steps = static_cast<std::int64_t>(bytes / static_cast<double>(stream_step));
    sets.push_back(Bytes(std::max<std::int64_t>(1, steps) * stream_step));
  };
  for (std::size_t i = 0; i < caches.size(); ++i) {
    const double own = static_cast<double>(caches[i].capacity.value());
    if (i == 0) {
      add(own / 2);
    } else {
      const double inner = static_cast<double>(caches[i - 1].capacity.value());
      add(std::min(std::sqrt(inner * own), 0.75 * own));
    }
  }
  const double last = static_cast<double>(caches.back().capacity.value());
  add(std::min(4 * last, static_cast<double>(most_memory.value())));
  return sets;
}

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

Machine probe(const std::vector<CacheGeometry>& caches, const std::string& description,
              const ProbeLoops& loops, const ProbeOptions& options) {
  const std::vector<Bytes> sets = working_sets(caches);
  Probe probe(loops, options, 3 + sets.size());
  Machine m;
  m.name = "host";
  m.description = description;
  m.core = probe.core();
  for (const CacheGeometry& g : caches) m.levels.push_back(cache_level(g));
  Level memory;
  memory.name = "memory";
  memory.kind = LevelKind::memory;
  memory.shared_by = caches.back().shared_by;
  m.levels.push_back(memory);

  const Block block(*std::max_element(sets.begin(), sets.end()));
  const Hertz frequency = m.core.frequency.value;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    Level& l = m.levels[i];
    const bool own = l.kind == LevelKind::cache && l.shared_by == 1;
    l.bandwidth = probe.bandwidth(l.name, block.data(), sets[i], own, frequency);
  }
  lower_to_inner(m.levels, frequency);
  check(m, "probe");
  probe.done();
  return m;
}

}  // namespace tcsim
