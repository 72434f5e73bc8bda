// How often a run is timed, and what counts of it. On a machine that others use, wall time is up to
// twice too long, and nothing shows it. So the processor time that the run's threads had is
// measured beside it. A repetition in which they had no processor for a part of the time is
// disturbed. It does not count if there are undisturbed ones.
#pragma once

#include <string>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

// Processor time of the calling thread. That of a whole process lags behind by up to a tick of the
// system, some milliseconds, while its other threads run.
Seconds processor_time();

struct Repetition {
  Seconds wall;       // from beginning to end
  Seconds processor;  // that all threads of the run had together, each for its part
};

// Share of the wall time in which the threads (>= 1) had a processor, at most 1. Threads that wait
// for one another have none either.
double processor_share(const Repetition& r, int threads);

// Whether others used the machine: a share below 95 %. Of several threads below 75 %, as they also
// sleep until they are woken and until the last one is done.
bool is_disturbed(const Repetition& r, int threads);

struct RunTime {
  Seconds median;          // wall time, of the repetitions that count
  double share = 1;        // median share of a processor, of all repetitions
  int left_out = 0;        // disturbed ones that do not count
  bool disturbed = false;  // all of them, so that they count
};
// Precondition: at least one repetition, one thread.
RunTime time_of(const std::vector<Repetition>& repetitions, int threads);

// Says how much a time is worth that others disturbed; empty where nobody did.
std::string disturbance(const RunTime& timed, int threads);

// When a run has been repeated often enough.
class Repeat {
 public:
  Repeat(int times);  // exactly so often; throws std::invalid_argument below 1
  // Until the time is known: 5 to 15 undisturbed repetitions of something short. Of what takes
  // seconds two that agree within 2 % are enough after 3 s, and one after 6 s. After 12 s it ends
  // in any case. Never fewer than `at_least`.
  static Repeat until_known(int at_least = 1);

  // Raises the least number of repetitions; false if it is as high already.
  bool at_least(int times);
  bool enough(const std::vector<Repetition>& done, int threads) const;
  // A guess of how much is done, 0 to 1.
  double share_done(const std::vector<Repetition>& done) const;

 private:
  int at_least_;
  bool exactly_ = true;
};

}  // namespace tcsim
