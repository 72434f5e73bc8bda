// Timing of whole executions. Repeating a run as it stands would flatter it: the second repetition
// finds in the last cache what the first one left there. So the caches are emptied of the arena
// before each.
#include <unistd.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>

#include "core/error.hpp"
#include "core/threads.hpp"
#include "core/stop.hpp"
#include "kernels/execute.hpp"

namespace tcsim {

namespace {

constexpr std::size_t line_bytes = 64;

// Displaces everything else from the caches by writing more than they hold.
class CacheFlusher {
 public:
  void operator()() {
    for (std::size_t i = 0; i < memory_.size(); i += line_bytes) ++memory_[i];
  }

 private:
  static std::size_t size() {
    const long last = std::max(sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE));
    return std::max(std::size_t{64} << 20, 2 * static_cast<std::size_t>(std::max(last, 0L)));
  }

  std::vector<unsigned char> memory_ = std::vector<unsigned char>(size());
};

Seconds median(std::vector<Seconds> times) {
  std::ranges::sort(times);
  const std::size_t half = times.size() / 2;
  return times.size() % 2 == 1 ? times[half] : 0.5 * (times[half - 1] + times[half]);
}

// Enough to meet every kind of tile, few enough to cost about a tenth of a second.
Elements samples_for(const Contraction& c) {
  constexpr std::int64_t products = 20'000'000;
  return Elements(std::clamp<std::int64_t>(products / c.extent(DimClass::k).value(), 64, 100'000));
}

using Clock = std::chrono::steady_clock;

void finish(RunResult& result, double flops) {
  result.median = median(result.repetitions);
  result.rate = FlopsPerSecond(flops / result.median.value());
}

}  // namespace

RunResult run(const Plan& plan, int repetitions, std::uint64_t seed, std::stop_token stop,
              const Around& around, int threads) {
  if (repetitions < 1) throw std::invalid_argument("a run needs at least one repetition");
  const StopScope heed(stop);
  Arena arena(plan);
  fill_inputs(arena, plan, seed);
  CacheFlusher flush_caches;
  const PreparedPlan execution(plan, arena, threads);
  RunResult result;
  result.threads = execution.threads();
  result.kernel = kernel_used(plan);
  for (int r = 0; r < repetitions; ++r) {
    if (stop.stop_requested()) throw Interrupted();
    flush_caches();
    around([&] {
      const auto begin = Clock::now();
      execution(stop);
      const std::chrono::duration<double> taken = Clock::now() - begin;
      result.repetitions.push_back(Seconds(taken.count()));
    });
  }
  finish(result, plan.contraction().flops());
  result.check = check_result(arena, plan, samples_for(plan.contraction()), seed);
  return result;
}

RunResult run_batched(const Plan& plan, int copies, int repetitions, std::uint64_t seed,
                      std::stop_token stop) {
  if (repetitions < 1 || copies < 1) {
    throw std::invalid_argument("a batched run needs a copy and a repetition at least");
  }
  require_memory(plan, copies);
  struct Copy {
    Copy(const Plan& p, std::uint64_t seed) : arena(p), execution(p, arena) {
      fill_inputs(arena, p, seed);
    }
    Arena arena;
    PreparedPlan execution;
    Clock::time_point begin, end;
    Check check;
  };
  std::vector<std::unique_ptr<Copy>> all(static_cast<std::size_t>(copies));
  const auto copy = [&](int i) -> Copy& { return *all[static_cast<std::size_t>(i)]; };
  const auto seed_of = [&](int i) { return seed + static_cast<std::uint64_t>(i); };
  run_together(copies, [&](int i) {
    const StopScope heed(stop);
    all[static_cast<std::size_t>(i)] = std::make_unique<Copy>(plan, seed_of(i));
  });

  CacheFlusher flush_caches;
  RunResult result;
  result.threads = copies;
  result.kernel = kernel_used(plan);
  for (int r = 0; r < repetitions; ++r) {
    if (stop.stop_requested()) throw Interrupted();
    flush_caches();
    std::barrier together(copies);
    run_together(copies, [&](int i) {
      Copy& c = copy(i);
      together.arrive_and_wait();
      c.begin = Clock::now();
      c.execution(stop);
      c.end = Clock::now();
    });
    Clock::time_point begin = copy(0).begin, end = copy(0).end;
    for (const auto& c : all) {
      begin = std::min(begin, c->begin);
      end = std::max(end, c->end);
    }
    result.repetitions.push_back(Seconds(std::chrono::duration<double>(end - begin).count()));
  }
  finish(result, copies * plan.contraction().flops());
  run_together(copies, [&](int i) {
    const StopScope heed(stop);
    copy(i).check = check_result(copy(i).arena, plan, samples_for(plan.contraction()), seed_of(i));
  });
  result.check = copy(0).check;
  for (const auto& c : all) {
    if (!(c->check.worst_error <= result.check.worst_error)) result.check = c->check;
  }
  return result;
}

}  // namespace tcsim
