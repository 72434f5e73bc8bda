#include "microbench/campaign.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/statistics.hpp"

namespace tcsim {

namespace {

std::vector<double> values(const std::vector<Seconds>& times) {
  std::vector<double> v;
  for (Seconds s : times) v.push_back(s.value());
  return v;
}

}  // namespace

Seconds Measurement::median() const { return Seconds(tcsim::median(values(timing.units))); }

bool Measurement::unstable() const {
  if (relative_spread(values(timing.units)) > unstable_spread) return true;
  return std::any_of(round_medians.begin(), round_medians.end(),
                     [&](Seconds s) { return std::abs(s / median() - 1) > unstable_spread; });
}

Campaign::Campaign(Team& team, const Plan& plan, int expected,
                   std::function<void(const std::string&, double)> progress, std::stop_token stop)
    : team_(team),
      plan_(plan),
      expected_(std::max(1, expected)),
      progress_(std::move(progress)),
      stop_(std::move(stop)) {}

Seconds Campaign::spent() const {
  return Seconds(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count());
}

const Measurement& Campaign::measure(std::string what, int threads, Work work) {
  measurements_.push_back({std::move(what), threads, std::move(work), {}, {}});
  take(measurements_.back());
  return measurements_.back();
}

void Campaign::take(Measurement& m) {
  const int all = std::max(expected_, static_cast<int>(measurements_.size())) * plan_.rounds;
  if (progress_) progress_(m.what, std::min(1.0, static_cast<double>(done_) / all));
  Effort effort;
  effort.repetitions = plan_.repetitions;
  effort.repetition = plan_.repetition;
  // An equal share of what time is left, since disturbed repetitions are taken anew: the more a
  // machine is in use, the fewer of them each measurement gets.
  const Seconds share = (plan_.limit - spent()) * (1.0 / std::max(1, all - done_));
  effort.budget = std::clamp(share, plan_.repetition * 3.0, plan_.repetition * 50.0);
  const Timed timing = time_work(team_, m.threads, m.work, effort, stop_);
  m.round_medians.emplace_back(tcsim::median(values(timing.units)));
  m.timing += timing;
  ++done_;
}

int Campaign::finish() {
  expected_ = static_cast<int>(measurements_.size());
  int round = 1;
  // The first one found out how long to measure and takes about twice as long as the others.
  Seconds of_a_round = spent() * 0.5;
  for (; round < plan_.rounds; ++round) {
    // A round that would not end in time is not begun.
    const Seconds before = spent();
    if (before + of_a_round > plan_.limit) break;
    for (Measurement& m : measurements_) take(m);
    of_a_round = spent() - before;
  }
  return round;
}

}  // namespace tcsim
