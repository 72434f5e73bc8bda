#include "sim/simulate_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "core/stop.hpp"
#include "core/units/enum_array.hpp"
#include "sim/general.hpp"
#include "sim/plan_visitor.hpp"
#include "sim/reuse_distance.hpp"
#include "sim/sampled_classes.hpp"
#include "sim/system.hpp"
#include "sim/trace/feed.hpp"
#include "sim/trace/plain_trace.hpp"

namespace tcsim {

namespace {

using sim::AccessKind;
using sim::TraceRecord;

// Each core becomes two neighbours, of which the second one fetches the instructions: they share
// all levels but the innermost.
sim::SystemConfig split(sim::SystemConfig config) {
  if (config.levels.front().shared_by != 1) {
    throw UnsupportedError(fmt::format("{}: {}", config.name, config.levels.front().name),
                           "cores share it, and instructions are to have one of their own",
                           "let each core have its own");
  }
  config.cores *= 2;
  for (std::size_t l = 1; l < config.levels.size(); ++l) config.levels[l].shared_by *= 2;
  return config;
}

// Those of a batch that count; a modify is two.
std::int64_t accesses_of(const sim::TraceBatch& batch, Instructions instructions) {
  std::int64_t accesses = 0;
  auto run = batch.runs().begin();
  for (const sim::TraceBatch::Access& a : batch.accesses()) {
    const auto count = a.is_run ? static_cast<std::int64_t>((run++)->count) : 1;
    const bool counts = a.kind != AccessKind::instruction || instructions != Instructions::ignore;
    accesses += counts * count << (a.kind == AccessKind::modify);
  }
  return accesses;
}

// Calls access(core, address, bytes, write) for every access of a record that counts. Instructions
// of a core have the odd one of two neighbours, where they are split.
template <class Access>
void for_each_access(const TraceRecord& record, int core, Instructions instructions,
                     Access&& access) {
  const bool code = record.kind == AccessKind::instruction;
  if (code && instructions == Instructions::ignore) return;
  if (instructions == Instructions::split) core = 2 * core + (code ? 1 : 0);
  std::uint64_t address = record.address;
  for (std::uint64_t i = 0; i < record.count; ++i) {
    if (record.kind != AccessKind::write) access(core, address, record.bytes, false);
    if (record.kind == AccessKind::write || record.kind == AccessKind::modify) {
      access(core, address, record.bytes, true);
    }
    address += static_cast<std::uint64_t>(record.stride);
  }
}

// Heeds a request to stop every so many accesses: a batch may hold many.
template <class Use>
void for_each_record(const sim::TraceBatch& batch, Use&& use) {
  StopCheck check;
  auto access = batch.accesses().begin();
  auto run = batch.runs().begin();
  for (const sim::TraceBatch::Turn& turn : batch.turns()) {
    for (std::size_t i = 0; i < turn.count; ++i, ++access) {
      const sim::TraceBatch::Run all = access->is_run ? *run++ : sim::TraceBatch::Run{};
      use(TraceRecord{access->kind, access->address, access->bytes, all.stride, all.count},
          turn.core);
      check(static_cast<std::int64_t>(all.count));
    }
  }
}

sim::SystemConfig config_of(const sim::SystemConfig& config, const TraceOptions& options) {
  return options.instructions == Instructions::split ? split(config) : config;
}

// What several parts of the sets, or the caches of a level, counted together.
struct TraceCounts {
  std::vector<sim::LevelEvents> levels;
  sim::LevelEvents instructions;
};

TraceSimulation result_of(const TraceCounts& counts) {
  TraceSimulation result;
  for (const sim::LevelEvents& e : counts.levels) {
    result.levels.push_back(sim::counts_of(e));
    result.bytes.push_back({e.bytes_in, e.bytes_out});
  }
  if (!counts.levels.empty()) {
    result.bytes.front().in += counts.instructions.bytes_in;
    result.bytes.front().out += counts.instructions.bytes_out;
  }
  result.instructions = sim::counts_of(counts.instructions);
  return result;
}

template <class Observer>
void add_counts(const sim::System<Observer>& system, bool is_split, TraceCounts& counts) {
  counts.levels.resize(static_cast<std::size_t>(system.level_count()));
  for (int l = 0; l < system.level_count(); ++l) {
    for (int i = 0; i < system.instance_count(l); ++i) {
      const bool code = is_split && l == 0 && i % 2 == 1;
      (code ? counts.instructions : counts.levels[static_cast<std::size_t>(l)]) +=
          system.events(l, i);
    }
  }
}

// Any caches, or a class of their sets.
class GeneralTracePart {
 public:
  GeneralTracePart(const sim::SystemConfig& config, const TraceOptions& options, int part,
                   int parts)
      : options_(options),
        region_bits_(sim::region_bits_of(config)),
        part_(static_cast<std::uint64_t>(part)),
        mask_(static_cast<std::uint64_t>(parts) - 1),
        system_(config_of(config, options), {~std::uint64_t{0}}) {}

  void run(const TraceRecord& record, int core) {
    for_each_access(record, core, options_.instructions,
                    [&](int of, std::uint64_t address, std::uint64_t bytes, bool write) {
                      if (mask_ == 0) return system_.access(of, address, bytes, write);
                      sim::for_each_region(address, bytes, region_bits_,
                                           [&](std::uint64_t at, std::uint64_t some) {
                                             if (((at >> region_bits_) & mask_) != part_) return;
                                             system_.access(of, at, some, write);
                                           });
                    });
  }
  void drain() { system_.drain(); }
  void add(TraceCounts& counts) const {
    add_counts(system_, options_.instructions == Instructions::split, counts);
  }

 private:
  const TraceOptions& options_;
  int region_bits_;
  std::uint64_t part_, mask_;
  sim::System<> system_;
};

// Plain caches, or a class of their sets. Which engine is quicker the first records tell.
class PlainTracePart {
 public:
  PlainTracePart(const sim::SystemConfig& config, const TraceOptions& options, int part, int parts)
      : config_(config), options_(options), part_(part), parts_(parts) {}

  void look(const sim::TraceBatch& batch) {
    if (caches_) return;
    const auto line = static_cast<std::uint64_t>(config_.levels.front().line.value());
    std::uint64_t in_long_runs = 0, others = batch.accesses().size() - batch.runs().size();
    for (const sim::TraceBatch::Run& r : batch.runs()) {
      const auto stride = static_cast<std::uint64_t>(r.stride);
      const std::uint64_t lines = stride <= line ? stride * (r.count - 1) / line + 1 : r.count;
      (stride <= line && lines >= many_lines ? in_long_runs : others) += lines;
    }
    make(in_long_runs > others);
  }
  void run(const sim::TraceBatch& batch) {
    caches_->run(batch, options_.instructions != Instructions::ignore);
  }
  void finish() {
    if (!caches_) make(false);
    caches_->finish(config_.drain);
  }
  void add(TraceCounts& counts) {
    const std::vector<sim::LevelEvents> events = caches_->events();
    counts.levels.resize(events.size());
    for (std::size_t l = 0; l < events.size(); ++l) counts.levels[l] += events[l];
    touches = caches_->touches();
  }
  std::int64_t touches = 0;  // of all parts, as each of them sees them

 private:
  void make(bool runs) {
    caches_ = sim::plain_trace(config_, runs, static_cast<std::uint32_t>(part_),
                               static_cast<std::uint32_t>(parts_), options_.line_numbers);
  }

  // Of a run that is worth taking together. Source: chosen.
  static constexpr std::uint64_t many_lines = 8;

  const sim::SystemConfig& config_;
  const TraceOptions& options_;
  int part_, parts_;
  std::unique_ptr<sim::PlainTrace> caches_;
};

// What all parts see in the same way.
struct Feed {
  Feed(std::span<const std::unique_ptr<sim::TraceReader>> traces, const TraceOptions& options)
      : merger(traces, options.grain), how(options) {}

  // Calls use(i, batch), as sim::feed() does.
  template <class Use>
  void run(int readers, Use&& use) {
    sim::feed(merger, readers, how.stop, [&](int i, const sim::TraceBatch& batch) {
      if (i == 0) accesses += accesses_of(batch, how.instructions);
      use(i, batch);
    });
  }
  void add_to(TraceSimulation& s) const {
    s.accesses = accesses;
    s.records = merger.records();
  }

  sim::TraceMerger merger;
  const TraceOptions& how;
  std::int64_t accesses = 0;
};

int part_count(std::int64_t most, int threads) {
  return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(
      std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(1, most)))));
}

TraceSimulation simulate_plain(Feed& feed, const sim::SystemConfig& config,
                               const TraceOptions& options) {
  const int count = part_count(sim::most_plain_parts(config), options.threads);
  std::vector<PlainTracePart> parts;
  for (int i = 0; i < count; ++i) parts.emplace_back(config, options, i, count);
  feed.run(count, [&](int i, const sim::TraceBatch& batch) {
    PlainTracePart& part = parts[static_cast<std::size_t>(i)];
    part.look(batch);
    part.run(batch);
  });
  TraceCounts counts;
  for (PlainTracePart& part : parts) {
    part.finish();
    part.add(counts);
  }
  // What a level is asked for is what the one inside it misses.
  std::int64_t asked = parts.front().touches;
  for (sim::LevelEvents& e : counts.levels) {
    e.hits = asked - e.misses;
    asked = e.misses;
  }
  return result_of(counts);
}

TraceSimulation simulate_general(Feed& feed, const sim::SystemConfig& config,
                                 const TraceOptions& options) {
  const int count = part_count(sim::independent_classes(config), options.threads);
  std::vector<std::unique_ptr<GeneralTracePart>> parts;
  for (int i = 0; i < count; ++i) {
    parts.push_back(std::make_unique<GeneralTracePart>(config, options, i, count));
  }
  feed.run(count, [&](int i, const sim::TraceBatch& batch) {
    GeneralTracePart& part = *parts[static_cast<std::size_t>(i)];
    for_each_record(batch, [&](const TraceRecord& r, int core) { part.run(r, core); });
  });
  TraceCounts counts;
  for (const auto& part : parts) {
    if (config.drain) part->drain();
    part->add(counts);
  }
  return result_of(counts);
}

// The observer of attribute(), with a stream for each cache.
class CauseObserver : public sim::NoObserver {
 public:
  using Level = TraceAttribution::Level;
  CauseObserver(const sim::SystemConfig& config, std::vector<std::vector<Level>>& levels)
      : levels_(&levels), streams_(config.levels.size()) {
    for (const sim::LevelConfig& l : config.levels) {
      line_bits_.push_back(std::countr_zero(static_cast<std::uint64_t>(l.line.value())));
      capacities_.push_back(l.lines());
      const auto caches = static_cast<std::size_t>((config.cores + l.shared_by - 1) / l.shared_by);
      streams_[line_bits_.size() - 1].resize(caches);
      levels.emplace_back(caches);
    }
  }
  void request(int l, int cache, std::uint64_t address, bool, bool hit) {
    const auto level = static_cast<std::size_t>(l), c = static_cast<std::size_t>(cache);
    Level& to = (*levels_)[level][c];
    const auto use = streams_[level][c].use(address >> line_bits_[level], 0);
    if (use.distance) {
      const auto bucket =
          static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(*use.distance)));
      if (to.reuse_distances.size() <= bucket) to.reuse_distances.resize(bucket + 1);
      to.reuse_distances[bucket] += Lines(1);
    } else {
      to.first_uses += Lines(1);
    }
    if (hit) return;
    Lines& cause = !use.distance                         ? to.misses.compulsory
                   : *use.distance >= capacities_[level] ? to.misses.capacity
                                                         : to.misses.conflict;
    cause += Lines(1);
  }
  void arrival(int l, int cache, std::uint64_t address) {
    const auto level = static_cast<std::size_t>(l);
    streams_[level][static_cast<std::size_t>(cache)].use(address >> line_bits_[level], 0);
  }

 private:
  std::vector<std::vector<Level>>* levels_;  // by cache
  std::vector<std::vector<sim::ReuseDistance>> streams_;
  std::vector<int> line_bits_;
  std::vector<std::int64_t> capacities_;
};

void add(TraceAttribution::Level& to, const TraceAttribution::Level& more) {
  to.misses += more.misses;
  to.first_uses += more.first_uses;
  to.reuse_distances.resize(std::max(to.reuse_distances.size(), more.reuse_distances.size()));
  for (std::size_t i = 0; i < more.reuse_distances.size(); ++i) {
    to.reuse_distances[i] += more.reuse_distances[i];
  }
}

// A sink that writes elements down.
template <class Writer>
class WriterSink {
 public:
  WriterSink(Writer& writer, std::int64_t element, std::stop_token stop)
      : writer_(writer), element_(element), stop_(std::move(stop)) {}
  void enter(Phase) {
    if (stop_.stop_requested()) throw Interrupted();
  }
  void begin_row() {}
  template <bool write>
  void touch(ArrayId, std::uint64_t address, std::int64_t bytes) {
    for (std::int64_t i = 0; i < bytes; i += element_) {
      writer_.write(write ? AccessKind::write : AccessKind::read,
                    address + static_cast<std::uint64_t>(i), static_cast<std::uint32_t>(element_));
    }
  }
  void read(const sim::TwoStreams& s) {
    enter(Phase::compute);
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(s.steps); ++i) {
      touch<false>(s.left_array, s.left + i * s.left_bytes, s.left_bytes);
      touch<false>(s.right_array, s.right + i * s.right_bytes, s.right_bytes);
    }
  }

 private:
  Writer& writer_;
  std::int64_t element_;
  std::stop_token stop_;
};

}  // namespace

TraceSimulation simulate(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                         const sim::SystemConfig& config, const TraceOptions& options) {
  check(config);
  const bool plain = options.fast && options.instructions != Instructions::split &&
                     sim::can_run_plain_trace(config);
  Feed feed(traces, options);
  TraceSimulation result =
      plain ? simulate_plain(feed, config, options) : simulate_general(feed, config, options);
  feed.add_to(result);
  return result;
}

namespace {

// Every access of the traces, in order.
template <class Caches>
void access_all(Feed& feed, const TraceOptions& options, Caches& caches) {
  feed.run(1, [&](int, const sim::TraceBatch& batch) {
    for_each_record(batch, [&](const TraceRecord& record, int core) {
      for_each_access(record, core, options.instructions,
                      [&](int of, std::uint64_t address, std::uint64_t bytes, bool write) {
                        caches.access(of, address, bytes, write);
                      });
    });
  });
}

}  // namespace

TraceAttribution attribute(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                           const sim::SystemConfig& config, const TraceOptions& options) {
  check(config);
  const bool is_split = options.instructions == Instructions::split;
  const sim::SystemConfig all = config_of(config, options);
  std::vector<std::vector<TraceAttribution::Level>> causes;
  sim::System<CauseObserver> system(all, {~std::uint64_t{0}}, CauseObserver(all, causes));
  Feed feed(traces, options);
  access_all(feed, options, system);
  if (config.drain) system.drain();
  TraceCounts counts;
  add_counts(system, is_split, counts);
  TraceAttribution result;
  result.simulation = result_of(counts);
  feed.add_to(result.simulation);
  result.levels.resize(causes.size());
  for (std::size_t l = 0; l < causes.size(); ++l) {
    for (std::size_t i = 0; i < causes[l].size(); ++i) {
      const bool code = is_split && l == 0 && i % 2 == 1;
      add(code ? result.instructions : result.levels[l], causes[l][i]);
    }
  }
  return result;
}

SampledSimulation sample(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                         const sim::SystemConfig& config, std::int64_t classes,
                         const TraceOptions& options) {
  check(config);
  sim::SampledClasses sampled(config_of(config, options), classes);
  Feed feed(traces, options);
  access_all(feed, options, sampled);
  if (config.drain) sampled.drain();
  return sampled.estimates();
}

namespace {

template <class Writer>
void write_all(const Plan& plan, Writer& writer, std::stop_token stop) {
  WriterSink<Writer> sink(writer, plan.element().value(), std::move(stop));
  sim::PlanVisitor<WriterSink<Writer>> visitor(plan, sink);
  walk(plan, visitor);
  writer.flush();
}

}  // namespace

void write_trace(const Plan& plan, sim::TraceWriter& writer, std::stop_token stop) {
  write_all(plan, writer, std::move(stop));
}

void write_trace(const Plan& plan, sim::ChampsimWriter& writer, std::stop_token stop) {
  write_all(plan, writer, std::move(stop));
}

}  // namespace tcsim
