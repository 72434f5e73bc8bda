// The model judged by the simulator: predicted and counted bytes of every link between caches and
// out to memory, and the reason of each large gap. A reason is found by taking one possible cause
// away, from prediction and simulation alike. If the two then agree, it was that cause
// (docs/validation.md, "Reasons").
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/model/predict.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// In the order in which they are tried. First what the model leaves out of such a machine:
// otherwise whatever happens to disturb an inclusive level less would be named in its place. Then
// from what costs nothing to what costs most.
enum class Cause {
  inclusion,         // inclusive levels make no promise
  packing,           // what packing moves is left out, kernels alone count
  partial_tiles,     // every tile becomes a divisor of the one outside it
  conflict,          // eight times the ways in an eighth of the sets
  lru_interference,  // twice the ways in as many sets
  line_granularity,  // lines of one element
};
inline constexpr std::array all_causes{Cause::inclusion,        Cause::packing,
                                       Cause::partial_tiles,    Cause::conflict,
                                       Cause::lru_interference, Cause::line_granularity};
const char* to_text(Cause);  // "inclusion", "packing", "partial tiles", ...

struct Compared {
  Bytes predicted, simulated;
  // (predicted - simulated) / simulated; 0 where both are 0, infinite where only the second is.
  double error() const;
  bool operator==(const Compared&) const = default;
};

// What was left of a gap with a cause taken away.
struct Trial {
  Cause cause;
  double error;
  bool operator==(const Trial&) const = default;
};

// One link: what the accounting counts. A tensor's bytes include those of its packed copy.
struct ValidatedLink {
  LevelId level{};  // the one outside the link
  Compared all;
  ByTensor<Compared> by_tensor;
  std::vector<Trial> tried;  // of a gap above ValidateOptions::explain
  // The first cause without which the gap is no longer above `explain`.
  std::optional<Cause> reason() const;
  // The cause whose absence leaves least, where that is at most half of the gap.
  std::optional<Cause> main_reason() const;
  double explain = 0;
  bool operator==(const ValidatedLink&) const = default;
};

// "conflict", "mostly conflict", "unexplained"; empty where the gap is small.
std::string reason_text(const ValidatedLink& link);

struct Validated {
  std::string workload;  // its name
  Schedule schedule;
  std::vector<ValidatedLink> links;  // all but that to the registers, which is arithmetic in both
  // Of the predicted and of the simulated traffic.
  Seconds predicted, simulated;
  bool operator==(const Validated&) const = default;
};

struct ValidateOptions {
  ModelKind model = ModelKind::window;
  double explain = 0.05;  // gaps above this, as a fraction, get their reason
  // Reasons by simulations of all sets instead of shares of them: four to seven times as long.
  bool whole_trials = false;
  int threads = 1;  // results do not depend on it
  std::stop_token stop = {};
  // Called now and then with the share of the work that is done, in [0, 1], by one thread at a
  // time.
  std::function<void(double)> progress = {};
};

// One schedule, which has passed check(). Throws UnsupportedError for a machine that the model or
// the simulator does not cover, and Interrupted.
Validated validate(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   const ValidateOptions& options = {});

// All workloads, each with the schedule that `choose` gives for it. Several threads call `choose`
// at once. Asked to stop, it returns those that are complete, in their order. Of errors, that of
// the first workload is thrown.
using ChooseSchedule = std::function<Schedule(const Contraction&)>;
std::vector<Validated> validate(std::span<const Contraction> workloads, const Machine& machine,
                                const ChooseSchedule& choose, const ValidateOptions& options = {});

// Of |error| over all links; the 90th percentile is the smallest that at least 90 % do not exceed.
struct ValidationSummary {
  std::size_t links = 0;
  double median = 0, p90 = 0, worst = 0;
  // Workloads whose predicted time is more than 2 % away from the simulated one.
  std::size_t time_off_2_percent = 0;
  // Of these, those whose simulated time is the longer one.
  std::size_t time_above_2_percent = 0;
};
ValidationSummary summary(std::span<const Validated> all);

// The same nest where every tile is a divisor of the one outside it, the nearest by ratio. Tiles of
// rows that are packed are also whole numbers of micropanels. A tile without such a divisor stays.
Schedule with_dividing_tiles(const Contraction& contraction, const Schedule& schedule);

}  // namespace tcsim
