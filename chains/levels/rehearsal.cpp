#include "chains/levels/rehearsal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "chains/leaves.hpp"
#include "chains/levels/level_schedules.hpp"
#include "chains/levels/tally.hpp"
#include "chains/tensors.hpp"
#include "core/error.hpp"
#include "core/io/available_memory.hpp"
#include "core/plan/arrays.hpp"
#include "core/stop.hpp"
#include "core/units/divisor.hpp"
#include "core/units/text.hpp"
#include "kernels/memory.hpp"

namespace tcsim::chains {

using fusion::Leaf;
using fusion::OperationTree;
using fusion::Range;
using fusion::Ranges;
using levels::Hierarchy;
using levels::Hold;
using levels::LevelPlan;
using levels::Loop;
using levels::Node;
using levels::Sequence;

namespace {

// A tile is run until this has passed and it was run so often, or this often in all; one that takes
// long once.
constexpr Seconds long_enough{0.004}, is_long{0.05};
constexpr std::size_t at_least = 3, often_enough = 15;
// Of what others took of the arithmetic that was predicted of them, the share that a rival may do
// with: what it moves is its own.
constexpr double most_saved = 0.5;

using Key = std::pair<Leaf, bool>;  // and whether its result begins

// Enters each loop once with its whole tile and once with what is left, and counts how often the
// first process does so.
class LeafCounter {
 public:
  explicit LeafCounter(const OperationTree& tree)
      : tree_(tree), ranges_(fusion::all_of(tree)), held_(tree.arrays.size()) {}

  std::map<Key, double> of(const Node& node) {
    visit(node, 1);
    return std::move(times_);
  }

 private:
  void visit(const Node& node, double times) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      Range& range = ranges_[static_cast<std::size_t>(loop->index)];
      const Range around = range;
      const std::int64_t whole = around.size / loop->tile, rest = around.size % loop->tile;
      if (whole > 0) {
        range.size = loop->tile;
        visit(*loop->body, times * static_cast<double>(ceil_div(whole, loop->processes)));
      }
      if (rest > 0 && whole % loop->processes == 0) {
        range.size = rest;
        visit(*loop->body, times);
      }
      range = around;
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) visit(part, times);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      const Ranges before = std::exchange(held_[static_cast<std::size_t>(hold->array)], ranges_);
      visit(*hold->body, times);
      held_[static_cast<std::size_t>(hold->array)] = before;
    } else {
      const int s = std::get<levels::Do>(node.is).statement;
      times_[{fusion::leaf_at(tree_, s, ranges_, held_).leaf, begins(s)}] += times;
    }
  }

  // Whether all of its sum is done at once.
  bool begins(int s) const {
    const fusion::IndexSet own = tree_.array(tree_.statement(s).out).set();
    return std::ranges::all_of(tree_.statement(s).indices, [&](int i) {
      return fusion::contains(own, i) ||
             ranges_[static_cast<std::size_t>(i)].size == tree_.extent(i);
    });
  }

  const OperationTree& tree_;
  Ranges ranges_;
  std::vector<Ranges> held_;  // by array, of the innermost
  std::map<Key, double> times_;
};

template <class T>
class Rehearsal {
 public:
  // With so many processes on this computer.
  Rehearsal(const OperationTree& tree, const Machine& machine, int processes, int threads,
            std::stop_token stop)
      : tree_(tree),
        schedules_(tree, machine, threads),
        processes_(processes),
        stop_(std::move(stop)) {}

  // Of this process, were it the first one.
  Seconds arithmetic(const Node& node) {
    Leaves<T> leaves(schedules_, at_level(node, 0), usual_tables);
    leaves.make_room();
    Seconds sum{0};
    for (const LeafRuns& runs : leaf_runs(tree_, node)) {
      const Key key{runs.leaf, runs.begins};
      auto known = known_.find(key);
      if (known == known_.end()) {
        known = known_.emplace(key, once(leaves, runs.leaf, runs.begins)).first;
      }
      sum += runs.times * known->second;
    }
    return sum;
  }
  Seconds took() const { return took_; }

 private:
  // What a statement takes on such a tile.
  Seconds once(Leaves<T>& leaves, const Leaf& leaf, bool begins) {
    ByTensor<T*> at{};
    std::int64_t elements = 0;
    ByTensor<std::int64_t> begin{};
    for (TensorId t : all_tensors) {
      begin[t] = elements;
      elements += round_up(product(leaf.places[t]), tile_alignment);
    }
    make_room(elements);
    for (TensorId t : all_tensors) at[t] = reinterpret_cast<T*>(memory_.data()) + begin[t];
    const auto run = [&] {
      StopScope::heed();
      const Seconds before = now_in_run();
      leaves.run(leaf, at[TensorId::A], at[TensorId::B], at[TensorId::C], begins ? T{0} : T{1},
                 stop_);
      return now_in_run() - before;
    };
    const Seconds start = now_in_run();
    run();  // prepares
    std::vector<Seconds> times;
    const Seconds prepared = now_in_run();
    do {
      times.push_back(run());
    } while (times.size() < often_enough && times.back() < is_long &&
             (times.size() < at_least || now_in_run() - prepared < long_enough));
    took_ += now_in_run() - start;
    // What disturbs one only adds to it.
    const auto quarter = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 4);
    std::nth_element(times.begin(), quarter, times.end());
    return *quarter;
  }

  // Of all processes of this computer at the same time.
  void make_room(std::int64_t elements) {
    if (elements <= room_) return;
    memory_ = Memory();  // not both at the same time
    room_ = 0;
    const Bytes bytes(elements * static_cast<std::int64_t>(sizeof(T)));
    if (const Bytes free = available_memory(); bytes * processes_ > free) {
      throw UnsupportedError(tree_.name,
                             fmt::format("its tiles take {} on this computer and {} are free",
                                         to_text(bytes * processes_), to_text(free)),
                             "give smaller levels");
    }
    memory_ = Memory(bytes);
    room_ = elements;
    std::fill_n(reinterpret_cast<T*>(memory_.data()), elements, T{0.5});
  }

  const OperationTree& tree_;
  LeafSchedules schedules_;
  const int processes_;
  const std::stop_token stop_;
  Memory memory_;
  std::int64_t room_ = 0;  // elements
  std::map<Key, Seconds> known_;
  Seconds took_{0};
};

template <class T>
std::vector<Rehearsed> rehearse_in(const OperationTree& tree, const Hierarchy& hierarchy,
                                   const LevelPlan& plan, const Machine& machine,
                                   const Processes& team, const RehearseOptions& options) {
  const StopScope scope(options.stop);
  // Half of the time is for the search.
  std::vector<LevelPlan> plans = levels::rivals(tree, hierarchy, plan, options.within,
                                                [&](double share) { options.progress(share / 2); });
  std::vector<Rehearsed> tried;
  if (plans.empty()) {
    tried.push_back({plan, plan.times.arithmetic});
    return tried;
  }
  plans.insert(plans.begin(), plan);
  Rehearsal<T> rehearsal(tree, machine, team.on_this_node(), options.threads, options.stop);
  Seconds best{HUGE_VAL}, took{0};
  double share = 1;  // the least of what was predicted that any took
  for (std::size_t p = 0; p < plans.size() && took < options.most; ++p) {
    options.progress((1 + static_cast<double>(p) / static_cast<double>(plans.size())) / 2);
    LevelPlan& one = plans[p];
    const Seconds moves = one.time() - one.times.arithmetic;
    if (moves + most_saved * share * one.times.arithmetic > best) continue;
    // All processes at the same time, as in a run, and all see the same.
    std::vector<std::int64_t> nanoseconds(2);
    try {
      team.on_each([&] {
        nanoseconds[0] = std::llround(1e9 * rehearsal.arithmetic(one.node).value());
        nanoseconds[1] = std::llround(1e9 * rehearsal.took().value());
      });
    } catch (const UnsupportedError&) {
      if (p == 0) throw;
      continue;  // that one would not run
    }
    Seconds arithmetic{0};
    for (const std::vector<std::int64_t>& of : team.gathered(nanoseconds)) {
      arithmetic = std::max(arithmetic, Seconds(1e-9 * static_cast<double>(of[0])));
      took = std::max(took, Seconds(1e-9 * static_cast<double>(of[1])));
    }
    share = std::min(share, arithmetic / one.times.arithmetic);
    tried.push_back({std::move(one), arithmetic});
    best = std::min(best, tried.back().time());
  }
  return tried;
}

}  // namespace

std::vector<LeafRuns> leaf_runs(const OperationTree& tree, const Node& node) {
  std::vector<LeafRuns> all;
  for (const auto& [key, times] : LeafCounter(tree).of(node)) {
    all.push_back({key.first, key.second, times});
  }
  return all;
}

std::vector<Rehearsed> rehearse(const OperationTree& tree, const Hierarchy& hierarchy,
                                const LevelPlan& plan, const Machine& machine,
                                const Processes& team, const RehearseOptions& options) {
  if (fusion::element_type(tree) == ElementType::f64) {
    return rehearse_in<double>(tree, hierarchy, plan, machine, team, options);
  }
  return rehearse_in<float>(tree, hierarchy, plan, machine, team, options);
}

}  // namespace tcsim::chains
