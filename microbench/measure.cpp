// The course of a measurement: core, curves over the working set, levels, then every mix,
// instruction set, element type and number of cores in each level.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "core/units/text.hpp"
#include "microbench/campaign.hpp"
#include "microbench/chase.hpp"
#include "microbench/memory.hpp"
#include "microbench/probe.hpp"
#include "microbench/stream.hpp"

namespace tcsim {

namespace {

constexpr std::int64_t most_memory = std::int64_t{4} << 30;
// Two rates are the same, for the question whether a curve has come to its end.
constexpr double same = 1.05;

struct Extent {
  Campaign::Plan plan;
  int per_octave;        // points of the curves
  int points_per_level;  // of the other series
  bool all;              // every mix with every instruction set and type; all core counts
};

Extent extent(bool quick) {
  if (quick) return {{3, 3, Seconds(0.001), Seconds(12)}, 2, 1, false};
  return {{5, 7, Seconds(0.001), Seconds(240)}, 4, 3, true};
}

constexpr AccessMix mixes[] = {AccessMix::load_fma_store, AccessMix::load, AccessMix::copy,
                               AccessMix::triad};

double log_size(Bytes b) { return std::log2(static_cast<double>(b.value())); }

Bytes whole_steps(double log2_bytes) {
  const double steps = std::exp2(log2_bytes) / static_cast<double>(loop_step);
  return Bytes(std::max(1L, std::lround(steps)) * loop_step);
}

class Prober {
 public:
  Prober(const MergedTopology& topology, const std::vector<int>& cpus,
         const std::vector<const InstructionSetLoops*>& sets, const ProbeOptions& options)
      : caches_(topology.topology.caches),
        sets_(sets),
        extent_(extent(options.quick)),
        team_(cpus),
        counts_(extent_.all ? core_counts(team_.size()) : std::vector<int>{1, team_.size()}),
        campaign_(team_, extent_.plan, expected(), options.progress, options.stop) {
    counts_.erase(std::unique(counts_.begin(), counts_.end()), counts_.end());
    result_.cpus = cpus;
    result_.pinned = team_.pinned();
    result_.instruction_set = sets[0]->name;
    result_.vector_bits = sets[0]->vector_bits;
    result_.vector_registers = sets[0]->vector_registers;
    result_.clock = clock_quality();
  }

  Measured all() {
    core();
    allocate();
    curves();
    levels();
    result_.rounds = campaign_.finish();
    result_.repetitions = extent_.plan.repetitions;
    collect();
    return std::move(result_);
  }

 private:
  struct Peak {
    const Measurement* m;
    PeakSeries series;
  };
  struct Latency {
    const Measurement* m;
    FmaLatency latency;
  };
  struct Stream {
    const Measurement* m;
    BandwidthSeries series;
    std::optional<std::size_t> level;  // of a curve's points: told by their working set
  };
  struct Chase {
    const Measurement* m;
    Bytes working_set;
    std::optional<std::size_t> level;  // whose latency it is
  };

  int expected() const {
    const int sets = static_cast<int>(sets_.size()), levels = static_cast<int>(caches_.size()) + 1;
    const int counts = static_cast<int>(counts_.size());
    const int curve = 16 * extent_.per_octave;
    const int rest = extent_.all ? 8 * sets * 2 + counts : (8 + 2 * sets) * counts;
    return 2 * sets * (1 + counts) + 3 * curve + levels * extent_.points_per_level * rest;
  }

  void core() {
    for (const InstructionSetLoops* set : sets_) {
      for (const ElementLoops* loops : {&set->f64, &set->f32}) {
        const Bytes element(loops->element);
        for (int cores : counts_) {
          Work work;
          work.run = [loops](int, long rounds) { loops->independent(rounds); };
          const auto& m = campaign_.measure(fmt::format("{} FMA peak", set->name), cores, work);
          peaks_.push_back({&m, {set->name, element, cores, {}}});
          lanes_[&m] = set->vector_bits / (8.0 * loops->element);
        }
        Work work;
        work.run = [loops](int, long rounds) { loops->dependent(rounds); };
        const auto& m = campaign_.measure(fmt::format("{} FMA latency", set->name), 1, work);
        latencies_.push_back({&m, {set->name, element, {}}});
      }
    }
  }

  // Every thread has the largest working set that any number of cores in which it takes part
  // gives it.
  void allocate() {
    const Bytes last = caches_.back().capacity;
    Bytes most = last * 8;
    const Bytes free = free_memory();
    if (free > Bytes(0)) most = std::min(most, Bytes(free.value() / 4));
    most = std::min(most, Bytes(most_memory));
    if (most < last * 4) {
      result_.remarks.push_back(fmt::format(
          "memory was measured on {} only, since no more was free: less than four times {}",
          to_binary_display(most), to_binary_display(last)));
    }
    largest_ = Bytes(most.value() / loop_step * loop_step);
    std::vector<Bytes> sizes(static_cast<std::size_t>(team_.size()));
    for (int cores : counts_) {
      for (std::size_t level = 0; level <= caches_.size(); ++level) {
        const Bytes one = level < caches_.size() ? caches_[level].capacity : largest_;
        const Bytes share = share_of(one, level, cores, caches_);
        for (std::size_t i = 0; i < static_cast<std::size_t>(cores); ++i) {
          sizes[i] = std::max(sizes[i], share);
        }
      }
    }
    std::vector<std::optional<Block>> blocks(sizes.size());
    team_.run(team_.size(), [&](int i) {
      const auto at = static_cast<std::size_t>(i);
      blocks[at].emplace(block_for(sizes[at]));
    });
    for (auto& b : blocks) {
      result_.block += b->size();
      result_.on_huge_pages += b->on_huge_pages();
      blocks_.push_back(std::move(*b));
    }
  }

  const Measurement& stream(AccessMix mix, const InstructionSetLoops& set,
                            const ElementLoops& loops, int cores, Bytes working_set,
                            std::optional<std::size_t> level = {}) {
    const Bytes used = StreamLayout(mix, working_set).working_set;
    const std::string what = fmt::format("{} of {}, {} f{}", to_text(mix), to_binary_display(used),
                                         set.name, 8 * loops.element);
    const Measurement& m =
        campaign_.measure(what, cores, stream_work(mix, loops, working_set, blocks_));
    BandwidthSeries series;
    series.mix = mix;
    series.element = Bytes(loops.element);
    series.instruction_set = set.name;
    series.cores = cores;
    series.working_set = used;
    streams_.push_back({&m, series, level});
    return m;
  }

  // `level`: of the latency of a hit there. All that a cache should hold is loaded anew before
  // each repetition, since neighbours take it away from a chase, which is slow.
  const Measurement& chase(Bytes working_set, std::optional<std::size_t> level = {}) {
    const Bytes line = std::max(caches_.front().line, Bytes(sizeof(void*)));
    const Bytes size = line * std::max<std::int64_t>(2, working_set / line);
    // Enough loads to fill the caches with what is chased and nothing else.
    const std::int64_t fill = std::min(size / line, caches_.back().capacity / line);
    auto node = std::make_shared<void*>(nullptr);
    Work work;
    work.grain = chase_step;
    work.prepare = [=, this](int) {
      *node = make_cycle(blocks_[0].data(), size, line, 1);
      *node = tcsim::chase(*node, fill);
    };
    work.run = [=](int, long loads) { *node = tcsim::chase(*node, loads); };
    if (level && *level < caches_.size()) {
      work.refresh = [=, this](int) {
        const long bytes = static_cast<long>(size.value()) / loop_step * loop_step;
        plain_loops.f64.load(blocks_[0].data(), bytes, 1);
      };
    }
    const Measurement& m =
        campaign_.measure(fmt::format("load latency in {}", to_binary_display(size)), 1, work);
    chases_.push_back({&m, size, level});
    return m;
  }

  void curve_point(Bytes b) {
    const InstructionSetLoops& set = *sets_[0];
    const auto rate = [&](AccessMix mix) {
      const Measurement& m = stream(mix, set, set.f64, 1, b);
      return static_cast<double>(loop_step) * counted_per_byte(mix) / m.median().value();
    };
    curves_.load_fma_store.push_back({b, rate(AccessMix::load_fma_store)});
    curves_.load.push_back({b, rate(AccessMix::load)});
    // A long chase takes long to lay out: a quick probe leaves out every other one.
    if (extent_.all || curves_.load.size() % 2 == 1) {
      curves_.chase.push_back({b, 1 / chase(b).median().value()});
    }
  }

  // The last octave is level, and slower than what the outermost cache gave.
  bool at_the_end() const {
    const RateCurve& c = curves_.load;
    const auto octave = static_cast<std::size_t>(extent_.per_octave);
    const double end = c.back().rate, before = c[c.size() - 1 - octave].rate;
    const double inside = c[c.size() - 1 - 4 * octave].rate;  // a quarter of the last cache
    return before < end * same && inside > end * same;
  }

  void curves() {
    for (Bytes b : curve_sets(caches_, extent_.per_octave)) {
      if (b <= largest_) curve_point(b);
    }
    // Past four times the reported last cache: there may be more than what is reported.
    const double limit = log_size(largest_);
    double log = log_size(curves_.load.back().working_set);
    const std::size_t least =
        curves_.load.size() + (extent_.all ? static_cast<std::size_t>(extent_.per_octave) : 0);
    while (curves_.load.size() < least || !at_the_end()) {
      log += 1.0 / extent_.per_octave;
      if (log > limit + 1e-9) break;
      curve_point(whole_steps(log));
    }
  }

  // Working sets for the series of a level: evenly spread over its plateau.
  std::vector<Bytes> sets_of(std::size_t level) const {
    const RateCurve& curve = curves_.load_fma_store;
    const auto points = points_of(curve, result_.levels.spans[level]);
    const double from = log_size(curve[points.front()].working_set);
    const double to = log_size(curve[points.back()].working_set);
    std::vector<Bytes> sets;
    for (int i = 0; i < extent_.points_per_level; ++i) {
      sets.push_back(whole_steps(from + (to - from) * (i + 0.5) / extent_.points_per_level));
    }
    return sets;
  }

  void levels() {
    result_.levels = find_levels(caches_, curves_);
    for (std::size_t level = 0; level <= caches_.size(); ++level) {
      const std::vector<Bytes> sets = sets_of(level);
      chase(level < caches_.size() ? sets[sets.size() / 2] : curves_.chase.back().working_set,
            level);
      for (Bytes one_core : sets) {
        for (int cores : counts_) {
          series_of(level, share_of(one_core, level, cores, caches_), cores);
        }
      }
    }
  }

  void series_of(std::size_t level, Bytes working_set, int cores) {
    const bool ends = cores == counts_.front() || cores == counts_.back();
    for (const InstructionSetLoops* set : sets_) {
      for (const ElementLoops* loops : {&set->f64, &set->f32}) {
        for (AccessMix mix : mixes) {
          const bool first = set == sets_[0], f64 = loops->element == 8;
          const bool main = mix == AccessMix::load_fma_store && first && f64;
          const bool wanted =
              ends && (extent_.all || first || (mix == AccessMix::load_fma_store && f64));
          if (main || wanted) stream(mix, *set, *loops, cores, working_set, level);
        }
      }
    }
  }

  // Five digits: more are noise and make files long.
  static double rounded(double value) { return std::stod(fmt::format("{:.5g}", value)); }

  void collect() {
    std::vector<double> clocks;
    const auto note = [&](const Measurement& m) {
      result_.disturbed += m.timing.disturbed;
      if (m.threads == 1) clocks.push_back(m.timing.frequency().value());
    };
    for (Peak& p : peaks_) {
      note(*p.m);
      for (Seconds s : p.m->timing.units) {
        p.series.repetitions.emplace_back(
            rounded(2 * lanes_[p.m] * accumulators * p.m->threads / s.value()));
      }
      result_.peaks.push_back(p.series);
    }
    for (Latency& l : latencies_) {
      note(*l.m);
      const double cycles = l.m->median().value() * l.m->timing.frequency().value();
      l.latency.median = Cycles(cycles / chain_length);
      result_.fma_latencies.push_back(l.latency);
    }
    result_.streams.resize(caches_.size() + 1);
    for (Stream& s : streams_) {
      note(*s.m);
      for (BytesPerSecond r : stream_rates(s.series.mix, s.series.cores, s.m->timing)) {
        s.series.repetitions.emplace_back(rounded(r.value()));
      }
      s.series.frequency = Hertz(rounded(s.m->timing.frequency().value()));
      s.series.unstable = s.m->unstable();
      const std::size_t level = s.level.value_or(result_.levels.of(s.series.working_set));
      result_.streams[level].push_back(s.series);
    }
    for (const Chase& c : chases_) {
      note(*c.m);
      const ChaseSeries series{c.working_set, c.m->timing.units, c.m->timing.frequency(),
                               c.m->unstable()};
      (c.level ? result_.latencies : result_.chases).push_back(series);
    }
    result_.frequency = Hertz(median(std::move(clocks)));
  }

  const std::vector<CacheGeometry>& caches_;
  const std::vector<const InstructionSetLoops*>& sets_;
  Extent extent_;
  Team team_;
  std::vector<int> counts_;
  Campaign campaign_;
  std::vector<Block> blocks_;
  Bytes largest_;
  Curves curves_;
  std::vector<Peak> peaks_;
  std::vector<Latency> latencies_;
  std::vector<Stream> streams_;
  std::vector<Chase> chases_;
  std::map<const Measurement*, double> lanes_;
  Measured result_;
};

}  // namespace

std::vector<Bytes> curve_sets(const std::vector<CacheGeometry>& caches, int per_octave) {
  const double from = log_size(caches.front().capacity) - 2;
  const double to = log_size(caches.back().capacity) + 2;
  std::vector<Bytes> sets;
  const int points = static_cast<int>(std::lround(std::ceil((to - from) * per_octave - 1e-9)));
  for (int i = 0; i <= points; ++i) {
    const Bytes b = whole_steps(from + (to - from) * i / points);
    if (sets.empty() || b > sets.back()) sets.push_back(b);
  }
  return sets;
}

Bytes share_of(Bytes one_core, std::size_t level, int cores,
               const std::vector<CacheGeometry>& caches) {
  const bool memory = level == caches.size();
  const CacheGeometry& cache = caches[memory ? level - 1 : level];
  // Of the caches that these cores use, each has the working set of one core.
  const int used = (cores + cache.shared_by - 1) / cache.shared_by;
  const std::int64_t share = one_core.value() * used / cores;
  // A core's own caches must not hold its share.
  std::int64_t least = loop_step;
  for (std::size_t inner = 0; inner < level && inner < caches.size(); ++inner) {
    if (caches[inner].shared_by < cache.shared_by || memory) {
      const std::int64_t own = caches[inner].capacity.value() / caches[inner].shared_by;
      least = std::max(least, 2 * own);
    }
  }
  return Bytes(std::min(one_core.value(), std::max(share, least)) / loop_step * loop_step);
}

std::vector<int> core_counts(int most) {
  std::vector<int> counts;
  for (int n = 1; n <= std::min(most, 16); ++n) counts.push_back(n);
  for (int n = 16; n < most; n *= 2) {
    for (int next : {n + n / 2, 2 * n}) {
      if (next < most) counts.push_back(next);
    }
  }
  if (counts.back() != most) counts.push_back(most);
  return counts;
}

Measured measure(const MergedTopology& topology, const std::vector<int>& cpus,
                 const std::vector<const InstructionSetLoops*>& sets, const ProbeOptions& options) {
  return Prober(topology, cpus, sets, options).all();
}

}  // namespace tcsim
