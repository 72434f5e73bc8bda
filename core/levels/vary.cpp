#include "core/levels/vary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "core/error.hpp"
#include "core/explore/pareto.hpp"
#include "core/machine/machine.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"

namespace tcsim::levels {

namespace {

// Of a value, how near a crossover is looked for; and how often the distance is halved at most.
constexpr double crossover_within = 0.01;
constexpr int most_halvings = 10;
// Of a time, how far another may be to be as good: searches differ by as much.
constexpr double same_time = 0.001;

std::optional<LevelOptimum> answer_on(const OperationTree& tree, const Hierarchy& hierarchy,
                                      const OptimumOptions& options) {
  try {
    return optimum(tree, hierarchy, options);
  } catch (const UnsupportedError&) {
    return {};  // no tiles fit
  }
}

}  // namespace

std::string slowest_name(const Hierarchy& hierarchy, const LevelPlan& plan) {
  const int slowest = plan.times.bottleneck();
  return slowest == hierarchy.links() ? "arithmetic" : hierarchy.link(slowest);
}

std::string homes_text(const OperationTree& tree, const Hierarchy& hierarchy,
                       const LevelPlan& plan) {
  std::string text;
  for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
    if (!tree.arrays[a].is_intermediate()) continue;
    text += fmt::format("{}{} in {}", text.empty() ? "" : ", ", tree.arrays[a].name,
                        hierarchy.level(plan.homes[a]).name);
  }
  return text;
}

std::string state_text(const OperationTree& tree, const Hierarchy& hierarchy,
                       const LevelPlan& plan) {
  const std::string homes = homes_text(tree, hierarchy, plan);
  return slowest_name(hierarchy, plan) + (homes.empty() ? "" : ", " + homes);
}

namespace {

class Varied {
 public:
  Varied(const OperationTree& tree, const Machine& machine, const std::vector<KnobRange>& ranges,
         const VaryOptions& options)
      : tree_(tree), machine_(machine), ranges_(ranges), options_(options) {
    std::size_t machines = 1;
    for (const KnobRange& r : ranges) {
      grid_.knobs.push_back(r.knob);
      machines *= r.values.size();
      if (std::ranges::count(ranges, r.knob.name, [](const auto& o) { return o.knob.name; }) > 1) {
        throw UsageError("--vary", r.knob.name + " varies twice", "vary different knobs");
      }
      if (machines <= most_machines) continue;
      throw UsageError("--vary", fmt::format("these are more than {} machines", most_machines),
                       "give fewer values of each knob");
    }
    if (ranges.empty()) throw UsageError("--vary", "no knob varies", "name one");
    for (std::size_t i = 0; i < machines; ++i) grid_.points.push_back({values_at(i), {}, {}});
  }

  LevelGrid run() {
    try {
      for (std::size_t i = 0; i < grid_.points.size(); ++i) {
        look(grid_.points[i]);
        show(i + 1);
      }
    } catch (const Interrupted&) {
      grid_.complete = false;
      std::erase_if(grid_.points, [](const LevelPoint& p) { return p.state.empty(); });
    }
    // What a later machine found may be good for an earlier one.
    for (LevelPoint& p : grid_.points) {
      if (!p.answer) continue;
      const Hierarchy h = at(p.values);
      p.answer->plan = best_of(tree_, h, p.answer->plan, found_[processes(h)]);
      p.answer->bound = std::min(p.answer->bound, p.answer->plan.time());
      p.state = state_text(tree_, h, p.answer->plan);
    }
    mark_front();
    if (!grid_.complete) return std::move(grid_);
    try {
      for (std::size_t i = 0; i < grid_.points.size(); ++i) cross(i);
    } catch (const Interrupted&) {
      grid_.complete = false;
    }
    return std::move(grid_);
  }

 private:
  std::vector<double> values_at(std::size_t i) const {
    std::vector<double> values(ranges_.size());
    for (std::size_t k = ranges_.size(); k-- > 0;) {
      values[k] = ranges_[k].values[i % ranges_[k].values.size()];
      i /= ranges_[k].values.size();
    }
    return values;
  }

  Machine machine_at(const std::vector<double>& values) const {
    Machine m = machine_;
    for (std::size_t k = 0; k < values.size(); ++k) m = with_knob(m, ranges_[k].knob, values[k]);
    return m;
  }
  Hierarchy at(const std::vector<double>& values) const {
    Hierarchy h = hierarchy(machine_at(values), tree_.arrays.front().element);
    h.overlap = options_.overlap;
    return h;
  }
  static std::vector<std::int64_t> processes(const Hierarchy& h) {
    std::vector<std::int64_t> all;
    for (const Hierarchy::Level& l : h.levels) all.push_back(l.instances);
    return all;
  }

  // The optimum there, or why there is none.
  void look(LevelPoint& p) {
    StopScope::heed();
    const Machine m = machine_at(p.values);
    try {
      check(m, "");
    } catch (const Error& e) {
      p.is_machine = false;
      p.state = e.problem();
      return;
    }
    const Hierarchy h = at(p.values);
    std::vector<LevelPlan>& found = found_[processes(h)];
    OptimumOptions search = options_.search;
    search.progress = {};
    if (processes(h) != processes(at_base())) search.incumbents.clear();
    search.incumbents.insert(search.incumbents.end(), found.begin(), found.end());
    p.answer = answer_on(tree_, h, search);
    p.state = p.answer ? state_text(tree_, h, p.answer->plan) : "nothing fits";
    if (options_.cost) p.cost = options_.cost(m);
    if (!p.answer) return;
    const bool known = std::ranges::any_of(
        found, [&](const LevelPlan& other) { return other.node == p.answer->plan.node; });
    if (!known) found.push_back(p.answer->plan);
  }
  Hierarchy at_base() const { return hierarchy(machine_, tree_.arrays.front().element); }

  void show(std::size_t done) const {
    if (!options_.search.progress) return;
    options_.search.progress(static_cast<double>(done) /
                             static_cast<double>(grid_.points.size() + 1));
  }

  void mark_front() {
    ParetoFrontOf<std::vector<double>> front;
    for (std::size_t i = 0; i < grid_.points.size(); ++i) {
      const LevelPoint& p = grid_.points[i];
      if (!p.answer) continue;
      std::vector<double> numbers{std::round(std::log(p.answer->plan.time().value()) / same_time)};
      if (options_.cost) {
        numbers.push_back(p.cost);
      } else {
        for (std::size_t k = 0; k < p.values.size(); ++k) {
          numbers.push_back(ranges_[k].knob.sense == Sense::worse ? -p.values[k] : p.values[k]);
        }
      }
      front.add(static_cast<std::int64_t>(i), numbers);
    }
    for (const auto& e : front.entries()) {
      grid_.points[static_cast<std::size_t>(e.design)].front = true;
    }
  }

  // Between a point and those before it along each knob.
  void cross(std::size_t i) {
    std::size_t stride = 1;
    for (std::size_t k = ranges_.size(); k-- > 0;) {
      const std::size_t size = ranges_[k].values.size();
      if (i / stride % size > 0) cross(grid_.points[i - stride], grid_.points[i], k);
      stride *= size;
    }
  }
  void cross(LevelPoint low, LevelPoint high, std::size_t k) {
    if (low.state == high.state || !low.is_machine || !high.is_machine) return;
    const std::string from = low.state;
    const Knob& knob = ranges_[k].knob;
    for (int i = 0; i < most_halvings && high.values[k] > low.values[k] * (1 + crossover_within);
         ++i) {
      LevelPoint middle{low.values, {}, {}};
      middle.values[k] = std::sqrt(low.values[k] * high.values[k]);
      middle.values[k] = value_of(with_knob(machine_, knob, middle.values[k]), knob);
      if (middle.values[k] <= low.values[k] || middle.values[k] >= high.values[k]) break;
      look(middle);
      if (!middle.is_machine) break;
      (middle.state == from ? low : high) = std::move(middle);
    }
    grid_.crossovers.push_back({static_cast<int>(k), high.values, from, high.state});
  }

  const OperationTree& tree_;
  const Machine& machine_;
  const std::vector<KnobRange>& ranges_;
  const VaryOptions& options_;
  std::map<std::vector<std::int64_t>, std::vector<LevelPlan>> found_;  // by processes of each level
  LevelGrid grid_;
};

}  // namespace

LevelGrid vary(const OperationTree& tree, const Machine& machine,
               const std::vector<KnobRange>& ranges, const VaryOptions& options) {
  return Varied(tree, machine, ranges, options).run();
}

std::vector<LevelChange> changes(const OperationTree& tree, const Hierarchy& hierarchy,
                                 const LevelOptimum& base, const OptimumOptions& options) {
  std::vector<LevelChange> all;
  const auto add = [&](std::string what, const Hierarchy& h, bool same_processes) {
    StopScope::heed();
    OptimumOptions with = options;
    with.progress = {};
    if (same_processes) with.incumbents.push_back(base.plan);
    all.push_back({std::move(what), answer_on(tree, h, with)});
  };
  for (int l = 0; l < hierarchy.links(); ++l) {
    const Hierarchy::Level& level = hierarchy.level(l);
    for (const double factor : {0.5, 2.0}) {
      if (level.capacity == Bytes(0)) continue;
      Hierarchy h = hierarchy;
      const double bytes = static_cast<double>(level.capacity.value()) * factor;
      if (bytes < 1 || bytes >= 0x1p62) continue;
      h.levels[static_cast<std::size_t>(l)].capacity = Bytes(static_cast<std::int64_t>(bytes));
      add(fmt::format("{} of {}", level.name,
                      to_display(h.levels[static_cast<std::size_t>(l)].capacity)),
          h, true);
    }
    Hierarchy h = hierarchy;
    h.levels[static_cast<std::size_t>(l)].bandwidth = 2.0 * level.bandwidth;
    add(fmt::format("{} twice as fast", hierarchy.link(l)), h, true);
    if (level.instances == 1) continue;
    h = hierarchy;
    h.levels[static_cast<std::size_t>(l)].instances *= 2;
    add(fmt::format("{} instances of {}", h.instances(l), level.name), h, false);
  }
  return all;
}

}  // namespace tcsim::levels
