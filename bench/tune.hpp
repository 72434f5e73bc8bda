// tcsim tune: finds a faster schedule by running some. The model ranks, the best of them run: the
// hybrid search of ttile (sections 5.3 and 5.4), with the optimizer's neighbourhood for a space.
//
// Candidates are one move away from the best schedule so far (Search::neighbours(),
// neighbourhood(), rewrites()). They run in heats, the best of the model first. In a heat each runs
// once, the better half runs again, and so on until one is left. It then meets the best so far in a
// final, turn by turn, and takes its place only where it is faster by more than the spread of
// either.
// A winner's neighbours are candidates of the next heat.
//
// What counts is always the share of the peak that was measured beside a run (bench/yardstick.hpp),
// so that a slower minute does not decide. Only finals say how fast a schedule is: the fastest of
// many noisy medians is partly luck.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "bench/yardstick.hpp"
#include "core/machine/machine.hpp"
#include "core/optimize/tiling.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim::bench {

// What one tiling has other than another, in words: "kernel 16x14, k of L2 512 to 256"; "" for
// equal ones.
std::string difference(const Contraction& contraction, const Machine& machine, const Tiling& from,
                       const Tiling& to);

// Runs a schedule once, with cold caches. Nothing if its result is wrong. May throw
// UnsupportedError (too little memory) and Interrupted.
using Measure = std::function<std::optional<Sample>(const Schedule&)>;

// On `threads` threads; of several the wall time counts, and the peak is that of as many cores.
Measure measured_here(const Contraction& contraction, ColdYardstick& yardstick, int threads,
                      std::uint64_t seed, std::stop_token stop);

// A schedule that ran.
struct Candidate {
  // From the model's choice, or from the tiling that it was rewritten from; "" for the choice
  // itself.
  std::string difference;
  Schedule schedule;
  Seconds predicted;  // by the window model, for one core
  Samples heats;      // none of a schedule of an earlier call
  Samples finals;     // none of one that reached no final
  bool correct = true;

  // Median share of the peak, in finals if it reached one; 0 where the result was wrong.
  double speed() const;
};

struct Tuning {
  std::vector<Candidate> ran;       // the model's choice first
  std::size_t winner = 0;           // in `ran`
  std::vector<std::int64_t> tried;  // fingerprints of all that ran, earlier ones included
  bool interrupted = false;
  const Candidate& pick() const { return ran.front(); }
  const Candidate& best() const { return ran[winner]; }
  // Speed of the winner over that of the model's choice: 1 if that has won.
  double ratio() const;
  // Up to `most`, the winner and the model's choice among them, the fastest in front.
  std::vector<std::size_t> finalists(std::size_t most) const;
};

struct TuneOptions {
  Seconds budget{60};                  // of wall time, for all of it
  std::optional<Schedule> began_with;  // winner of an earlier call
  std::vector<std::int64_t> tried;     // in earlier calls: they do not run again
  int threads = 1;                 // that runs have: of several, what they divide is tried as well
  std::function<Seconds()> clock;  // wall time; since when does not matter
  std::function<void(double share, const std::string& what)> progress;
  std::function<void(const Tuning&)> after_heat;  // to keep what is known so far
  std::stop_token stop;
};

// Ends when the budget is spent, when there are no more candidates, or when asked to stop: then it
// returns what it has. Throws as optimize() does, and Interrupted if not even the model's choice
// ran.
Tuning tune(const Contraction& contraction, const Machine& machine, const Measure& measure,
            const TuneOptions& options);

}  // namespace tcsim::bench
