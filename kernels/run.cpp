// Timing of whole executions. Repeating a run as it stands would flatter it: the second repetition
// finds in the last cache what the first one left there. So the caches are emptied of the arena
// before each.
#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>

#include "core/error.hpp"
#include "core/stop.hpp"
#include "core/threads.hpp"
#include "kernels/cache_flusher.hpp"
#include "kernels/crew.hpp"
#include "kernels/execute.hpp"

namespace tcsim {

namespace {

// Enough to meet every kind of tile, few enough to cost about a tenth of a second.
Elements samples_for(const Contraction& c) {
  constexpr std::int64_t products = 20'000'000;
  return Elements(std::clamp<std::int64_t>(products / c.extent(DimClass::k).value(), 64, 100'000));
}

using Clock = std::chrono::steady_clock;

Seconds between(Clock::time_point begin, Clock::time_point end) {
  return Seconds(std::chrono::duration<double>(end - begin).count());
}

void finish(RunResult& result, double flops) {
  result.timed = time_of(result.repetitions, result.threads);
  result.rate = FlopsPerSecond(flops / result.timed.median.value());
}

// Calls `repetition` as often as the options say, with the caches empty of those cores on which a
// crew of so many threads runs.
template <class F>
void repeat(RunResult& result, const RunOptions& options, int crew, const F& repetition) {
  CacheFlusher flush_caches;
  while (!options.repeat.enough(result.repetitions, result.threads)) {
    if (options.stop.stop_requested()) throw Interrupted();
    flush_caches(crew);
    repetition();
    options.progress(options.repeat.share_done(result.repetitions));
  }
}

}  // namespace

RunResult run(const Plan& plan, const RunOptions& options) {
  const StopScope heed(options.stop);
  Arena arena(plan);
  fill_inputs(arena, plan, options.seed);
  const PreparedPlan execution(plan, arena, options.threads);
  RunResult result;
  result.threads = execution.threads();
  result.kernel = kernel_used(plan);
  repeat(result, options, result.threads, [&] {
    options.around([&] {
      if (result.threads > 1) wake_threads(result.threads);
      const Seconds before = processor_time();
      const auto begin = Clock::now();
      execution(options.stop);
      const auto end = Clock::now();
      const Seconds processor =
          result.threads > 1 ? execution.processor() : processor_time() - before;
      result.repetitions.push_back({between(begin, end), processor});
    });
  });
  finish(result, plan.contraction().flops());
  result.check = check_result(arena, plan, samples_for(plan.contraction()), options.seed);
  return result;
}

RunResult run_batched(const Plan& plan, int copies, const RunOptions& options) {
  if (copies < 1) throw std::invalid_argument("a batched run needs a copy at least");
  require_memory(plan, copies);
  struct Copy {
    Copy(const Plan& p, std::uint64_t seed) : arena(p), execution(p, arena) {
      fill_inputs(arena, p, seed);
    }
    Arena arena;
    PreparedPlan execution;
    Clock::time_point begin, end;
    Seconds processor;
    Check check;
  };
  std::vector<std::unique_ptr<Copy>> all(static_cast<std::size_t>(copies));
  const auto copy = [&](int i) -> Copy& { return *all[static_cast<std::size_t>(i)]; };
  const auto seed_of = [&](int i) { return options.seed + static_cast<std::uint64_t>(i); };
  run_together(copies, [&](int i) {
    const StopScope heed(options.stop);
    all[static_cast<std::size_t>(i)] = std::make_unique<Copy>(plan, seed_of(i));
  });

  RunResult result;
  result.threads = copies;
  result.kernel = kernel_used(plan);
  repeat(result, options, 1, [&] {
    std::barrier together(copies);
    run_together(copies, [&](int i) {
      Copy& c = copy(i);
      together.arrive_and_wait();
      const Seconds before = processor_time();
      c.begin = Clock::now();
      c.execution(options.stop);
      c.end = Clock::now();
      c.processor = processor_time() - before;
    });
    Clock::time_point begin = copy(0).begin, end = copy(0).end;
    Seconds processor(0);
    for (const auto& c : all) {
      begin = std::min(begin, c->begin);
      end = std::max(end, c->end);
      processor += c->processor;
    }
    result.repetitions.push_back({between(begin, end), processor});
  });
  finish(result, copies * plan.contraction().flops());
  run_together(copies, [&](int i) {
    const StopScope heed(options.stop);
    copy(i).check = check_result(copy(i).arena, plan, samples_for(plan.contraction()), seed_of(i));
  });
  result.check = copy(0).check;
  for (const auto& c : all) {
    if (!(c->check.worst_error <= result.check.worst_error)) result.check = c->check;
  }
  return result;
}

}  // namespace tcsim
