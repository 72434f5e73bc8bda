// Many measurements, taken in rounds: each round repeats all of them a few times, so that the
// repetitions of one measurement come from the whole run, and what changes in the meantime (a
// neighbour comes, the clock drops) shows as spread instead of hiding in one figure.
#pragma once

#include <chrono>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "microbench/team.hpp"
#include "microbench/timing.hpp"

namespace tcsim {

struct Measurement {
  std::string what;
  int threads = 1;
  Work work;
  Timed timing;                        // of all rounds
  std::vector<Seconds> round_medians;  // of a unit

  Seconds median() const;
  // Whether the repetitions, or the rounds among themselves, spread over more than
  // unstable_spread.
  bool unstable() const;
};

class Campaign {
 public:
  struct Plan {
    int rounds = 5;
    int repetitions = 7;  // of a measurement in one round
    Seconds repetition{0.001};
    Seconds limit{240};  // of the whole campaign, kept by taking fewer repetitions and rounds
  };

  // `expected`: about how many measurements there will be; `progress` and `stop` as in
  // ProbeOptions.
  Campaign(Team& team, const Plan& plan, int expected,
           std::function<void(const std::string&, double)> progress, std::stop_token stop);

  // Adds a measurement and takes its first round. The reference stays valid.
  const Measurement& measure(std::string what, int threads, Work work);

  // The other rounds of all measurements; fewer if the time is up. Returns how many rounds there
  // were in all.
  int finish();

 private:
  void take(Measurement& m);
  Seconds spent() const;

  Team& team_;
  Plan plan_;
  int expected_, done_ = 0;
  std::function<void(const std::string&, double)> progress_;
  std::stop_token stop_;
  std::deque<Measurement> measurements_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace tcsim
