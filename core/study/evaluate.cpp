#include "core/study/evaluate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <utility>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/optimize/search.hpp"
#include "core/schedule/path.hpp"
#include "core/schedule/registers.hpp"
#include "core/study/level_points.hpp"

namespace tcsim {

namespace {

constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
constexpr double closed = 1e-3;            // a gap that counts as none
constexpr double wide = 0.01;              // a gap that is worth a search from nothing
constexpr double very_wide = 0.1;          // one that is worth more than one
constexpr std::size_t pool_size = 6;       // schedules that are tried on a design before a search
constexpr std::size_t judged_in_full = 2;  // of those, beside the one of the design before
constexpr std::size_t searches_apart = 8;  // designs, where the gap stays wide

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
  Incumbent found;
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

// One design of a chain on its way.
struct Station {
  DesignPoint design;
  Machine machine;  // what one core of it sees
  std::string shape;
  double least = 0;
  Judged chosen;
  bool searched = false;
};

class ChainWork {
 public:
  ChainWork(const Study& study, const Contraction& contraction, std::stop_token stop)
      : study_(study), contraction_(contraction), stop_(std::move(stop)) {}

  // Returns its place, which may be that of an equal one.
  std::size_t add(const Optimized& o) {
    for (std::size_t i = 0; i < pool_.size(); ++i) {
      if (pool_[i].schedule == o.schedule) return i;
    }
    pool_.push_back({o.incumbent(), o.schedule, "", {}});
    return pool_.size() - 1;
  }
  const Schedule& schedule(std::size_t i) const { return pool_[i].schedule; }

  Judged judge(std::size_t i, const Machine& machine, const std::string& shape) {
    if (stop_.stop_requested()) throw Interrupted();
    Candidate& c = pool_[i];
    Judged j;
    j.candidate = i;
    if (c.geometry != shape) {
      c.traffic = window_traffic(contraction_, c.schedule, machine, counts_);
      c.geometry = shape;
    }
    j.prediction.traffic = c.traffic;
    j.prediction.timing =
        timing(c.traffic, kernel_time(contraction_, c.schedule, machine), machine);
    j.cost = cost(j.prediction, machine, study_.schedule_objective());
    j.links = cost(j.prediction, machine, Objective::sum);
    return j;
  }

  // The best of the last few candidates, the one that was best before first: where that is good
  // enough, the others are not asked.
  Judged best_known(const Machine& machine, const std::string& shape, std::size_t first,
                    double enough) {
    Judged best;
    if (fits(first, machine)) best = judge(first, machine, shape);
    if (best.cost <= enough) return best;
    // The others by a coarse count, which takes a hundredth of the time; the best two in full.
    std::vector<std::pair<double, std::size_t>> others;
    const std::size_t oldest = pool_.size() > pool_size ? pool_.size() - pool_size : 0;
    for (std::size_t i = oldest; i < pool_.size(); ++i) {
      if (i != first && fits(i, machine)) others.emplace_back(coarse_cost(i, machine), i);
    }
    std::sort(others.begin(), others.end());
    if (others.size() > judged_in_full) others.resize(judged_in_full);
    for (const auto& [cost, i] : others) {
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
    options.counts = &counts_;
    if (std::isfinite(from.cost) && !anew) options.incumbents = {pool_[from.candidate].found};
    Judged found = judge(add(optimize(contraction_, machine, options, stop_)), machine, shape);
    return std::isfinite(from.cost) && !found.better_than(from) ? from : found;
  }

  // What no schedule of the family costs less than.
  double least(const Machine& machine) const {
    const auto kernels = kernel_choices(machine.core, contraction_);
    return least_cost(proven_bound(contraction_, machine, kernels, row_orders(machine, {})),
                      machine, study_.schedule_objective());
  }
  // Where the one that was chosen does, it is not of the family.
  double proven(const Station& s) const {
    if (s.chosen.cost >= s.least * (1 - 1e-9)) return s.least;
    return least_cost(bound_of_all(contraction_, s.machine), s.machine,
                      study_.schedule_objective());
  }

  // A schedule for every design: one that the chain knows where the bound says that it is good
  // enough, otherwise from a search.
  void choose(std::vector<Station>& stations) {
    std::size_t last = 0;        // the candidate that was best for the design before
    double accepted = HUGE_VAL;  // gap that the last search left
    std::size_t searched = 0;    // where that was
    for (std::size_t i = 0; i < stations.size(); ++i) {
      Station& s = stations[i];
      const bool first = accepted == HUGE_VAL;
      const double allowed = first ? closed : std::max(closed, accepted + gap_to_search_again);
      s.chosen = best_known(s.machine, s.shape, last, s.least * (1 + std::min(allowed, wide)));
      const auto above = [&](double gap) { return s.chosen.cost > s.least * (1 + gap); };
      // A wide gap may be the bound's or the search's: every now and then it is looked again.
      if (above(allowed) || (above(wide) && i >= searched + searches_apart)) {
        searched = i;
        s.chosen = search(s.machine, s.shape, s.chosen, first && above(wide));
        if (first && above(very_wide)) scout(stations, i);
        // Begun from a schedule that does not fit here at all, a search may end nearby.
        if (!first && above(accepted + wide)) {
          s.chosen = search(s.machine, s.shape, s.chosen, true);
        }
        s.searched = true;
        accepted = s.chosen.cost / s.least - 1;
      }
      accepted = std::min(accepted, above(closed) ? s.chosen.cost / s.least - 1 : accepted);
      last = s.chosen.candidate;
    }
    carry_back(stations);
  }

 private:
  // Where even a search from nothing leaves much, it may be unlucky: what is found elsewhere in the
  // chain is tried, and searched on from.
  void scout(std::vector<Station>& stations, std::size_t i) {
    const std::size_t n = stations.size();
    for (std::size_t j : {n - 1, n / 2, n / 4}) {
      if (j > i) search(stations[j].machine, stations[j].shape, {}, true);
    }
    Station& s = stations[i];
    Judged known = best_known(s.machine, s.shape, s.chosen.candidate, s.least * (1 + closed));
    if (known.better_than(s.chosen)) s.chosen = search(s.machine, s.shape, known, false);
  }

  // What was found later may be better for those before.
  void carry_back(std::vector<Station>& stations) {
    for (std::size_t i = stations.size(); i-- > 1;) {
      Station& s = stations[i - 1];
      const std::size_t next = stations[i].chosen.candidate;
      if (next == s.chosen.candidate || s.chosen.cost <= s.least * (1 + closed)) continue;
      if (!fits(next, s.machine)) continue;
      Judged other = judge(next, s.machine, s.shape);
      if (other.better_than(s.chosen)) s.chosen = std::move(other);
    }
  }

  double coarse_cost(std::size_t i, const Machine& machine) {
    Prediction p;
    p.traffic =
        window_traffic(contraction_, pool_[i].schedule, machine, counts_, 1, Detail::coarse);
    p.timing = timing(p.traffic, kernel_time(contraction_, pool_[i].schedule, machine), machine);
    return cost(p, machine, study_.schedule_objective());
  }

  // Whether the core has the candidate's kernel.
  bool fits(std::size_t i, const Machine& machine) const {
    return fits_core(contraction_, machine.core, pool_[i].found);
  }

  const Study& study_;
  const Contraction& contraction_;
  std::stop_token stop_;
  std::vector<Candidate> pool_;
  SharedCounts counts_;
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
  r.schedule = to_line(schedule, c);
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
    slot.value = optimize(study_.workloads[workload].contraction(),
                          study_.machines[machine].machine, options, stop_);
  });
  return slot.value;
}

std::optional<LeftOut> cannot_do(const Study& study, Anchors& anchors, const DesignPoint& design) {
  if (study.of_chains()) return lack_of_room(study, anchors, design);
  if (study.compute != Compute::predict) return {};
  // What was chosen for a machine fits into its registers, and then into as many or more.
  const Core &core = design.with.core, &base = study.machines[design.machine].machine.core;
  if (core.vector_registers.value >= base.vector_registers.value &&
      core.vector_bits.value >= base.vector_bits.value) {
    return {};
  }
  for (std::size_t w = 0; w < study.workloads.size(); ++w) {
    const Contraction& contraction = study.workloads[w].contraction();
    const Schedule& kept = anchors.at(design.machine, w).schedule;
    if (fits_registers(kept, core, contraction.type())) continue;
    return LeftOut{"the core has too few registers for the kernel of the schedule that is kept",
                   contraction.name()};
  }
  return {};
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

// Without those that are left out.
std::vector<DesignPoint> Evaluator::designs_of(const Chain& chain, std::int64_t most) {
  std::vector<DesignPoint> designs;
  for (std::int64_t d = chain.first; d < chain.first + std::min(chain.count, most); ++d) {
    LeftOut why;
    std::optional<DesignPoint> design = designs_.at(d, why);
    if (design && !cannot_do(study_, anchors_, *design)) designs.push_back(std::move(*design));
  }
  return designs;
}

ChainResult Evaluator::evaluate(std::int64_t number, std::int64_t most) {
  if (study_.of_chains()) return evaluate_levels(number, most);
  const Chain chain = chains_.at(number);
  const Contraction& contraction = study_.workloads[chain.workload].contraction();
  ChainResult result;
  result.chain = number;

  ChainWork work(study_, contraction, stop_);
  std::vector<Station> stations;
  for (DesignPoint& design : designs_of(chain, most)) {
    Station s{std::move(design), {}, "", 0, {}, false};
    s.machine = view_of_one_core(s.design.with);
    s.shape = geometry(s.machine);
    s.least = work.least(s.machine);
    stations.push_back(std::move(s));
  }
  if (!stations.empty()) {
    work.add(anchors_.at(chain.machine, chain.workload));
  }
  if (study_.compute == Compute::predict) {
    for (Station& s : stations) s.chosen = work.judge(0, s.machine, s.shape);
  } else {
    work.choose(stations);
  }
  const std::int64_t workloads = std::ssize(study_.workloads);
  for (Station& s : stations) {
    s.least = work.proven(s);
    const std::int64_t point =
        s.design.number * workloads + static_cast<std::int64_t>(chain.workload);
    const Schedule& schedule = work.schedule(s.chosen.candidate);
    result.points.push_back(result_of(study_, s, contraction, point, schedule));
    if (further_) further_(result.points.back(), contraction, schedule, s.machine);
  }
  return result;
}

}  // namespace tcsim
