#include "sim/simulate_trace.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "sim/general.hpp"
#include "sim/plan_visitor.hpp"
#include "sim/system.hpp"

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

// The accesses of one trace, one at a time.
class Stream {
 public:
  explicit Stream(sim::TraceReader& reader) : reader_(reader) {}

  // The next access: its kind, place and size.
  bool next(TraceRecord& access) {
    if (left_ == 0) {
      if (!reader_.next(record_)) return false;
      ++records;
      left_ = record_.count;
    } else {
      record_.address += static_cast<std::uint64_t>(record_.stride);
    }
    --left_;
    access = record_;
    return true;
  }
  std::int64_t records = 0;

 private:
  sim::TraceReader& reader_;
  TraceRecord record_;
  std::uint64_t left_ = 0;
};

class TraceRun {
 public:
  TraceRun(const sim::SystemConfig& config, const TraceOptions& options)
      : options_(options),
        split_(options.instructions == Instructions::split),
        system_(split_ ? split(config) : config, {~std::uint64_t{0}}) {}

  // Up to `grain` accesses of a core; whether there are more.
  bool turn(Stream& stream, int core) {
    TraceRecord access;
    for (std::int64_t i = 0; i < options_.grain; ++i) {
      if (!stream.next(access)) return false;
      run(access, split_ ? 2 * core : core);
    }
    if (options_.stop.stop_requested()) throw Interrupted();
    return true;
  }

  TraceSimulation finish(bool drain) {
    if (drain) system_.drain();
    TraceSimulation result;
    result.accesses = accesses_;
    for (int l = 0; l < system_.level_count(); ++l) {
      sim::LevelEvents data, code;
      for (int i = 0; i < system_.instance_count(l); ++i) {
        (split_ && l == 0 && i % 2 == 1 ? code : data) += system_.events(l, i);
      }
      result.levels.push_back(sim::counts_of(data));
      if (split_ && l == 0) result.instructions = sim::counts_of(code);
      result.bytes.push_back(system_.bytes(l, 0));
    }
    return result;
  }

 private:
  void run(const TraceRecord& access, int core) {
    if (access.kind == AccessKind::instruction) {
      if (options_.instructions == Instructions::ignore) return;
      ++accesses_;
      return system_.access(split_ ? core + 1 : core, access.address, access.bytes, false);
    }
    if (access.kind != AccessKind::write) {
      ++accesses_;
      system_.access(core, access.address, access.bytes, false);
    }
    if (access.kind != AccessKind::read) {
      ++accesses_;
      system_.access(core, access.address, access.bytes, true);
    }
  }

  const TraceOptions& options_;
  bool split_;
  sim::System<> system_;
  std::int64_t accesses_ = 0;
};

// A sink that writes elements down.
class WriterSink {
 public:
  WriterSink(sim::TraceWriter& writer, std::int64_t element, std::stop_token stop)
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
  sim::TraceWriter& writer_;
  std::int64_t element_;
  std::stop_token stop_;
};

}  // namespace

TraceSimulation simulate(std::span<const std::unique_ptr<sim::TraceReader>> traces,
                         const sim::SystemConfig& config, const TraceOptions& options) {
  TraceRun run(config, options);
  std::vector<Stream> streams;
  for (const auto& trace : traces) streams.emplace_back(*trace);
  std::vector<bool> going(streams.size(), true);
  for (std::size_t left = streams.size(); left > 0;) {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (!going[i] || run.turn(streams[i], static_cast<int>(i))) continue;
      going[i] = false;
      --left;
    }
  }
  TraceSimulation result = run.finish(config.drain);
  for (const Stream& s : streams) result.records += s.records;
  return result;
}

void write_trace(const Plan& plan, sim::TraceWriter& writer, std::stop_token stop) {
  WriterSink sink(writer, plan.element().value(), std::move(stop));
  sim::PlanVisitor<WriterSink> visitor(plan, sink);
  walk(plan, visitor);
  writer.flush();
}

}  // namespace tcsim
