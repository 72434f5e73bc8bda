#include "bench/suite.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "bench/peers.hpp"
#include "core/error.hpp"
#include "core/plan/parts.hpp"
#include "core/plan/plan.hpp"
#include "core/statistics.hpp"
#include "kernels/contract.hpp"
#include "kernels/execute.hpp"

namespace tcsim::bench {

namespace {

constexpr Elements checked_per_case{1000};
constexpr Seconds hot_sample{0.002};  // at least, with hot caches

}  // namespace

void GeometricMean::add(double x) {
  sum_ += std::log(x);
  ++count_;
}

std::optional<double> GeometricMean::value() const {
  if (count_ == 0) return {};
  return std::exp(sum_ / count_);
}

const Contestant* SuiteCase::best_peer() const {
  const Contestant* best = nullptr;
  for (std::size_t i = 1; i < contestants.size(); ++i) {
    const Contestant& c = contestants[i];
    if (c.threads > 1 || !c.correct()) continue;
    if (best == nullptr || c.samples.rate() > best->samples.rate()) best = &c;
  }
  return best;
}

std::optional<double> SuiteCase::ratio() const {
  const Contestant* best = best_peer();
  if (best == nullptr) return {};
  return tcsim().samples.rate() / best->samples.rate();
}

const Contestant* SuiteCase::on_threads() const {
  const Contestant& last = contestants.back();
  return last.threads > 1 ? &last : nullptr;
}

std::optional<double> SuiteCase::off() const {
  if (!expected) return {};
  return tcsim().samples.time() / *expected;
}
std::optional<double> SuiteCase::speed_up() const {
  const Contestant* several = on_threads();
  if (several == nullptr) return {};
  return several->samples.rate() / tcsim().samples.rate();
}

const Contestant* SuiteCase::peer(const std::string& name) const {
  const auto found = std::ranges::find(contestants, name, &Contestant::name);
  return found == contestants.end() || !found->correct() ? nullptr : &*found;
}

bool SuiteCase::correct() const {
  for (const Contestant& c : contestants) {
    if (!c.correct()) return false;
  }
  return true;
}

void Entrants::add(std::string name, std::string how, std::function<void()> work) {
  contestants.push_back(
      {std::move(name), std::move(how), Samples(flops, compulsory_traffic(contraction)), 0});
  works.push_back(std::move(work));
}

void race(SuiteCase& into, const std::vector<std::function<void()>>& works, const FirstRun& first,
          ColdYardstick& yardstick, const SuiteOptions& options) {
  race(
      into, works.size(), [&](std::size_t i) { return yardstick(into.workload.type(), works[i]); },
      first, options);
}

void race(SuiteCase& into, std::size_t count, const MeasureOne& measure, const FirstRun& first,
          const SuiteOptions& options) {
  const auto all = static_cast<double>(static_cast<std::size_t>(options.repetitions) * count);
  for (int r = 0; r < options.repetitions; ++r) {
    const Contestant* fastest = r == 0 ? nullptr : into.best_peer();
    const double least =
        fastest == nullptr ? 0 : options.worth_repeating * fastest->samples.of_peak();
    for (std::size_t i = 0; i < count; ++i) {
      Contestant& contestant = into.contestants[i];
      const bool is_peer = i > 0 && contestant.threads == 1;
      if (is_peer && r > 0 && contestant.samples.of_peak() < least) continue;
      if (options.stop.stop_requested()) throw Interrupted();
      if (options.progress) {
        options.progress(static_cast<double>(static_cast<std::size_t>(r) * count + i) / all);
      }
      if (r == 0) first.clear(i);
      contestant.samples.add(measure(i));
      if (r == 0) contestant.worst_error = first.worst_error(i);
    }
  }
}

namespace {

template <class T>
SuiteCase bench_case_of(const Contraction& contraction, const Schedule& schedule,
                        ColdYardstick& yardstick, const SuiteOptions& options,
                        const std::optional<OnThreads>& several) {
  const Plan plan(contraction, schedule);
  Arena arena(plan);
  fill_inputs(arena, plan, options.seed);
  const auto peers = peers_for(contraction, options.libraries);
  const T* const a = arena.as<T>(ArrayId::A);
  const T* const b = arena.as<T>(ArrayId::B);
  T* const c = arena.as<T>(ArrayId::C);

  Entrants entrants{contraction, contraction.flops(), {}, {}};
  std::optional<PreparedPlan> execution;
  std::optional<Contractor<T>> contractor;
  if (options.hot) {
    contractor.emplace(contraction, schedule);
    entrants.add("tcsim", kernel_used(plan), [&] { (*contractor)(a, b, c); });
  } else {
    execution.emplace(plan, arena);
    entrants.add("tcsim", kernel_used(plan), [&] { (*execution)(options.stop); });
  }
  for (const auto& peer : peers) {
    if (options.stop.stop_requested()) throw Interrupted();
    peer->choose(a, b, c);
    entrants.add(peer->name(), peer->how(), [&peer, a, b, c] { peer->run(a, b, c); });
  }
  std::optional<Contractor<T>> on_threads;
  if (several) {
    on_threads.emplace(contraction, several->schedule,
                       threads_worth(contraction, several->threads));
    entrants.add(fmt::format("tcsim, {} threads", several->threads),
                 kernel_used(Plan(contraction, several->schedule)),
                 [&] { (*on_threads)(a, b, c, 1, 0, options.stop); });
    entrants.contestants.back().threads = several->threads;
  }
  SuiteCase result{contraction, schedule, std::move(entrants.contestants)};
  const std::int64_t size = contraction.size(TensorId::C).value();
  std::vector<std::optional<HotYardstick>> hot(entrants.works.size());
  const auto measure = [&](std::size_t i) {
    const int threads = result.contestants[i].threads;
    if (!options.hot) return yardstick(contraction.type(), entrants.works[i], threads);
    if (!hot[i]) hot[i].emplace(contraction.type(), entrants.works[i], hot_sample, threads);
    return (*hot[i])();
  };
  race(result, entrants.works.size(), measure,
       {[&](std::size_t) { std::fill_n(c, size, std::numeric_limits<T>::quiet_NaN()); },
        [&](std::size_t) {
          return check_result(arena, plan, checked_per_case, options.seed).worst_error;
        }},
       options);
  return result;
}

}  // namespace

SuiteCase bench_case(const Contraction& contraction, const Schedule& schedule,
                     ColdYardstick& yardstick, const SuiteOptions& options,
                     const std::optional<OnThreads>& several) {
  return contraction.type() == ElementType::f64
             ? bench_case_of<double>(contraction, schedule, yardstick, options, several)
             : bench_case_of<float>(contraction, schedule, yardstick, options, several);
}

std::optional<Expectation> expectation(const std::vector<SuiteCase>& cases) {
  std::vector<double> all;
  Expectation e;
  for (const SuiteCase& c : cases) {
    const auto off = c.off();
    if (!off) continue;
    all.push_back(*off);
    e.near += *off <= 1 + near_expected && *off >= 1 - near_expected;
  }
  if (all.empty()) return {};
  e.cases = static_cast<int>(all.size());
  e.low = quantile(all, 0.1);
  e.median = median(all);
  e.high = quantile(all, 0.9);
  return e;
}

std::optional<SuiteSummary> summary(const std::vector<SuiteCase>& cases) {
  if (cases.empty()) return {};
  GeometricMean of_peak, of_limit, ratio, best_peer, speed_up;
  SuiteSummary s;
  s.cases = static_cast<int>(cases.size());
  for (const SuiteCase& c : cases) {
    of_peak.add(c.tcsim().samples.of_peak());
    of_limit.add(c.tcsim().samples.of_limit());
    if (const auto x = c.speed_up()) speed_up.add(*x);
    if (const auto r = c.ratio()) {
      ratio.add(*r);
      best_peer.add(c.best_peer()->samples.of_peak());
      s.slower += *r < 1;
      s.slow += *r < slow_case;
      s.worst = std::min(s.worst.value_or(*r), *r);
    }
  }
  s.of_peak = *of_peak.value();
  s.of_limit = *of_limit.value();
  s.ratio = ratio.value();
  s.best_peer_of_peak = best_peer.value();
  s.speed_up = speed_up.value();
  return s;
}

}  // namespace tcsim::bench
