#include "kernels/race.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/optimize/runners_up.hpp"
#include "core/statistics.hpp"
#include "core/stop.hpp"
#include "kernels/cache_flusher.hpp"
#include "kernels/contract.hpp"
#include "kernels/crew.hpp"
#include "kernels/execute.hpp"
#include "kernels/memory.hpp"

namespace tcsim {

namespace {

constexpr int final_turns = 5;
// Of hot runs, as many calls as take so long are timed together.
constexpr Seconds timed_together{5e-4};
constexpr double never = std::numeric_limits<double>::infinity();

using Clock = std::chrono::steady_clock;

Seconds since(Clock::time_point begin) {
  return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
}

// Runs schedules of one contraction on tensors of its own.
template <class T>
class Course {
 public:
  Course(const Contraction& contraction, const RaceOptions& options)
      : contraction_(contraction), options_(options) {
    for (TensorId t : {TensorId::A, TensorId::B}) {
      T* const elements = data(t);
      const std::int64_t size = contraction.size(t).value();
      for (std::int64_t i = 0; i < size; ++i) elements[i] = static_cast<T>(i % 15 - 7) / 8;
    }
  }

  // What one run takes; for ever where its copies do not fit into memory.
  Seconds time(const Schedule& schedule) {
    if (options_.stop.stop_requested()) throw Interrupted();
    try {
      Contractor<T> contractor(contraction_, schedule, options_.threads);
      const auto call = [&] {
        contractor(data(TensorId::A), data(TensorId::B), data(TensorId::C), 1, 0, options_.stop);
      };
      if (!options_.hot) {
        flush_caches_(options_.threads);
        return time_of(call, 1);
      }
      call();
      for (int calls = 1;; calls *= 2) {
        const Seconds taken = time_of(call, calls);
        if (calls * taken >= timed_together) return taken;
      }
    } catch (const UnsupportedError&) {
      return Seconds(never);
    }
  }

 private:
  T* data(TensorId t) { return reinterpret_cast<T*>(memory_[t].data()); }
  Bytes bytes(TensorId t) const {
    return contraction_.size(t).value() * size_of(contraction_.type());
  }

  // Of one of several calls.
  template <class F>
  Seconds time_of(const F& call, int calls) const {
    if (options_.threads > 1) wake_threads(options_.threads);
    const auto begin = Clock::now();
    const Seconds before = processor_time();
    for (int i = 0; i < calls; ++i) call();
    const Seconds processor = processor_time() - before, wall = since(begin);
    // On some virtual machines the processor's clock may stand still for a while.
    const bool counts = options_.threads == 1 && processor > Seconds(0);
    return 1.0 / calls * (counts ? processor : wall);
  }

  const Contraction& contraction_;
  const RaceOptions& options_;
  ByTensor<Memory> memory_{Memory(bytes(TensorId::A)), Memory(bytes(TensorId::B)),
                           Memory(bytes(TensorId::C))};
  CacheFlusher flush_caches_;
};

template <class T>
std::size_t winner_of(const Contraction& contraction, const std::vector<Schedule>& field,
                      const RaceOptions& options) {
  Course<T> course(contraction, options);
  const auto begin = Clock::now();
  std::size_t runs = 0;
  const std::size_t all = 2 * field.size() + 2 * final_turns;
  return tournament(
      field.size(),
      [&](std::size_t i) {
        options.progress(std::min(1.0, static_cast<double>(runs++) / static_cast<double>(all)));
        return course.time(field[i]);
      },
      [&] { return since(begin) < options.most; });
}

}  // namespace

std::size_t tournament(std::size_t count, const std::function<Seconds(std::size_t)>& time,
                       const std::function<bool()>& go_on) {
  std::vector<std::vector<double>> times(count);
  std::vector<std::size_t> field(count);
  std::iota(field.begin(), field.end(), std::size_t{0});
  while (field.size() > 1) {
    for (std::size_t i : field) {
      if (!go_on()) return 0;
      times[i].push_back(time(i).value());
    }
    std::ranges::stable_sort(field, {}, [&](std::size_t i) { return median(times[i]); });
    field.resize((field.size() + 1) / 2);
  }
  const std::size_t challenger = field.front();
  if (challenger == 0) return 0;
  int quicker = 0;
  for (int turn = 0; turn < final_turns; ++turn) {
    if (!go_on()) return 0;
    const Seconds first = time(0);
    quicker += time(challenger) < first;
  }
  return 2 * quicker > final_turns ? challenger : 0;
}

Raced race(const Contraction& contraction, const Machine& machine, const RaceOptions& options) {
  const StopScope heed(options.stop);
  require_memory(contraction);
  Machine cores = machine;
  cores.core.cores = std::max(1, options.threads);
  const OptimizeOptions how = for_running();
  const Optimized chosen = optimize(contraction, cores, how, options.stop);
  std::vector<Schedule> field{chosen.schedule};
  if (options.schedules > 1) {
    for (Schedule& s :
         runners_up(contraction, cores, chosen, options.schedules - 1, how, options.stop)) {
      field.push_back(std::move(s));
    }
  }
  if (field.size() == 1) return {std::move(field.front()), 1, false};
  const std::size_t winner = contraction.type() == ElementType::f64
                                 ? winner_of<double>(contraction, field, options)
                                 : winner_of<float>(contraction, field, options);
  return {std::move(field[winner]), field.size(), winner != 0};
}

}  // namespace tcsim
