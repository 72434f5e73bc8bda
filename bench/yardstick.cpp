#include "bench/yardstick.hpp"

#include <algorithm>
#include <chrono>

#include "core/statistics.hpp"
#include "kernels/cache_flusher.hpp"
#include "kernels/crew.hpp"
#include "kernels/repetitions.hpp"
#include "microbench/loops.hpp"

namespace tcsim::bench {

namespace {

const ElementLoops& loops_for(ElementType type) {
  const InstructionSetLoops& widest = **loops_here();
  return type == ElementType::f64 ? widest.f64 : widest.f32;
}

Bytes more_than_caches() {
  const auto twice = static_cast<std::int64_t>(twice_the_last_cache());
  const std::int64_t least = 128 << 20;  // a virtual machine may tell tales
  return std::min(Bytes(std::max(twice / loop_step * loop_step, least)), most_streamed);
}

// Of work on several threads by the wall clock. They are there when it begins.
Seconds time_on(int threads, const std::function<void()>& work) {
  using Clock = std::chrono::steady_clock;
  if (threads > 1) wake_threads(threads);
  const Clock::time_point begin = Clock::now();
  const Seconds before = processor_time();
  work();
  const Seconds taken = processor_time() - before;
  if (threads == 1 && taken > Seconds(0)) return taken;
  const Clock::duration passed = std::max(Clock::now() - begin, Clock::duration(1));
  return Seconds(std::chrono::duration<double>(passed).count());
}

}  // namespace

Seconds time_of(const std::function<void()>& work) { return time_on(1, work); }

FlopsPerSecond measured_peak(ElementType type) {
  constexpr long rounds = 400'000;
  const InstructionSetLoops& widest = **loops_here();
  const double lanes = widest.vector_bits / 8.0 / static_cast<double>(size_of(type).value());
  const Seconds time = time_of([&] { loops_for(type).independent(rounds); });
  return FlopsPerSecond(2 * lanes * accumulators * rounds / time.value());
}

Moved compulsory_traffic(const Contraction& c) {
  Moved all;
  for (TensorId t : all_tensors) all.in += c.size(t).value() * size_of(c.type());
  all.out = c.size(TensorId::C).value() * size_of(c.type());
  return all;
}

template <class F>
double Samples::median_of(F&& f) const {
  std::vector<double> values;
  for (const Sample& s : all_) values.push_back(f(s));
  return median(std::move(values));
}

FlopsPerSecond Samples::rate() const {
  return FlopsPerSecond(median_of([&](const Sample& s) { return rate_of(s); }));
}
double Samples::of_peak() const {
  return median_of([&](const Sample& s) { return rate_of(s) / s.peak.value(); });
}
double Samples::limit(const Sample& s) const {
  const double computing = flops_ / s.peak.value();
  if (s.bandwidth.value() <= 0) return computing;
  const Bytes alone = compulsory_.in - compulsory_.out;
  return std::max(computing, (2 * compulsory_.out / s.bandwidth + alone / s.loads).value());
}
double Samples::of_limit() const {
  return median_of([&](const Sample& s) { return limit(s) / s.time.value(); });
}
FlopsPerSecond Samples::peak() const {
  return FlopsPerSecond(median_of([](const Sample& s) { return s.peak.value(); }));
}
BytesPerSecond Samples::bandwidth() const {
  return BytesPerSecond(median_of([](const Sample& s) { return s.bandwidth.value(); }));
}
double Samples::spread() const {
  std::vector<double> shares;
  for (const Sample& s : all_) shares.push_back(rate_of(s) / s.peak.value());
  return relative_spread(shares);
}
Seconds Samples::time() const {
  return Seconds(median_of([](const Sample& s) { return s.time.value(); }));
}

ColdYardstick::ColdYardstick() : block_(more_than_caches()) {}

Sample ColdYardstick::operator()(ElementType type, const std::function<void()>& work, int threads) {
  Sample s;
  const long size = static_cast<long>(block_.size().value());
  const ElementLoops& loops = loops_for(ElementType::f64);
  const auto rate_of = [&](auto pass) {
    const Seconds passing = time_of([&] { pass(block_.data(), size, 1); });
    return BytesPerSecond(static_cast<double>(size) / passing.value());
  };
  s.bandwidth = 2 * rate_of(loops.load_fma_store);
  s.loads = rate_of(loops.load);
  const FlopsPerSecond before = measured_peak(type);
  if (threads > 1) {
    // Each core, that slept, begins with a quick clock and cold caches.
    const long part = size / threads / loop_step * loop_step;
    on_crew_threads(threads, [&](int i) { loops.load(block_.data() + i * part, part, 1); });
  }
  s.time = time_on(threads, work);
  s.peak = threads * std::max(before, measured_peak(type));
  return s;
}

HotYardstick::HotYardstick(ElementType type, std::function<void()> work, Seconds at_least,
                           int threads)
    : type_(type), work_(std::move(work)), threads_(threads) {
  work_();
  while (calls() < at_least) calls_ *= 2;
}

Seconds HotYardstick::calls() const {
  return time_on(threads_, [&] {
    for (long i = 0; i < calls_; ++i) work_();
  });
}

Sample HotYardstick::operator()() {
  Sample s;
  work_();
  const FlopsPerSecond before = measured_peak(type_);
  work_();
  s.time = 1.0 / static_cast<double>(calls_) * calls();
  s.peak = threads_ * std::max(before, measured_peak(type_));
  return s;
}

}  // namespace tcsim::bench
