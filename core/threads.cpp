#include "core/threads.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "core/error.hpp"

namespace tcsim {

namespace {

// The first exception of several threads.
class Failure {
 public:
  void keep() {
    const std::lock_guard lock(mutex_);
    if (!first_) first_ = std::current_exception();
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr first_;
};

// Starts a thread for each of f(0) ... f(count - 1), as long as there are threads.
template <class F>
std::vector<std::jthread> started(int count, const F& f) {
  std::vector<std::jthread> threads;
  threads.reserve(static_cast<std::size_t>(std::max(0, count)));
  try {
    for (int i = 0; i < count; ++i) threads.emplace_back([&f, i] { f(i); });
  } catch (const std::system_error&) {
  }
  return threads;
}

// Threads that go on together, or not at all.
class Gate {
 public:
  void open(bool go) {
    state_ = go ? 1 : -1;
    state_.notify_all();
  }
  bool wait() const {
    state_.wait(0);
    return state_ > 0;
  }

 private:
  std::atomic<int> state_ = 0;
};

// How far each of two stages is.
class Stages {
 public:
  void run(int stage, std::int64_t count, const std::function<void(std::int64_t)>& f) {
    try {
      for (std::int64_t i = 0; i < count && wait(stage, i); ++i) {
        f(i);
        went_on([&] { ++done_[stage]; });
      }
    } catch (...) {
      failure.keep();
      went_on([&] { failed_ = true; });
    }
  }

  Failure failure;

 private:
  // Until its turn has come. False if there is none any more.
  bool wait(int stage, std::int64_t i) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return failed_ || (stage == 0 ? done_[1] + 2 > i : done_[0] > i); });
    return !failed_;
  }
  template <class F>
  void went_on(F&& change) {
    {
      const std::lock_guard lock(mutex_);
      change();
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t done_[2] = {0, 0};
  bool failed_ = false;
};

// Of this process, 0 where nothing tells.
std::ptrdiff_t running_threads() {
  std::error_code error;
  const std::filesystem::directory_iterator all("/proc/self/task", error);
  return error ? 0 : std::distance(begin(all), end(all));
}

}  // namespace

int run_on_threads(int count, const std::function<void()>& work) {
  Failure failure;
  const auto guarded = [&](int) {
    try {
      work();
    } catch (...) {
      failure.keep();
    }
  };
  int threads = 1;
  {
    const std::vector<std::jthread> others = started(count - 1, guarded);
    threads += static_cast<int>(others.size());
    guarded(0);
  }
  failure.rethrow();
  return threads;
}

void run_together(int count, const std::function<void(int)>& work) {
  Failure failure;
  Gate gate;
  std::size_t had = 0;
  const auto guarded = [&](int i) {
    if (!gate.wait()) return;
    try {
      work(i);
    } catch (...) {
      failure.keep();
    }
  };
  {
    const std::vector<std::jthread> threads = started(count, guarded);
    had = threads.size();
    gate.open(std::ssize(threads) == count);
  }
  if (had < static_cast<std::size_t>(count)) {
    throw UnsupportedError(fmt::format("{} threads", count),
                           fmt::format("this machine gives no more than {}", had),
                           "use fewer, or raise the limit (ulimit -u)");
  }
  failure.rethrow();
}

void run_in_two_stages(std::int64_t count, const std::function<void(std::int64_t)>& first,
                       const std::function<void(std::int64_t)>& second, bool first_elsewhere) {
  Stages stages;
  {
    const auto elsewhere = [&](int) {
      stages.run(first_elsewhere ? 0 : 1, count, first_elsewhere ? first : second);
    };
    const std::vector<std::jthread> other = started(count > 1 ? 1 : 0, elsewhere);
    if (!other.empty()) {
      stages.run(first_elsewhere ? 1 : 0, count, first_elsewhere ? second : first);
    } else {
      for (std::int64_t i = 0; i < count; ++i) first(i), second(i);
    }
  }
  stages.failure.rethrow();
}

int available_threads(int wanted) {
  const std::ptrdiff_t before = running_threads();
  int had = 1;
  {
    Gate gate;
    const auto wait = [&](int) { gate.wait(); };
    const std::vector<std::jthread> others = started(wanted - 1, wait);
    had += static_cast<int>(others.size());
    gate.open(false);
  }
  // A thread that was joined counts for a moment yet.
  for (int tries = 0; tries < 100 && running_threads() > before; ++tries) {
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return had;
}

}  // namespace tcsim
