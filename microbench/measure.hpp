// Timing that can be believed. Naive timing lies in five ways, and each has its remedy here: the
// thread moves between processors (pinned), the clock is coarser than what is timed (rounds are
// added until a repetition takes two milliseconds), the first round pays for cold caches, page
// faults and a sleeping clock (never counted), other work interferes (repetitions that the kernel
// interrupted are left out, and the median of the rest counts, with their spread), and the compiler
// removes work whose result nobody uses (microbench/loops_body.hpp).
#pragma once

#include <sched.h>

#include <cstddef>
#include <functional>
#include <stop_token>

#include "core/units/quantity.hpp"

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

// A block of doubles, all 1, on huge pages where the kernel gives them, so that what is timed is
// the caches and not the address translation. Throws UnsupportedError if there is no such memory.
class Block {
 public:
  explicit Block(Bytes size);
  ~Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  double* data() const { return data_; }

 private:
  std::size_t size_;
  double* data_;
};

// Seconds that one round takes.
struct Timed {
  Seconds median, fastest, slowest;
  int repetitions = 0;
};

// Times `work(rounds)`: up to 51 undisturbed repetitions, fewer (but at least 3) if a second has
// passed; if hardly any was undisturbed, all of them count. Throws Interrupted between repetitions
// if asked to stop.
Timed time_rounds(const std::function<void(long rounds)>& work, const std::stop_token& stop);

}  // namespace tcsim
