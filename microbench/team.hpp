// Threads that measure: each stays on one processor for its whole life, so that its caches and its
// memory stay its own.
#pragma once

#include <sched.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace tcsim {

// Keeps the calling thread on one processor, the first that it may use, and puts back what was
// before. Best effort: without the right to do so nothing happens.
class Pinned {
 public:
  Pinned();
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

  int cpu() const { return cpu_; }

 private:
  cpu_set_t before_;
  int cpu_ = 0;
  bool pinned_ = false;
};

// Lets `count` threads go on when all of them have come. Spins, since a sleeping thread would start
// late and on a cold clock; gives the processor away when others need it.
class SpinBarrier {
 public:
  explicit SpinBarrier(int count) : count_(count) {}
  void wait();

 private:
  const int count_;
  std::atomic<int> come_{0}, phase_{0};
};

class Team {
 public:
  // One thread for each of these processors, at least one. Pinning is best effort: where it is not
  // allowed the threads go where the kernel puts them. Throws UnsupportedError where the system
  // gives fewer threads.
  explicit Team(const std::vector<int>& cpus);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()); }
  bool pinned() const { return pinned_; }

  // Calls work(i) on the first `count` threads, i in [0, count), and returns when all are done. If
  // some throw, rethrows the exception of one of them.
  void run(int count, const std::function<void(int)>& work);

 private:
  void serve(int index, int cpu);
  void dismiss();  // ends the threads

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void(int)>* work_ = nullptr;  // null: the team is dismissed
  int count_ = 0, busy_ = 0;
  long job_ = 0;
  std::exception_ptr error_;
  std::atomic<bool> pinned_{true};
  std::vector<std::thread> threads_;
};

// The processors that this process may use, in ascending order.
std::vector<int> allowed_cpus();

}  // namespace tcsim
