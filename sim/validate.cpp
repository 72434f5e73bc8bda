#include "sim/validate.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>
#include <mutex>
#include <utility>

#include "core/error.hpp"
#include "core/machine/share.hpp"
#include "core/model/kernel_time.hpp"
#include "core/plan/plan.hpp"
#include "core/threads.hpp"
#include "core/units/divisor.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

namespace {

constexpr double noticeable = 0.02;  // part of a time
constexpr std::int64_t more_ways = 8, more_capacity = 2;
// A trial simulates one of so many shares of the sets. Source: a walk of the plan takes about a
// sixth of a simulation, so smaller shares are hardly quicker.
constexpr std::int64_t shares = 8;
// And where lines are elements, of so many for each element of a line.
constexpr std::int64_t shares_of_elements = 4;
// Which one: not the first, where small arrays lie, since all begin at the same sets. Source: of
// the numbers 0 and 5 the one whose errors were nearer to those of all sets.
constexpr std::int64_t share_number = 5;
// How many lines may be simulated in all trials, for each that the simulation itself has.
constexpr double most_lines_in_trials = 1;

void set_shape(Level& level, std::int64_t sets, std::int64_t ways, Bytes line) {
  level.ways.value = ways;
  level.line.value = line;
  level.capacity.value = sets * ways * line;
}

// The machine without the cause; the same one for causes that lie elsewhere.
Machine without(Cause cause, Machine machine, Bytes element) {
  for (Level& level : machine.levels) {
    if (level.kind != LevelKind::cache) continue;
    const std::int64_t sets = level.sets(), ways = level.ways.value;
    const Bytes line = level.line.value;
    if (cause == Cause::inclusion) {
      if (level.inclusion.value == Inclusion::inclusive) level.inclusion.value = Inclusion::neither;
    } else if (cause == Cause::conflict) {
      std::int64_t fewer = more_ways;
      while (sets % fewer != 0) fewer /= 2;
      set_shape(level, sets / fewer, ways * fewer, line);
    } else if (cause == Cause::lru_interference) {
      set_shape(level, sets, ways * more_capacity, line);
    } else if (cause == Cause::line_granularity) {
      set_shape(level, sets * (line / element), ways, element);
    }
  }
  return machine;
}

Bytes counted_of_kernels(const LinkTraffic& link, const Accounting& accounting) {
  Bytes sum;
  for (ArrayId a : link.arrays.ids()) {
    const Moved& moved = link.at(Phase::compute, a);
    sum += moved.in;
    if (accounting.write_backs) sum += moved.out;
  }
  return sum;
}

Bytes of_tensor(const LinkTraffic& link, const Accounting& accounting, TensorId t) {
  Bytes sum;
  for (ArrayId a : link.arrays.ids()) {
    if (link.arrays.tensor_of(a) == t) sum += link.counted(accounting, a);
  }
  return sum;
}

// Both answers about one schedule on one machine.
struct Answers {
  Traffic predicted, simulated;
};

class Judge {
 public:
  Judge(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
        const ValidateOptions& options)
      : contraction_(contraction),
        schedule_(schedule),
        machine_(view_of_one_core(machine)),
        options_(options) {}

  Validated judge() {
    const Answers as_is = ask(schedule_, machine_);
    const Seconds compute = kernel_time(contraction_, schedule_, machine_);
    Validated v{contraction_.name(),
                schedule_,
                {},
                timing(as_is.predicted, compute, machine_).total,
                timing(as_is.simulated, compute, machine_).total};
    for (std::size_t l = 1; l < machine_.levels.size(); ++l) {
      const LinkTraffic &p = as_is.predicted.links[l], &s = as_is.simulated.links[l];
      const Accounting& counts = machine_.accounting;
      ValidatedLink link;
      link.level = LevelId{static_cast<int>(l)};
      link.explain = options_.explain;
      link.all = {p.counted(counts), s.counted(counts)};
      for (TensorId t : all_tensors) {
        link.by_tensor[t] = {of_tensor(p, counts, t), of_tensor(s, counts, t)};
      }
      v.links.push_back(std::move(link));
    }
    for (Cause cause : all_causes) {
      if (std::ranges::any_of(v.links, open)) take_away(cause, as_is, v.links);
    }
    return v;
  }

 private:
  // Whether a gap still has no reason.
  static bool open(const ValidatedLink& link) {
    return std::abs(link.all.error()) > link.explain && !link.reason();
  }

  Traffic predicted(const Schedule& schedule, const Machine& machine) const {
    return predict(contraction_, schedule, machine, options_.model).traffic;
  }

  SimulationOptions how() const {
    SimulationOptions how;
    how.stop = options_.stop;
    how.threads = options_.threads;
    how.progress = options_.progress;
    return how;
  }

  Answers ask(const Schedule& schedule, const Machine& machine) const {
    return {predicted(schedule, machine),
            simulate(Plan(contraction_, schedule), machine, how()).traffic};
  }

  // What all sets count, by a share of them; nothing if that is beyond the budget.
  std::optional<Answers> ask_share(const Schedule& schedule, const Machine& machine) {
    const sim::SystemConfig config = sim::system_of(machine);
    const auto longer = static_cast<std::int64_t>(machine_.levels.front().line.value /
                                                  machine.levels.front().line.value);
    const std::int64_t wanted = longer > 1 ? shares_of_elements * longer : shares;
    const std::int64_t of = std::min(wanted, most_shares(config));
    const Share share{of * share_number / shares, of};
    const double cost = static_cast<double>(longer) / static_cast<double>(share.of);
    if (spent_ + cost > most_lines_in_trials) return {};
    spent_ += cost;
    const Plan plan(contraction_, schedule);
    Traffic counted = simulate_share(plan, config, share, how());
    for (std::size_t l = 1; l < counted.links.size(); ++l) {
      LinkTraffic& link = counted.links[l];
      for (ArrayId a : link.arrays.ids()) {
        const Bytes size = plan.size(a), part = bytes_in(config, share, plan.base(a), size);
        if (part == Bytes(0)) continue;
        const double weight = static_cast<double>(size.value()) / static_cast<double>(part.value());
        for (Phase p : all_phases) {
          Moved& moved = link.at(p, a);
          moved = {scaled(moved.in, weight), scaled(moved.out, weight)};
        }
      }
    }
    return Answers{predicted(schedule, machine), std::move(counted)};
  }

  static Bytes scaled(Bytes bytes, double by) {
    return Bytes(std::llround(static_cast<double>(bytes.value()) * by));
  }

  void take_away(Cause cause, const Answers& as_is, std::vector<ValidatedLink>& links) {
    const bool kernels_alone = cause == Cause::packing;
    Answers answers;
    if (kernels_alone) {
      if (!machine_.accounting.packing) return;
      answers = as_is;
    } else {
      const Schedule schedule =
          cause == Cause::partial_tiles ? with_dividing_tiles(contraction_, schedule_) : schedule_;
      const Machine machine = without(cause, machine_, size_of(contraction_.type()));
      if (schedule == schedule_ && machine == machine_) return;  // it is not there
      if (options_.whole_trials) {
        answers = ask(schedule, machine);
      } else if (auto by_share = ask_share(schedule, machine)) {
        answers = *std::move(by_share);
      } else {
        return;
      }
    }
    for (ValidatedLink& link : links) {
      if (!open(link)) continue;
      const auto l = static_cast<std::size_t>(index(link.level));
      const auto bytes = [&](const Traffic& t) {
        return kernels_alone ? counted_of_kernels(t.links[l], machine_.accounting)
                             : t.links[l].counted(machine_.accounting);
      };
      link.tried.push_back(
          {cause, Compared{bytes(answers.predicted), bytes(answers.simulated)}.error()});
    }
  }

  const Contraction& contraction_;
  const Schedule& schedule_;
  Machine machine_;
  const ValidateOptions& options_;
  double spent_ = 0;  // of most_lines_in_trials
};

// The divisor of `range` nearest to `tile` by ratio, a multiple of `unit`; `tile` if there is none.
std::int64_t fitting_tile(std::int64_t range, std::int64_t tile, std::int64_t unit) {
  if (range % unit != 0) return tile;
  return unit *
         nearest_divisor(range / unit, static_cast<double>(tile) / static_cast<double>(unit));
}

void divide(Node& node, ByGroup<std::int64_t> ranges, const ByGroup<std::int64_t>& units) {
  if (auto* loop = std::get_if<Loop>(&node.is)) {
    const DimClass g = loop->group;
    // The register loops' tiles are the kernel's.
    const std::int64_t tile = std::min(loop->tile.value(), ranges[g]);
    const std::int64_t fitting = tile <= units[g] ? tile : fitting_tile(ranges[g], tile, units[g]);
    loop->tile = Elements(fitting);
    ranges[g] = fitting;
    divide(*loop->body, ranges, units);
  } else if (auto* seq = std::get_if<Seq>(&node.is)) {
    for (Seq::Part& part : seq->parts) divide(part.node, ranges, units);
  } else if (auto* move = std::get_if<Move>(&node.is)) {
    divide(*move->body, ranges, units);
  }
}

// Adds up what workloads that run at the same time have done.
class SharedProgress {
 public:
  SharedProgress(std::span<const Contraction> workloads, const ValidateOptions& options)
      : options_(options), done_(workloads.size()) {
    for (const Contraction& c : workloads) flops_.push_back(c.flops());
    for (double f : flops_) all_ += f;
  }

  // A workload that looks for reasons goes over its work several times: only the first counts.
  void show(std::size_t workload, double share) {
    if (!options_.progress) return;
    const std::lock_guard lock(mutex_);
    done_[workload] = std::max(done_[workload], share);
    double sum = 0;
    for (std::size_t i = 0; i < done_.size(); ++i) sum += done_[i] * flops_[i];
    options_.progress(sum / all_);
  }

 private:
  const ValidateOptions& options_;
  std::vector<double> flops_, done_;
  double all_ = 0;
  std::mutex mutex_;
};

}  // namespace

const char* to_text(Cause cause) {
  switch (cause) {
    case Cause::inclusion:
      return "inclusion";
    case Cause::packing:
      return "packing";
    case Cause::partial_tiles:
      return "partial tiles";
    case Cause::conflict:
      return "conflict";
    case Cause::lru_interference:
      return "LRU interference";
    case Cause::line_granularity:
      return "line granularity";
  }
  return "";
}

double Compared::error() const {
  if (predicted == simulated) return 0;
  if (simulated == Bytes(0)) return std::numeric_limits<double>::infinity();
  return static_cast<double>((predicted - simulated).value()) /
         static_cast<double>(simulated.value());
}

std::optional<Cause> ValidatedLink::reason() const {
  for (const Trial& t : tried) {
    if (std::abs(t.error) <= explain) return t.cause;
  }
  return {};
}

std::optional<Cause> ValidatedLink::main_reason() const {
  std::optional<Cause> cause;
  double least = std::abs(all.error()) / 2;
  for (const Trial& t : tried) {
    if (std::abs(t.error) > least) continue;
    least = std::abs(t.error);
    cause = t.cause;
  }
  return cause;
}

std::string reason_text(const ValidatedLink& link) {
  if (std::abs(link.all.error()) <= link.explain) return "";
  if (const auto cause = link.reason()) return to_text(*cause);
  if (const auto cause = link.main_reason()) return std::string("mostly ") + to_text(*cause);
  return "unexplained";
}

Validated validate(const Contraction& contraction, const Schedule& schedule, const Machine& machine,
                   const ValidateOptions& options) {
  return Judge(contraction, schedule, machine, options).judge();
}

std::vector<Validated> validate(std::span<const Contraction> workloads, const Machine& machine,
                                const ChooseSchedule& choose, const ValidateOptions& options) {
  std::vector<std::optional<Validated>> done(workloads.size());
  std::vector<std::exception_ptr> errors(workloads.size());
  SharedProgress progress(workloads, options);
  const auto count = static_cast<int>(workloads.size());
  const int at_once = std::clamp(options.threads, 1, std::max(1, count));
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> failed = false;
  const auto work = [&] {
    for (std::size_t i = next++; i < workloads.size() && !failed; i = next++) {
      ValidateOptions one = options;
      one.threads = std::max(1, options.threads / at_once);
      one.progress = [&, i](double share) { progress.show(i, share); };
      try {
        if (options.stop.stop_requested()) throw Interrupted();
        done[i] = validate(workloads[i], choose(workloads[i]), machine, one);
        progress.show(i, 1);
      } catch (const Interrupted&) {
        return;
      } catch (...) {
        errors[i] = std::current_exception();
        failed = true;
      }
    }
  };
  run_on_threads(at_once, work);
  for (const std::exception_ptr& e : errors) {
    if (e) std::rethrow_exception(e);
  }
  std::vector<Validated> complete;
  for (std::optional<Validated>& v : done) {
    if (v) complete.push_back(std::move(*v));
  }
  return complete;
}

ValidationSummary summary(std::span<const Validated> all) {
  std::vector<double> errors;
  for (const Validated& v : all) {
    for (const ValidatedLink& link : v.links) errors.push_back(std::abs(link.all.error()));
  }
  if (errors.empty()) return {};
  std::ranges::sort(errors);
  const std::size_t n = errors.size();
  const double median = n % 2 == 1 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
  ValidationSummary s{n, median, errors[(9 * n + 9) / 10 - 1], errors.back()};
  for (const Validated& v : all) {
    if (std::abs(v.predicted / v.simulated - 1) > noticeable) ++s.time_off_2_percent;
    if (v.simulated / v.predicted - 1 > noticeable) ++s.time_above_2_percent;
  }
  return s;
}

Schedule with_dividing_tiles(const Contraction& contraction, const Schedule& schedule) {
  const Path path = only_path(contraction, schedule);
  Schedule divided = schedule;
  ByGroup<std::int64_t> units{path.mr, path.nr, 1, 1};
  // The tiles of a range that two kernels cover add up as they are.
  for (const Step& s : path.steps) {
    if (s.head > 0) units[s.group] = path.extents[s.group];
  }
  divide(divided.root, path.extents, units);
  return divided;
}

}  // namespace tcsim
