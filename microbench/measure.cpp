#include "microbench/measure.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

// Shorter than a scheduler's time slice, so that some repetitions pass undisturbed even when
// another program runs on the same processor.
constexpr Seconds repetition(0.002), budget(1.0);
constexpr std::size_t fewest = 3, most = 51;
constexpr std::size_t huge_page = std::size_t{1} << 21;

// How often the kernel took the processor from this thread.
long preemptions() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

}  // namespace

Pinned::Pinned() {
  if (sched_getaffinity(0, sizeof(before_), &before_) != 0) return;
  while (cpu_ < CPU_SETSIZE && !CPU_ISSET(cpu_, &before_)) ++cpu_;
  if (cpu_ == CPU_SETSIZE) {
    cpu_ = 0;
    return;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu_, &one);
  pinned_ = sched_setaffinity(0, sizeof(one), &one) == 0;
}

Pinned::~Pinned() {
  if (pinned_) sched_setaffinity(0, sizeof(before_), &before_);
}

Block::Block(Bytes size)
    // Whole huge pages, so that the last piece gets one too.
    : size_((static_cast<std::size_t>(size.value()) + huge_page - 1) / huge_page * huge_page) {
  void* memory = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw UnsupportedError("probe", "no memory for a block of " + to_display(size),
                           "free some, or name a machine file with --machine");
  }
  madvise(memory, size_, MADV_HUGEPAGE);  // a wish: without it the measurement is only noisier
  data_ = static_cast<double*>(memory);
  std::fill_n(data_, size_ / sizeof(double), 1.0);
}

Block::~Block() { munmap(data_, size_); }

Timed time_rounds(const std::function<void(long)>& work, const std::stop_token& stop) {
  using Clock = std::chrono::steady_clock;
  const auto once = [&](long rounds) {
    if (stop.stop_requested()) throw Interrupted();
    const auto begin = Clock::now();
    work(rounds);
    return Seconds(std::chrono::duration<double>(Clock::now() - begin).count());
  };
  once(1);
  long rounds = 1;
  while (once(rounds) < repetition) rounds *= 2;

  std::vector<Seconds> all, undisturbed;
  Seconds spent;
  while (undisturbed.size() < most && (all.size() < fewest || spent < budget)) {
    const long before = preemptions();
    all.push_back(once(rounds));
    if (preemptions() == before) undisturbed.push_back(all.back());
    spent += all.back();
  }
  std::vector<Seconds>& times = undisturbed.size() < fewest ? all : undisturbed;
  std::sort(times.begin(), times.end());
  const auto each = [&](Seconds t) { return t * (1.0 / static_cast<double>(rounds)); };
  return {each(times[times.size() / 2]), each(times.front()), each(times.back()),
          static_cast<int>(times.size())};
}

}  // namespace tcsim
