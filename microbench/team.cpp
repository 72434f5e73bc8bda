#include "microbench/team.hpp"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include <fmt/format.h>

#include <system_error>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#endif
}

// Blocks are read as floats that were written as doubles: numbers so small that the processor
// takes a detour for them must not slow a loop down.
void treat_tiny_numbers_as_zero() {
#if defined(__x86_64__)
  constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
  _mm_setcsr(_mm_getcsr() | flush_to_zero | denormals_are_zero);
#endif
}

bool pin(int cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(cpu), &one);
  return sched_setaffinity(0, sizeof(one), &one) == 0;
}

}  // namespace

Pinned::Pinned() {
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  cpu_ = allowed_cpus().front();
  pinned_ = pin(cpu_);
}

Pinned::~Pinned() {
  if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
}

void SpinBarrier::wait() {
  constexpr int patience = 2000;
  const int phase = phase_.load(std::memory_order_acquire);
  if (come_.fetch_add(1, std::memory_order_acq_rel) + 1 == count_) {
    come_.store(0, std::memory_order_relaxed);
    phase_.store(phase + 1, std::memory_order_release);
    return;
  }
  for (int spins = 0; phase_.load(std::memory_order_acquire) == phase; ++spins) {
    if (spins < patience) {
      pause();
    } else {
      sched_yield();
    }
  }
}

Team::Team(const std::vector<int>& cpus) {
  try {
    for (std::size_t i = 0; i < cpus.size(); ++i) {
      threads_.emplace_back([this, i, cpu = cpus[i]] { serve(static_cast<int>(i), cpu); });
    }
  } catch (const std::system_error&) {
    dismiss();
    throw UnsupportedError(fmt::format("{} threads", cpus.size()),
                           fmt::format("this machine gives no more than {}", threads_.size()),
                           "measure on fewer processors (taskset), or raise the limit (ulimit -u)");
  }
  run(size(), [](int) {});  // so that pinned() is known
}

Team::~Team() { dismiss(); }

void Team::dismiss() {
  {
    const std::lock_guard lock(mutex_);
    work_ = nullptr;
    count_ = size();
    ++job_;
  }
  changed_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Team::run(int count, const std::function<void(int)>& work) {
  std::unique_lock lock(mutex_);
  work_ = &work;
  count_ = busy_ = count;
  error_ = nullptr;
  ++job_;
  changed_.notify_all();
  changed_.wait(lock, [&] { return busy_ == 0; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Team::serve(int index, int cpu) {
  if (!pin(cpu)) pinned_ = false;
  treat_tiny_numbers_as_zero();
  long done = 0;
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return job_ != done; });
    done = job_;
    if (index >= count_) continue;
    if (work_ == nullptr) return;
    const auto* work = work_;
    lock.unlock();
    std::exception_ptr error;
    try {
      (*work)(index);
    } catch (...) {
      error = std::current_exception();
    }
    lock.lock();
    if (error) error_ = error;
    if (--busy_ == 0) changed_.notify_all();
  }
}

std::vector<int> allowed_cpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return {0};
  for (std::size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

}  // namespace tcsim
