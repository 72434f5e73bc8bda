#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <queue>
#include <tuple>

#include "core/levels/plan.hpp"
#include "core/model/countable.hpp"
#include "core/stop.hpp"
#include "core/units/divisor.hpp"

namespace tcsim::levels {

namespace {

std::size_t cell(int i) { return static_cast<std::size_t>(i); }

constexpr double never = std::numeric_limits<double>::infinity();
// Chains whose homes are all looked at.
constexpr std::size_t most_statements = 6;
// Of one part with its homes: geometric programs, and ways to split it.
constexpr int programs_of_a_part = 60, splits_of_a_part = 60;
// Of longer parts the prescription is improved, no programs are solved; and of as many variables at
// most two are changed at a time.
constexpr std::size_t most_searched = 8;
constexpr int most_paired = 120;
// Rounded tiles within so much of the best are improved step by step.
constexpr double worth_improving = 2;
// Up to here more steps of two variables are tried.
constexpr int few_variables = 20;
// Homes that are searched beside a plan's.
constexpr std::size_t most_rivals = 12;
// Nothing is sought below this much of the best.
constexpr double near_enough = 1e-4;

struct PartResult {
  std::optional<PlannedPart> plan;  // none where nothing fits
  double seconds = never;
  double bound = never;  // no schedule of the part takes less
};

// The best of one part whose homes are given.
class PartSearch {
 public:
  PartSearch(const OperationTree& tree, const Hierarchy& hierarchy, const Part& part,
             const Homes& homes, int& programs, int most_programs)
      : tree_(tree),
        hierarchy_(hierarchy),
        part_(part),
        homes_(homes),
        programs_(programs),
        most_(std::min(programs + programs_of_a_part, most_programs)),
        least_(compulsory(tree, hierarchy, homes, part).value()),
        rows_take_time_(std::ranges::any_of(
            hierarchy.levels, [](const auto& level) { return level.row > Seconds(0); })) {}

  // `start` may be empty.
  PartResult run(const std::optional<PlannedPart>& start) {
    search(start);
    if (result_.plan) even_out(*result_.plan, result_.seconds);
    return std::move(result_);
  }

 private:
  void search(const std::optional<PlannedPart>& start) {
    if (start) {
      result_.plan = start;
      result_.seconds = seconds_of(start->decisions, start->values);
      improve(*result_.plan, result_.seconds);
      reorder(*result_.plan, result_.seconds);
    }
    if (part_.size() > most_searched) {
      result_.bound = std::min(least_, result_.seconds);
      return;
    }
    double open = never;
    std::vector<std::vector<int>> left{{}};
    for (int tried = 0; !left.empty(); ++tried) {
      std::vector<int> splits = std::move(left.back());
      left.pop_back();
      const Shape shape = shape_of(tree_, hierarchy_, part_, homes_, {splits, {}});
      for (std::size_t s = splits.size(); s < shape.splits.size(); ++s) {
        for (int o = 0; o < shape.splits[s].options; ++o) {
          if (o == shape.splits[s].usual) continue;
          std::vector<int> other = splits;
          for (std::size_t before = splits.size(); before < s; ++before) {
            other.push_back(shape.splits[before].usual);
          }
          other.push_back(o);
          left.push_back(std::move(other));
        }
      }
      for (std::size_t s = splits.size(); s < shape.splits.size(); ++s) {
        splits.push_back(shape.splits[s].usual);
      }
      open = std::min(open, orders_of(splits));
      if (tried + 1 >= splits_of_a_part && !left.empty()) {
        open = std::min(open, least_);
        break;
      }
    }
    result_.bound = std::min(open, result_.seconds);
  }

  struct Open {
    double bound;
    std::vector<int> orders;
    bool operator<(const Open& o) const {
      // Of equal bounds the one that is further decided.
      return bound != o.bound ? bound > o.bound : orders.size() < o.orders.size();
    }
  };

  double goal() const { return result_.seconds * (1 - near_enough); }

  // Branch and bound over the orders of bands. Returns what no order takes less than.
  double orders_of(const std::vector<int>& splits) {
    std::priority_queue<Open> open;
    open.push({least_, {}});
    double closed = never;
    while (!open.empty()) {
      StopScope::heed();
      Open next = open.top();
      open.pop();
      if (next.bound >= goal() || programs_ >= most_) {
        return std::min(closed, next.bound);  // the others are no better
      }
      ++programs_;
      const Decisions d{splits, next.orders};
      const Shape shape = shape_of(tree_, hierarchy_, part_, homes_, d);
      const RelaxedShape problem = relaxed(tree_, hierarchy_, shape);
      const auto best =
          solve(problem.program, std::log(std::max(goal(), 1e-300) + problem.constant));
      if (!best) continue;  // nothing fits
      const double bound = std::max(next.bound, std::exp(best->log_bound) - problem.constant);
      if (shape.complete() || next.orders.empty()) {
        Decisions whole = d;
        for (std::size_t o = whole.orders.size(); o < shape.orders.size(); ++o) {
          whole.orders.push_back(shape.orders[o].usual);
        }
        round(shape, variables_of(shape, best->y), whole);
        if (rows_take_time_) {
          const auto long_rows = solve(with_all_rows(tree_, hierarchy_, shape).program);
          if (long_rows) round(shape, variables_of(shape, long_rows->y), whole);
        }
      }
      if (bound >= goal() || shape.complete()) {
        closed = std::min(closed, bound);
        continue;
      }
      for (std::size_t o = next.orders.size(); o < shape.orders.size(); ++o) {
        if (shape.orders[o].options == 1) {
          next.orders.push_back(0);
          continue;
        }
        for (int option = 0; option < shape.orders[o].options; ++option) {
          std::vector<int> orders = next.orders;
          orders.push_back(option);
          open.push({bound, std::move(orders)});
        }
        break;
      }
    }
    return closed;
  }

  double seconds_of(const Shape& shape, const Values& values) const {
    const Counts counts = count_for_time(tree_, hierarchy_, with_values(tree_, shape, values));
    if (!fits(hierarchy_, counts)) return never;
    return times(hierarchy_, counts).total().value();
  }
  double seconds_of(const Decisions& d, const Values& values) const {
    return seconds_of(shape_of(tree_, hierarchy_, part_, homes_, d), values);
  }

  // Real tiles as whole ones: down, so that they fit; then improved.
  void round(const Shape& relaxed_shape, const std::vector<double>& y, const Decisions& d) {
    const Shape shape = shape_of(tree_, hierarchy_, part_, homes_, d);
    const std::vector<double> real = moved_to(relaxed_shape, y, shape);
    PlannedPart plan{part_, d, Values(shape.variables.size(), 1)};
    for (std::size_t v = 0; v < plan.values.size(); ++v) {
      const auto whole = static_cast<std::int64_t>(std::exp(real[v]) + 1e-3);
      plan.values[v] = std::max<std::int64_t>(1, whole);
    }
    for (std::size_t v = 0; v < plan.values.size(); ++v) {
      const std::int64_t most = most_of(tree_, hierarchy_, shape, plan.values, static_cast<int>(v));
      plan.values[v] = std::clamp<std::int64_t>(plan.values[v], 1, std::max<std::int64_t>(most, 1));
    }
    double seconds = seconds_of(shape, plan.values);
    if (seconds == never) {
      for (int step = 0; step < 40 && seconds == never; ++step) {
        for (std::size_t v = 0; v < plan.values.size(); ++v) {
          if (shape.variables[v].processes) continue;
          plan.values[v] = std::max<std::int64_t>(1, plan.values[v] * 9 / 10);
        }
        seconds = seconds_of(shape, plan.values);
      }
    }
    if (seconds >= result_.seconds * worth_improving) return;
    improve(plan, seconds);
    if (seconds >= result_.seconds) return;
    reorder(plan, seconds);
    result_.plan = plan;
    result_.seconds = seconds;
  }

  // Other orders of bands with the same tiles, while they help: which array stays matters otherwise
  // where tiles are whole.
  void reorder(PlannedPart& plan, double& seconds) {
    for (bool helped = true; helped;) {
      helped = false;
      StopScope::heed();
      const Shape shape = shape_of(tree_, hierarchy_, part_, homes_, plan.decisions);
      for (std::size_t o = 0; o < shape.orders.size() && !helped; ++o) {
        for (int option = 0; option < shape.orders[o].options && !helped; ++option) {
          if (option == plan.decisions.orders[o]) continue;
          PlannedPart other = plan;
          other.decisions.orders[o] = option;
          const Shape there = shape_of(tree_, hierarchy_, part_, homes_, other.decisions);
          other.values = moved_to(shape, plan.values, there);
          double found = seconds_of(there, other.values);
          if (found >= seconds * (1 - 1e-9)) continue;
          improve(other, found);
          plan = std::move(other);
          seconds = found;
          helped = true;
        }
      }
    }
  }

  // An order changes the places of variables, but not what they are of.
  template <class T>
  static std::vector<T> moved_to(const Shape& from, const std::vector<T>& values, const Shape& to) {
    std::map<std::tuple<int, int, bool>, T> known;
    for (std::size_t v = 0; v < values.size(); ++v) {
      const Shape::Variable& of = from.variables[v];
      known[{of.band, of.index, of.processes}] = values[v];
    }
    std::vector<T> moved;
    for (const Shape::Variable& of : to.variables) {
      moved.push_back(known.at({of.band, of.index, of.processes}));
    }
    return moved;
  }

  // Steps of one variable, or of two that stand for one another, while they help.
  void improve(PlannedPart& plan, double& seconds) {
    const Shape shape = shape_of(tree_, hierarchy_, part_, homes_, plan.decisions);
    const int n = static_cast<int>(plan.values.size());
    for (bool helped = true; helped;) {
      helped = false;
      for (int v = 0; v < n; ++v) {
        StopScope::heed();
        const std::int64_t now = plan.values[cell(v)];
        const std::int64_t most = most_of(tree_, hierarchy_, shape, plan.values, v);
        const std::int64_t tiles = (most + now - 1) / std::max<std::int64_t>(now, 1);
        const std::int64_t fewer = tiles > 1 ? (most + tiles - 2) / (tiles - 1) : most;
        const std::int64_t even = (most + tiles - 1) / std::max<std::int64_t>(tiles, 1);
        for (std::int64_t to : {most, fewer, even, 2 * now, now + 1, now - 1, now / 2,
                                (most + 1) / 2, std::int64_t{1}}) {
          if (to < 1 || to > most || to == plan.values[cell(v)]) continue;
          helped |= attempt(shape, plan, seconds, v, to, -1, 0);
        }
        // Larger for another's account.
        for (int w = 0; w < n && n <= most_paired; ++w) {
          if (w == v || shape.variables[cell(w)].level != shape.variables[cell(v)].level) continue;
          if (shape.variables[cell(w)].processes != shape.variables[cell(v)].processes) continue;
          const std::int64_t mine = plan.values[cell(v)], other = plan.values[cell(w)];
          if (other == 1 || mine >= most) continue;
          helped |= attempt(shape, plan, seconds, v, std::min(most, 2 * mine), w,
                            std::max<std::int64_t>(1, other / 2));
          if (n > few_variables) continue;
          helped |= attempt(shape, plan, seconds, v, most, w, 1);
          helped |= attempt(shape, plan, seconds, v, plan.values[cell(v)] + 1, w,
                            std::max<std::int64_t>(1, plan.values[cell(w)] - 1));
        }
      }
    }
  }

  // Tiles of about one size instead of large ones and a small rest, where that takes no longer:
  // they take less of the levels, and files' chunks have less beyond a tensor's end.
  void even_out(PlannedPart& plan, double& seconds) const {
    const Shape shape = shape_of(tree_, hierarchy_, part_, homes_, plan.decisions);
    for (bool changed = true; changed;) {
      changed = false;
      StopScope::heed();
      for (std::size_t v = 0; v < plan.values.size(); ++v) {
        if (shape.variables[v].processes) continue;
        const std::int64_t most =
            most_of(tree_, hierarchy_, shape, plan.values, static_cast<int>(v));
        const std::int64_t before = plan.values[v], even = ceil_div(most, ceil_div(most, before));
        if (even == before) continue;
        plan.values[v] = even;
        const double found = seconds_of(shape, plan.values);
        if (found <= seconds) {
          seconds = found;
          changed = true;
        } else {
          plan.values[v] = before;
        }
      }
    }
  }

  bool attempt(const Shape& shape, PlannedPart& plan, double& seconds, int v, std::int64_t to,
               int w, std::int64_t other) const {
    const std::int64_t before = plan.values[cell(v)];
    const std::int64_t beside = w < 0 ? 0 : plan.values[cell(w)];
    plan.values[cell(v)] = to;
    if (w >= 0) plan.values[cell(w)] = other;
    double found = never;
    if (w < 0 || to <= most_of(tree_, hierarchy_, shape, plan.values, v)) {
      found = seconds_of(shape, plan.values);
    }
    if (found < seconds * (1 - 1e-9)) {
      seconds = found;
      return true;
    }
    plan.values[cell(v)] = before;
    if (w >= 0) plan.values[cell(w)] = beside;
    return false;
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  const Part& part_;
  const Homes& homes_;
  int& programs_;
  const int most_;
  const double least_;
  const bool rows_take_time_;
  PartResult result_;
};

std::vector<int> joining(const OperationTree& tree) {
  std::vector<int> arrays;
  for (int a = 0; a < static_cast<int>(tree.arrays.size()); ++a) {
    if (tree.array(a).is_intermediate()) arrays.push_back(a);
  }
  return arrays;
}

// With what they have to move at least.
std::pair<double, Homes> with_least(const OperationTree& tree, const Hierarchy& hierarchy,
                                    Homes homes) {
  double least = 0;
  for (const Part& part : parts_of(tree, hierarchy, homes)) {
    least += compulsory(tree, hierarchy, homes, part).value();
  }
  return {least, std::move(homes)};
}

// All ways to give intermediates a home, those with the least to move first.
std::vector<std::pair<double, Homes>> ways(const OperationTree& tree, const Hierarchy& hierarchy,
                                           const Homes& prescribed) {
  const std::vector<int> arrays = joining(tree);
  std::vector<Homes> all;
  if (tree.statements.size() <= most_statements) {
    Homes homes = unfused(tree, hierarchy);
    for (int a : arrays) homes[cell(a)] = 0;
    for (bool more = true; more;) {
      all.push_back(homes);
      more = false;
      for (int a : arrays) {
        if (++homes[cell(a)] <= hierarchy.links()) {
          more = true;
          break;
        }
        homes[cell(a)] = 0;
      }
    }
  } else {
    all.push_back(prescribed);
    for (int home = 0; home <= hierarchy.links(); ++home) {
      Homes homes = unfused(tree, hierarchy);
      for (int a : arrays) homes[cell(a)] = home;
      all.push_back(homes);
    }
  }
  std::vector<std::pair<double, Homes>> ways;
  for (Homes& homes : all) {
    if (!has_room(tree, hierarchy, homes)) continue;
    ways.push_back(with_least(tree, hierarchy, std::move(homes)));
  }
  std::ranges::stable_sort(ways, {}, &std::pair<double, Homes>::first);
  return ways;
}

// A part with its homes, as what it has in common with the same part of other ways.
std::vector<int> key_of(const OperationTree& tree, const Part& part, const Homes& homes) {
  std::vector<int> key = part;
  key.push_back(-1);
  for (int s : part) key.push_back(homes[cell(tree.statement(s).out)]);
  return key;
}

}  // namespace

// What the plan's decisions choose from depends on capacities, so the schedule is not made anew
// from them.
LevelPlan plan_on(const OperationTree& tree, const Hierarchy& hierarchy, LevelPlan plan) {
  const auto* all = std::get_if<Sequence>(&plan.node.is);
  plan.times = {};
  if (plan.parts.size() == 1 || all == nullptr) {
    plan.times += times(hierarchy, count(tree, hierarchy, plan.node));
  } else {
    for (const Node& part : all->parts) {
      plan.times += times(hierarchy, count(tree, hierarchy, part));
    }
  }
  plan.counts = count(tree, hierarchy, plan.node);
  return plan;
}

LevelPlan best_of(const OperationTree& tree, const Hierarchy& hierarchy, const LevelPlan& plan,
                  const std::vector<LevelPlan>& others) {
  LevelPlan best = plan;
  for (const LevelPlan& other : others) {
    if (!fits(hierarchy, other.counts) || !has_room(tree, hierarchy, other.homes)) continue;
    LevelPlan there = plan_on(tree, hierarchy, other);
    if (there.time() < best.time()) best = std::move(there);
  }
  return best;
}

LevelOptimum optimum(const OperationTree& tree, const Hierarchy& hierarchy,
                     const OptimumOptions& options) {
  const LevelPlan start =
      options.homes ? prescribe(tree, hierarchy, *options.homes) : prescribe(tree, hierarchy);
  LevelOptimum best{start, Seconds(never), 0};
  best.plan = best_of(tree, hierarchy, best.plan, options.incumbents);
  std::map<std::vector<int>, PartResult> known;
  const auto all = options.homes ? std::vector{with_least(tree, hierarchy, start.homes)}
                                 : ways(tree, hierarchy, start.homes);
  double bound = never;
  if (tree.statements.size() > most_statements) bound = all.front().first;
  for (std::size_t w = 0; w < all.size(); ++w) {
    StopScope::heed();
    if (options.progress) {
      options.progress(static_cast<double>(w) / static_cast<double>(all.size()));
    }
    const auto& [least, homes] = all[w];
    if (least >= best.plan.time().value() * (1 - near_enough)) {
      bound = std::min(bound, least);
      break;  // no later one can be better
    }
    double seconds = 0, below = 0;
    std::vector<PlannedPart> parts;
    for (const Part& part : parts_of(tree, hierarchy, homes)) {
      const std::vector<int> key = key_of(tree, part, homes);
      auto found = known.find(key);
      if (found == known.end()) {
        std::optional<PlannedPart> from;
        for (const PlannedPart& p : start.parts) {
          if (p.part == part && key_of(tree, part, start.homes) == key) from = p;
        }
        if (!from) {
          try {
            Homes alone = unfused(tree, hierarchy);
            for (int s : part) {
              const int made = tree.statement(s).out;
              alone[cell(made)] = homes[cell(made)];
            }
            for (const PlannedPart& p : prescribe(tree, hierarchy, alone).parts) {
              if (p.part == part) from = p;
            }
          } catch (const TooLargeError&) {
            throw;
          } catch (const UnsupportedError&) {
            // Its tiles do not fit: the search says so as well.
          }
        }
        PartSearch search(tree, hierarchy, part, homes, best.programs, options.most_programs);
        found = known.emplace(key, search.run(from)).first;
      }
      const PartResult& result = found->second;
      seconds += result.seconds;
      below += result.bound;
      if (result.plan) parts.push_back(*result.plan);
    }
    bound = std::min(bound, std::max(below, least));
    if (seconds >= best.plan.time().value()) continue;
    best.plan = plan_of(tree, hierarchy, homes, std::move(parts));
  }
  best.bound = Seconds(std::min(bound, best.plan.time().value()));
  return best;
}

std::vector<LevelPlan> rivals(const OperationTree& tree, const Hierarchy& hierarchy,
                              const LevelPlan& plan, double within,
                              const std::function<void(double share)>& progress) {
  const double most = plan.time().value() * (1 + within);
  auto all = ways(tree, hierarchy, plan.homes);
  std::erase_if(all, [&](const auto& way) {
    return way.first > most || way.second == plan.homes;  // none of these takes less
  });
  all.resize(std::min(all.size(), most_rivals));
  std::vector<LevelPlan> found;
  for (std::size_t w = 0; w < all.size(); ++w) {
    const auto& [least, homes] = all[w];
    if (progress) progress(static_cast<double>(w) / static_cast<double>(all.size()));
    OptimumOptions options;
    options.homes = homes;
    try {
      LevelPlan rival = optimum(tree, hierarchy, options).plan;
      if (rival.time().value() <= most) found.push_back(std::move(rival));
    } catch (const TooLargeError&) {
      throw;
    } catch (const UnsupportedError&) {
      // There is no room for it.
    }
  }
  std::ranges::stable_sort(found, {}, &LevelPlan::time);
  return found;
}

LevelWays compare(const OperationTree& tree, const Hierarchy& hierarchy,
                  const OptimumOptions& options) {
  LevelWays ways{optimum(tree, hierarchy, options), prescribe(tree, hierarchy), {}};
  try {
    ways.unfused = prescribe(tree, hierarchy, unfused(tree, hierarchy));
  } catch (const UnsupportedError&) {
    // There is no room for it.
  }
  return ways;
}

}  // namespace tcsim::levels
