#include "core/study/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/optimize/search.hpp"

namespace tcsim {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double closed = 1e-3;       // a gap that counts as none
constexpr double wide = 0.01;         // a gap that is worth a search from nothing
constexpr std::size_t pool_size = 6;  // schedules that are tried on a design before a search

// What the traffic of a schedule depends on: all of a machine but how fast it is.
std::string geometry(const Machine& m) {
  std::string text;
  for (const Level& l : m.levels) {
    text += fmt::format("{} {} {} {};", l.capacity.value.value(), l.ways.value,
                        l.line.value.value(), static_cast<int>(l.inclusion.value));
  }
  return text;
}

// A schedule of a chain with its traffic on the geometry that it was last asked for.
struct Candidate {
  Tiling tiling;
  Schedule schedule;
  std::string geometry;
  Traffic traffic;
};

struct Judged {
  std::size_t candidate = 0;
  Prediction prediction;
  double cost = HUGE_VAL, links = HUGE_VAL;

  bool better_than(const Judged& other) const {
    if (cost < other.cost * (1 - 1e-9)) return true;
    return cost <= other.cost * (1 + 1e-9) && links < other.links * (1 - 1e-9);
  }
};

class ChainWork {
 public:
  ChainWork(const Study& study, const Contraction& contraction, std::stop_token stop)
      : study_(study), contraction_(contraction), stop_(std::move(stop)) {}

  void add(const Tiling& tiling, Schedule schedule) {
    for (const Candidate& c : pool_) {
      if (c.schedule == schedule) return;
    }
    pool_.push_back({tiling, std::move(schedule), "", {}});
  }
  std::size_t size() const { return pool_.size(); }
  const Schedule& schedule(std::size_t i) const { return pool_[i].schedule; }
  const Kernel& schedule_kernel(std::size_t i) const { return pool_[i].tiling.kernel; }

  Judged judge(std::size_t i, const Machine& machine, const std::string& shape) {
    if (stop_.stop_requested()) throw Interrupted();
    Candidate& c = pool_[i];
    Judged j;
    j.candidate = i;
    if (c.geometry != shape) {
      c.traffic = window_traffic(contraction_, c.schedule, machine, counter_);
      c.geometry = shape;
    }
    j.prediction.traffic = c.traffic;
    j.prediction.timing = timing(c.traffic, contraction_, machine);
    j.cost = cost(j.prediction, machine, study_.schedule_objective());
    j.links = cost(j.prediction, machine, Objective::sum);
    return j;
  }

  // The best of the last few candidates, the one that was best before first: where that is proven
  // good enough, the others are not asked.
  Judged best_known(const Machine& machine, const std::string& shape, std::size_t first,
                    double least) {
    const auto kernels = kernel_choices(machine.core, contraction_.type());
    const auto fits = [&](std::size_t i) {
      return std::find(kernels.begin(), kernels.end(), pool_[i].tiling.kernel) != kernels.end();
    };
    Judged best;
    if (fits(first)) best = judge(first, machine, shape);
    const std::size_t oldest = pool_.size() > pool_size ? pool_.size() - pool_size : 0;
    for (std::size_t i = pool_.size(); i-- > oldest;) {
      if (best.cost <= least * (1 + closed)) break;
      if (i == first || !fits(i)) continue;
      Judged other = judge(i, machine, shape);
      if (other.better_than(best)) best = std::move(other);
    }
    return best;
  }

  // Searches, beginning from a candidate if it has a kernel of this core; `anew`, from nothing,
  // which looks harder.
  Judged search(const Machine& machine, const std::string& shape, const Judged& from, bool anew) {
    OptimizeOptions options;
    options.objective = study_.schedule_objective();
    options.counter = &counter_;
    if (std::isfinite(from.cost) && !anew) options.incumbents = {pool_[from.candidate].tiling};
    Optimized o = optimize(contraction_, machine, options, stop_);
    const std::size_t before = pool_.size();
    add(o.tiling, std::move(o.schedule));
    if (pool_.size() == before) {
      return std::isfinite(from.cost) ? from : judge(0, machine, shape);
    }
    Judged found = judge(before, machine, shape);
    return std::isfinite(from.cost) && !found.better_than(from) ? from : found;
  }

  double least(const Machine& machine) const {
    const auto kernels = kernel_choices(machine.core, contraction_.type());
    const ProvenBound bound = proven_bound(contraction_, machine, kernels);
    if (study_.schedule_objective() == Objective::time) return bound.time.value();
    double joules = 0;
    for (std::size_t l = 0; l < bound.bytes.size(); ++l) {
      joules += bound.bytes[l] * machine.levels[l].energy->value.value();
    }
    return joules;
  }

 private:
  const Study& study_;
  const Contraction& contraction_;
  std::stop_token stop_;
  std::vector<Candidate> pool_;
  SetCounter counter_;
};

// One design of a chain on its way.
struct Station {
  Design design;
  Machine machine;  // what one core of it sees
  std::string shape;
  double least = 0;
  Judged chosen;
  bool searched = false;
};

double joules(const Study& study, const Station& s, const Contraction& c) {
  const auto moved = energy(s.chosen.prediction.traffic, s.machine);
  double sum = moved ? moved->value() : 0;
  if (study.cost) {
    sum += c.flops() / 2 * study.cost->fma_energy(s.design.with, size_of(c.type()));
    sum += study.cost->power(s.design.with) * s.chosen.prediction.timing.total.value();
  }
  return moved || sum > 0 ? sum : unknown;
}

PointResult result_of(const Study& study, const Station& s, const Contraction& c,
                      std::int64_t point, const Schedule& schedule) {
  PointResult r;
  r.point = point;
  const Prediction& p = s.chosen.prediction;
  r.predicted_seconds = p.timing.total.value();
  r.compute_seconds = p.timing.compute.value();
  r.bound_seconds = s.least;
  r.joules = joules(study, s, c);
  r.bottleneck = p.timing.bottleneck;
  for (const LinkTraffic& l : p.traffic.links) {
    r.link_bytes.push_back(static_cast<double>(l.counted(s.machine.accounting).value()));
  }
  for (Seconds t : p.timing.links) r.link_seconds.push_back(t.value());
  r.simulated_seconds = r.measured_seconds = unknown;
  r.schedule = to_line(schedule);
  r.searched = s.searched;
  return r;
}

}  // namespace

double PointResult::seconds() const {
  if (!std::isnan(measured_seconds)) return measured_seconds;
  return std::isnan(simulated_seconds) ? predicted_seconds : simulated_seconds;
}

Anchors::Anchors(const Study& study, std::stop_token stop)
    : study_(study),
      stop_(std::move(stop)),
      slots_(study.machines.size() * study.workloads.size()) {}

const Optimized& Anchors::at(std::size_t machine, std::size_t workload) {
  Slot& slot = slots_[machine * study_.workloads.size() + workload];
  std::call_once(slot.once, [&] {
    OptimizeOptions options;
    options.objective = study_.schedule_objective();
    slot.value = optimize(study_.workloads[workload].contraction, study_.machines[machine].machine,
                          options, stop_);
  });
  return slot.value;
}

Evaluator::Evaluator(const Study& study, Anchors& anchors, std::stop_token stop, Further further)
    : study_(study),
      anchors_(anchors),
      stop_(std::move(stop)),
      further_(std::move(further)),
      designs_(study),
      chains_(study) {}
Evaluator::~Evaluator() = default;

ChainResult Evaluator::evaluate(std::int64_t chain) {
  return evaluate(chain, std::numeric_limits<std::int64_t>::max());
}

ChainResult Evaluator::evaluate(std::int64_t number, std::int64_t most) {
  const Chain chain = chains_.at(number);
  const Contraction& contraction = study_.workloads[chain.workload].contraction;
  ChainResult result;
  result.chain = number;

  ChainWork work(study_, contraction, stop_);
  std::vector<Station> stations;
  std::size_t last = 0;        // the candidate that was best for the design before
  double accepted = HUGE_VAL;  // gap that the last search left
  for (std::int64_t d = chain.first; d < chain.first + std::min(chain.count, most); ++d) {
    if (stop_.stop_requested()) throw Interrupted();
    LeftOut why;
    std::optional<Design> design = designs_.at(d, why);
    if (!design) {
      auto [skipped, is_new] = result.skipped.try_emplace(why.reason);
      if (is_new) skipped->second = {0, d, why.detail};
      ++skipped->second.designs;
      continue;
    }
    if (work.size() == 0) {
      const Optimized& anchor = anchors_.at(chain.machine, chain.workload);
      work.add(anchor.tiling, anchor.schedule);
    }
    Station s{std::move(*design), {}, "", 0, {}, false};
    s.machine = view_of_one_core(s.design.with);
    s.shape = geometry(s.machine);
    s.least = work.least(s.machine);
    if (study_.compute == Compute::predict) {
      s.chosen = work.judge(0, s.machine, s.shape);
    } else {
      s.chosen = work.best_known(s.machine, s.shape, last, s.least);
      // The gap that the chain's first search leaves is the measure for those after it.
      const double allowed = accepted < HUGE_VAL ? accepted + gap_to_search_again : 0;
      if (!(s.chosen.cost <= s.least * (1 + std::max(closed, allowed)))) {
        const auto above = [&](double gap) { return s.chosen.cost > s.least * (1 + gap); };
        const bool first = accepted == HUGE_VAL;
        s.chosen = work.search(s.machine, s.shape, s.chosen, first && above(wide));
        // Begun from a schedule that does not fit here at all, a search may end nearby.
        if (!first && above(accepted + wide)) {
          s.chosen = work.search(s.machine, s.shape, s.chosen, true);
        }
        s.searched = true;
        accepted = s.chosen.cost / s.least - 1;
      }
    }
    last = s.chosen.candidate;
    stations.push_back(std::move(s));
  }
  // What was found later may be better for those before.
  if (study_.compute != Compute::predict) {
    for (std::size_t i = stations.size(); i-- > 1;) {
      Station& s = stations[i - 1];
      const std::size_t next = stations[i].chosen.candidate;
      if (next == s.chosen.candidate || s.chosen.cost <= s.least * (1 + closed)) continue;
      const auto kernels = kernel_choices(s.machine.core, contraction.type());
      const Kernel& kernel = work.schedule_kernel(next);
      if (std::find(kernels.begin(), kernels.end(), kernel) == kernels.end()) continue;
      Judged other = work.judge(next, s.machine, s.shape);
      if (other.better_than(s.chosen)) s.chosen = std::move(other);
    }
  }
  const std::int64_t workloads = std::ssize(study_.workloads);
  for (const Station& s : stations) {
    const std::int64_t point =
        s.design.number * workloads + static_cast<std::int64_t>(chain.workload);
    const Schedule& schedule = work.schedule(s.chosen.candidate);
    result.points.push_back(result_of(study_, s, contraction, point, schedule));
    if (further_) further_(result.points.back(), contraction, schedule, s.machine);
  }
  if (chain.workload != 0) result.skipped.clear();
  return result;
}

}  // namespace tcsim
