// Runs a plan for real on this machine: packs, computes, and leaves the result in C.
#pragma once

#include <cstddef>
#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"
#include "kernels/memory.hpp"
#include "kernels/repetitions.hpp"

namespace tcsim {

// Throw UnsupportedError, which names sizes and needs, unless this machine has the memory that a
// run takes: for the tensors, which is known before there is a schedule, or for all arrays of a
// plan.
void require_memory(const Contraction& contraction);
void require_memory(const Plan& plan, int copies = 1);

// Memory for a plan's arrays, all in one piece. Contents of A, B and C start as zeros. Throws as
// require_memory(plan) does.
class Arena {
 public:
  explicit Arena(const Plan& plan);

  std::byte* array(ArrayId a) { return memory_.data() + plan_->base(a).value(); }
  template <class T>
  T* as(ArrayId a) {
    return reinterpret_cast<T*>(array(a));
  }

 private:
  const Plan* plan_;
  Memory memory_;
};

// Fills A and B with a reproducible pattern of numbers in [-1, 1] that depends on the seed, the
// tensor and the element's offset only.
void fill_inputs(Arena& arena, const Plan& plan, std::uint64_t seed);

// C = A B. Overwrites C. On one thread and in the arena's own buffers, as the simulator has it.
// Throws Interrupted soon after `stop` is requested; C is then incomplete.
void execute(const Plan& plan, Arena& arena, std::stop_token stop = {});

// What execute() sets up, once for many times: tables, and with several threads their buffers. The
// plan and the arena must outlive it.
class PreparedPlan {
 public:
  PreparedPlan(const Plan& plan, Arena& arena, int threads = 1);

  // As execute(), on `threads()` threads.
  void operator()(std::stop_token stop = {}) const { run_(std::move(stop)); }
  int threads() const { return threads_; }  // those that have work
  // That several threads had together in the last execution, each for its part; 0 of one thread.
  Seconds processor() const { return processor_(); }

 private:
  template <class T>
  void prepare(const Plan& plan, Arena& arena, int threads);

  std::function<void(std::stop_token)> run_;
  std::function<Seconds()> processor_ = [] { return Seconds(0); };
  int threads_ = 1;
};

// The code that a plan's kernels run on: "avx512 24x8"; "avx2 8x6, A in place" where the schedule
// leaves an operand unpacked.
std::string kernel_used(const Plan& plan);

// Result of comparing C with a straightforward evaluation of the same contraction.
struct Check {
  double worst_error = 0;  // largest |C - reference| / bound
  Elements checked;        // elements compared
  bool ok() const { return worst_error <= 1; }
};
// Compares `samples` elements of C (all of them if there are not more), spread over C by the seed,
// with a long double sum. The bound of an element is (K + 2) u sum|a b|, the standard forward error
// of a sum of K products in any order with unit roundoff u (Higham, Accuracy and Stability, 3.1).
// It reads the strides of the contraction, never the plan's offsets. worst_error is infinite where
// C is not a number.
Check check_result(Arena& arena, const Plan& plan, Elements samples, std::uint64_t seed);

struct RunResult {
  std::vector<Repetition> repetitions;  // each one a whole execute(), packing included
  RunTime timed;
  FlopsPerSecond rate;  // flops of a repetition / median
  Check check;
  std::string kernel;
  int threads = 1;  // those that had work
};
// Stands around each timed execution, and nothing else: it must call the work that it gets exactly
// once. For whatever wants to watch the execution from outside, such as counters; what it does
// before and after is not timed.
using Around = std::function<void(const std::function<void()>& work)>;

struct RunOptions {
  Repeat repeat = Repeat::until_known();
  std::uint64_t seed = 1;  // of the inputs' values
  int threads = 1;         // at most
  Around around = [](const auto& work) { work(); };
  std::function<void(double share)> progress = [](double) {};  // 0 to 1, after each repetition
  std::stop_token stop = {};
};

// Fills, executes as often as `repeat` says with the caches flushed before each, and checks a
// sample.
RunResult run(const Plan& plan, const RunOptions& options);

// As run(), of `copies` (>= 1) independent contractions at a time, each on a thread of its own with
// inputs of its own: the batched mode of acmtc-sc19, section 6; `threads` and `around` do not
// count. A repetition lasts from the first one's beginning to the last one's end; `rate` counts
// them all, `check` is the worst of theirs. Throws UnsupportedError if they do not fit into memory
// together.
RunResult run_batched(const Plan& plan, int copies, const RunOptions& options);

}  // namespace tcsim
