#include "kernels/repetitions.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "core/statistics.hpp"

namespace tcsim {

namespace {

// Source of these constants: chosen; repetitions.hpp says what they mean.
constexpr double undisturbed_share = 0.95;
constexpr double undisturbed_share_of_several = 0.75;
constexpr double agreement = 0.02;         // of the middle half with the median
constexpr std::size_t few = 5, many = 15;  // undisturbed ones
constexpr std::size_t most = 40;           // of all
constexpr Seconds two_suffice_after(3), one_suffices_after(6), at_most(12);

std::vector<double> undisturbed(const std::vector<Repetition>& all, int threads) {
  std::vector<double> times;
  for (const Repetition& r : all) {
    if (!is_disturbed(r, threads)) times.push_back(r.wall.value());
  }
  return times;
}

bool agree(std::vector<double> times) {
  std::ranges::sort(times);
  const std::size_t quarter = times.size() / 4;
  return times[times.size() - 1 - quarter] - times[quarter] <= agreement * median(times);
}

Seconds total(const std::vector<Repetition>& all) {
  return std::accumulate(all.begin(), all.end(), Seconds(0),
                         [](Seconds sum, const Repetition& r) { return sum + r.wall; });
}

}  // namespace

Seconds processor_time() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return Seconds(static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec));
}

double processor_share(const Repetition& r, int threads) {
  const Seconds all = threads * r.wall;
  return all.value() > 0 ? std::min(1.0, r.processor.value() / all.value()) : 1;
}

bool is_disturbed(const Repetition& r, int threads) {
  return processor_share(r, threads) <
         (threads == 1 ? undisturbed_share : undisturbed_share_of_several);
}

RunTime time_of(const std::vector<Repetition>& repetitions, int threads) {
  RunTime timed;
  std::vector<double> times = undisturbed(repetitions, threads), shares;
  timed.disturbed = times.empty();
  for (const Repetition& r : repetitions) {
    shares.push_back(processor_share(r, threads));
    if (timed.disturbed) times.push_back(r.wall.value());
  }
  timed.left_out = static_cast<int>(repetitions.size() - times.size());
  timed.share = median(shares);
  timed.median = Seconds(median(times));
  return timed;
}

std::string disturbance(const RunTime& timed, int threads) {
  if (!timed.disturbed) return "";
  return fmt::format(
      "others use this machine{}: {} had a processor for {:.0f} % of the time, and would take "
      "about {:.3g} s alone; repeat it when they are gone",
      threads == 1 ? "" : ", or the threads wait for one another",
      threads == 1 ? "the run" : "the threads", 100 * timed.share,
      timed.share * timed.median.value());
}

Repeat::Repeat(int times) : at_least_(times) {
  if (times < 1) throw std::invalid_argument("a run needs at least one repetition");
}

Repeat Repeat::until_known(int at_least) {
  Repeat r(at_least);
  r.exactly_ = false;
  return r;
}

bool Repeat::at_least(int times) {
  if (times <= at_least_) return false;
  at_least_ = times;
  return true;
}

bool Repeat::enough(const std::vector<Repetition>& done, int threads) const {
  if (done.size() < static_cast<std::size_t>(at_least_)) return false;
  if (exactly_) return true;
  const Seconds taken = total(done);
  if (done.size() >= most || taken >= at_most) return true;
  const std::vector<double> times = undisturbed(done, threads);
  if (times.empty()) return false;
  if (times.size() >= many || taken >= one_suffices_after) return true;
  const bool several = times.size() >= few || (times.size() >= 2 && taken >= two_suffice_after);
  return several && agree(times);
}

double Repeat::share_done(const std::vector<Repetition>& done) const {
  const double count = exactly_ ? at_least_ : std::max<double>(at_least_, few);
  const double by_count = static_cast<double>(done.size()) / count;
  const double by_time = exactly_ ? 0 : total(done) / one_suffices_after;
  return std::min(1.0, std::max(by_count, by_time));
}

}  // namespace tcsim
