#include "core/fusion/placement.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "core/optimize/posynomial_program.hpp"
#include "core/stop.hpp"

namespace tcsim::fusion {

namespace {

// Of a bound, for rounding.
constexpr double bound_margin = 1e-9;
// Places are not looked at where they promise less than this part of the best.
constexpr double worth_it = 1e-3;
// Of an array that is smaller than this part of the memory, the best place alone is followed.
constexpr double small_array = 0.02;
// Steps of the search for whole tiles, far more than it takes.
constexpr int most_steps = 100;
// Pairs of tiles are changed where the rest is so near to the best that is known.
constexpr double worth_pairs = 0.1;
// A disk without a start-up time would not care about tiles of one.
constexpr double least_transfer = 1e-9;

constexpr int nowhere = -1;

// A node of the structure, with all indices that are looped over in its band.
struct BandNode {
  int parent = nowhere;
  IndexSet band;
  int statement = -1;  // of a leaf
  std::vector<int> parts;
};

// Where an array is read or written: inside the loops `outside` of a node's band, outside the rest.
struct Cut {
  int node = nowhere;
  IndexSet outside;
};

struct DiskArray {
  int array = 0;
  int leaf = 0;  // node of its statement
  bool stored = false;
  IndexSet own;
  std::vector<Cut> cuts;  // where it may be
};

struct Buffer {
  int array = 0;
  int node = 0;  // the innermost that holds both statements
};

double log_of(std::int64_t n) { return std::log(static_cast<double>(n)); }

class Structure {
 public:
  Structure(const OperationTree& tree, const LoopTree& structure, Buffering buffering)
      : tree_(tree), copies_(buffering == Buffering::twofold ? 2 : 1) {
    add(structure, nowhere);
    find_arrays();
    find_variables();
  }

  const OperationTree& tree() const { return tree_; }
  const std::vector<BandNode>& nodes() const { return nodes_; }
  const BandNode& node(int v) const { return nodes_[static_cast<std::size_t>(v)]; }
  const std::vector<DiskArray>& arrays() const { return arrays_; }
  const std::vector<Buffer>& buffers() const { return buffers_; }
  double copies() const { return copies_; }

  // A tile size: of a node and an index of its band.
  struct Variable {
    int node, index;
  };
  const std::vector<Variable>& variables() const { return variables_; }
  // The variable that says how long the index's range is inside the node's loop over it, or, where
  // that is not so, inside the loops of nodes around; nowhere: it is whole.
  int variable(int v, int index) const {
    return v == nowhere ? nowhere : variable_[place(v, index)];
  }
  int variable(const Cut& cut, int index) const {
    return variable(contains(cut.outside, index) ? cut.node : node(cut.node).parent, index);
  }
  // The one that bounds it from above.
  int outer(int variable) const { return outer_[static_cast<std::size_t>(variable)]; }
  bool is_around(int node, int leaf) const {
    while (leaf != node && leaf != nowhere) leaf = this->node(leaf).parent;
    return leaf == node;
  }

 private:
  int add(const LoopTree& from, int parent) {
    const int at = static_cast<int>(nodes_.size());
    nodes_.emplace_back();
    BandNode made{parent, from.indices, from.statement, {}};
    if (parent != nowhere) made.band = joined(made.band, node(parent).band);
    if (from.is_leaf()) made.band = tree_.statement(from.statement).indices;
    nodes_[static_cast<std::size_t>(at)] = made;
    for (const LoopTree& part : from.parts) made.parts.push_back(add(part, at));
    nodes_[static_cast<std::size_t>(at)].parts = in_order(made.parts);
    return at;
  }

  std::size_t place(int v, int index) const {
    return static_cast<std::size_t>(v) * tree_.indices.size() + static_cast<std::size_t>(index);
  }
  void find_variables() {
    variable_.assign(nodes_.size() * tree_.indices.size(), nowhere);
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const int v = static_cast<int>(n), parent = nodes_[n].parent;
      for (int i = 0; i < static_cast<int>(tree_.indices.size()); ++i) {
        variable_[place(v, i)] = variable(parent, i);
      }
      for (int i : nodes_[n].band) {
        if (tree_.extent(i) == 1) continue;
        variable_[place(v, i)] = static_cast<int>(variables_.size());
        variables_.push_back({v, i});
        outer_.push_back(variable(parent, i));
      }
    }
  }

  // Parts that make something before those that read it.
  std::vector<int> in_order(std::vector<int> parts) const {
    std::vector<int> ordered;
    while (!parts.empty()) {
      const auto ready = std::ranges::find_if(parts, [&](int part) {
        return std::ranges::none_of(parts,
                                    [&](int other) { return other != part && reads(part, other); });
      });
      assert(ready != parts.end());
      ordered.push_back(*ready);
      parts.erase(ready);
    }
    return ordered;
  }
  bool reads(int part, int other) const {
    for (int s : statements_in(other)) {
      const int consumer = tree_.parent(s);
      const std::vector<int> here = statements_in(part);
      if (std::ranges::find(here, consumer) != here.end()) return true;
    }
    return false;
  }
  std::vector<int> statements_in(int v) const {
    std::vector<int> all;
    for (std::size_t leaf = 0; leaf < nodes_.size(); ++leaf) {
      if (nodes_[leaf].statement >= 0 && is_around(v, static_cast<int>(leaf))) {
        all.push_back(nodes_[leaf].statement);
      }
    }
    return all;
  }

  void find_arrays() {
    std::map<int, int> leaf_of;  // by statement
    for (std::size_t v = 0; v < nodes_.size(); ++v) {
      if (nodes_[v].statement >= 0) leaf_of[nodes_[v].statement] = static_cast<int>(v);
    }
    for (const auto& [s, leaf] : leaf_of) {
      const OperationTree::Statement& statement = tree_.statement(s);
      for (int a : {statement.left, statement.right}) {
        const auto producer = leaf_of.find(tree_.array(a).producer);
        if (producer == leaf_of.end()) {
          arrays_.push_back({a, leaf, false, tree_.array(a).set(), {}});
        } else {
          int v = leaf;
          while (!is_around(v, producer->second)) v = node(v).parent;
          buffers_.push_back({a, v});
        }
      }
      if (!leaf_of.contains(tree_.parent(s))) {
        arrays_.push_back({statement.out, leaf, true, tree_.array(statement.out).set(), {}});
      }
    }
    for (DiskArray& a : arrays_) find_cuts(a);
    std::ranges::stable_sort(arrays_, [&](const DiskArray& a, const DiskArray& b) {
      return tree_.bytes(a.array) > tree_.bytes(b.array);
    });
  }

  // Indices of a band that the same arrays have, of those read and written inside: nothing tells
  // them apart.
  std::vector<IndexSet> classes(int v) const {
    std::map<std::vector<bool>, IndexSet> by_arrays;
    for (int i : node(v).band) {
      std::vector<bool> has;
      for (const DiskArray& a : arrays_) {
        if (is_around(v, a.leaf)) has.push_back(contains(a.own, i));
      }
      by_arrays[has].push_back(i);
    }
    std::vector<IndexSet> all;
    for (auto& [has, indices] : by_arrays) all.push_back(std::move(indices));
    return all;
  }

  // The next loop inside is one that the array has not: to go on inside one that it has holds less
  // and moves as much. So does leaving out loops that it has not, with none that it has.
  void find_cuts(DiskArray& a) const {
    for (int v = a.leaf; v != nowhere; v = node(v).parent) {
      const std::vector<IndexSet> all = classes(v);
      for (std::uint32_t choice = 0; choice < std::uint32_t{1} << all.size(); ++choice) {
        IndexSet outside;
        for (std::size_t c = 0; c < all.size(); ++c) {
          if ((choice >> c & 1) != 0) outside = joined(outside, all[c]);
        }
        const IndexSet inside = without(node(v).band, outside);
        const bool whole = v == a.leaf && inside.empty();
        const bool turns = !without(inside, a.own).empty();
        const bool useful = outside.empty() || !common(outside, a.own).empty();
        if (whole || (turns && useful)) a.cuts.push_back({v, std::move(outside)});
      }
    }
  }

  const OperationTree& tree_;
  double copies_;
  std::vector<BandNode> nodes_;  // a node before its parts
  std::vector<DiskArray> arrays_;
  std::vector<Buffer> buffers_;
  std::vector<Variable> variables_;
  std::vector<int> variable_;  // by node and index
  std::vector<int> outer_;     // by variable
};

// By array of Structure::arrays(); a cut at `nowhere` is not chosen yet.
using Cuts = std::vector<Cut>;

// The optimum over real tiles for some cuts.
struct Solution {
  double seconds = std::numeric_limits<double>::infinity();
  double bound = std::numeric_limits<double>::infinity();  // no real tiles take less
  std::vector<double> tiles;  // by variable; 0 for one that does not matter
};

class Program {
 public:
  Program(const Structure& structure, const Limits& limits, const Cuts& cuts)
      : structure_(structure), place_(structure.variables().size(), nowhere) {
    const double memory = static_cast<double>(limits.memory.value());
    const OperationTree& tree = structure.tree();
    const double start = std::max(limits.costs.transfer.value(), least_transfer);
    for (std::size_t x = 0; x < cuts.size(); ++x) {
      const DiskArray& a = structure.arrays()[x];
      const double bytes = tree.bytes(a.array);
      const double one = 1 / (a.stored ? limits.costs.write : limits.costs.read).value();
      // What is stored is read again but for the first time.
      const double back = a.stored ? 1 / limits.costs.read.value() : 0;
      if (cuts[x].node == nowhere) {
        program_.objective.add(one * bytes + start, {});
        continue;
      }
      if (back > 0) constant_ += back * bytes;
      Exponents again, all;
      double repeats = 1, transfers = 1;
      for (int i : structure.node(a.leaf).band) {
        const int v = structure.variable(cuts[x], i);
        if (v == nowhere) continue;
        const double extent = static_cast<double>(tree.extent(i));
        all.emplace_back(place_of(v), -1);
        transfers *= extent;
        if (contains(a.own, i)) continue;
        again.emplace_back(place_of(v), -1);
        repeats *= extent;
      }
      program_.objective.add((one + back) * bytes * repeats, again);
      program_.objective.add(start * transfers, all);
    }
    for (std::size_t leaf = 0; leaf < structure.nodes().size(); ++leaf) {
      if (structure.nodes()[leaf].statement < 0) continue;
      add_runs(static_cast<int>(leaf), limits.costs, cuts);
      Posynomial held;
      for (std::size_t x = 0; x < cuts.size(); ++x) {
        if (cuts[x].node == nowhere) continue;
        if (!structure.is_around(cuts[x].node, static_cast<int>(leaf))) continue;
        add_held(held, structure.arrays()[x].array, structure.copies() / memory,
                 [&](int i) { return structure.variable(cuts[x], i); });
      }
      for (const Buffer& b : structure.buffers()) {
        if (!structure.is_around(b.node, static_cast<int>(leaf))) continue;
        add_held(held, b.array, 1 / memory, [&](int i) { return structure.variable(b.node, i); });
      }
      if (!held.empty()) program_.at_most_one.push_back(std::move(held));
    }
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      const Structure::Variable& v = structure.variables()[static_cast<std::size_t>(variables_[k])];
      program_.upper.push_back(log_of(tree.extent(v.index)));
      int outer = structure.outer(variables_[k]);
      while (outer != nowhere && place_[static_cast<std::size_t>(outer)] == nowhere) {
        outer = structure.outer(outer);
      }
      if (outer != nowhere) {
        program_.nested.emplace_back(static_cast<int>(k), place_[static_cast<std::size_t>(outer)]);
      }
    }
  }

  // Ends early where no tiles take less than `cut_off`.
  Solution solve(double cut_off) const {
    Solution solution;
    const std::optional<PosynomialOptimum> found =
        tcsim::solve(program_, std::log(cut_off + constant_));
    if (!found) return solution;
    solution.seconds = std::exp(found->log_value) - constant_;
    solution.bound = std::min(solution.seconds, std::exp(found->log_bound) - constant_);
    solution.tiles.assign(structure_.variables().size(), 0);
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      solution.tiles[static_cast<std::size_t>(variables_[k])] = std::exp(found->y[k]);
    }
    return solution;
  }

 private:
  using Exponents = std::vector<std::pair<int, double>>;

  int place_of(int variable) {
    int& place = place_[static_cast<std::size_t>(variable)];
    if (place == nowhere) {
      place = static_cast<int>(variables_.size());
      variables_.push_back(variable);
    }
    return place;
  }

  // A statement runs on what is current inside the innermost of its cuts. Where one is not chosen
  // yet, on what is current around its node, or less.
  void add_runs(int leaf, const Costs& costs, const Cuts& cuts) {
    Cut innermost{leaf, {}};
    bool chosen = true;
    for (std::size_t x = 0; x < cuts.size(); ++x) {
      if (structure_.arrays()[x].leaf != leaf) continue;
      if (cuts[x].node == nowhere) chosen = false;
      if (cuts[x].node == leaf) innermost.outside = joined(innermost.outside, cuts[x].outside);
    }
    if (!chosen) innermost.outside.clear();
    const OperationTree& tree = structure_.tree();
    const OperationTree::Statement& s = tree.statement(structure_.node(leaf).statement);
    Exponents all;
    double runs = 1;
    for (int i : s.indices) {
      const int v = structure_.variable(innermost, i);
      if (v == nowhere) continue;
      all.emplace_back(place_of(v), -1);
      runs *= static_cast<double>(tree.extent(i));
    }
    program_.objective.add(costs.run.value() * runs, all);
    for (int a : {s.left, s.right, s.out, s.out}) {
      const IndexSet own = tree.array(a).set();
      Exponents again;
      double bytes = tree.bytes(a);
      for (int i : s.indices) {
        const int v = structure_.variable(innermost, i);
        if (v == nowhere || contains(own, i)) continue;
        again.emplace_back(place_of(v), -1);
        bytes *= static_cast<double>(tree.extent(i));
      }
      program_.objective.add(bytes / costs.memory.value(), again);
    }
  }

  template <class F>
  void add_held(Posynomial& held, int a, double factor, F&& variable_of) {
    const OperationTree& tree = structure_.tree();
    double bytes = factor * static_cast<double>(tree.array(a).element.value());
    Exponents exponents;
    for (int i : tree.array(a).indices) {
      const int v = variable_of(i);
      if (v == nowhere) {
        bytes *= static_cast<double>(tree.extent(i));
      } else {
        exponents.emplace_back(place_of(v), 1);
      }
    }
    held.add(bytes, exponents);
  }

  const Structure& structure_;
  std::vector<int> variables_;  // that matter
  std::vector<int> place_;      // of a variable in those
  PosynomialProgram program_;
  double constant_ = 0;  // to be taken off
};

// Whole tiles for chosen cuts, and the schedule that they make.
class Whole {
 public:
  Whole(const Structure& structure, const Limits& limits, const Cuts& cuts,
        const std::vector<double>& real)
      : structure_(structure), limits_(limits), cuts_(cuts), matters_(real.size()) {
    tiles_.resize(real.size());
    for (std::size_t v = 0; v < real.size(); ++v) {
      matters_[v] = real[v] > 0;
      const std::int64_t most = range_of(static_cast<int>(v));
      tiles_[v] = matters_[v] ? even(most, static_cast<std::int64_t>(real[v] * (1 + 1e-9))) : most;
    }
    Tiles variables(tiles_.size());
    std::iota(variables.begin(), variables.end(), 0);
    tried_ = build(0, variables, Loops::all);
    find_loops(tried_);
  }
  Whole(const Whole&) = delete;  // loops_ point into tried_

  // Steps that take less time, until none does; of two tiles at a time where what is found is near
  // `least`, the best so far.
  void improve(double least) {
    best_ = cost(tiles_);
    for (int step = 0; step < most_steps && one_step(false); ++step) StopScope::heed();
    if (best_ > least * (1 + worth_pairs)) return;
    for (int step = 0; step < most_steps && one_step(true); ++step) StopScope::heed();
  }

  double seconds() const { return best_; }
  FusedNode schedule() const { return build(0, tiles_, Loops::of_several_tiles); }

 private:
  using Tiles = std::vector<std::int64_t>;
  enum class Loops { all, of_several_tiles };

  std::int64_t range_of(int variable, const Tiles& tiles) const {
    const int outer = structure_.outer(variable);
    if (outer != nowhere) return tiles[static_cast<std::size_t>(outer)];
    return structure_.tree().extent(
        structure_.variables()[static_cast<std::size_t>(variable)].index);
  }
  std::int64_t range_of(int variable) const { return range_of(variable, tiles_); }

  // The smallest tile for as many pieces as this one makes.
  static std::int64_t even(std::int64_t range, std::int64_t tile) {
    tile = std::clamp<std::int64_t>(tile, 1, range);
    return pieces(range, (range - 1) / tile + 1);
  }
  static std::int64_t pieces(std::int64_t range, std::int64_t count) {
    return (range - 1) / std::clamp<std::int64_t>(count, 1, range) + 1;
  }

  // With tiles inside no larger than those outside, and those that do not matter as large as those.
  void nest(Tiles& tiles) const {
    for (std::size_t v = 0; v < tiles.size(); ++v) {
      const std::int64_t range = range_of(static_cast<int>(v), tiles);
      tiles[v] = matters_[v] ? std::min(tiles[v], range) : range;
    }
  }

  double cost(const Tiles& tiles) {
    for (const auto& [variable, loop] : loops_) loop->tile = tiles[variable];
    const DiskTraffic moved = traffic(structure_.tree(), tried_, limits_.buffering);
    if (moved.memory > limits_.memory) return std::numeric_limits<double>::infinity();
    return limits_.costs.all(moved).value();
  }

  bool try_it(Tiles next) {
    nest(next);
    const double seconds = cost(next);
    if (!(seconds < best_ * (1 - 1e-12))) return false;
    best_ = seconds;
    tiles_ = std::move(next);
    return true;
  }

  bool one_step(bool pairs) {
    bool better = false;
    for (std::size_t v = 0; v < tiles_.size(); ++v) {
      if (!matters_[v]) continue;
      const std::int64_t range = range_of(static_cast<int>(v));
      const std::int64_t count = (range - 1) / tiles_[v] + 1;
      for (std::int64_t to :
           {pieces(range, count - 1), pieces(range, count - 2), pieces(range, count / 2), range,
            pieces(range, count + 1), pieces(range, 2 * count)}) {
        if (to == tiles_[v]) continue;
        Tiles next = tiles_;
        next[v] = to;
        if (try_it(next) || (to > tiles_[v] && try_whole_inside(next))) {
          better = true;
        } else if (pairs && to > tiles_[v]) {
          better = try_smaller_others(next, v) || better;
        }
      }
    }
    return better;
  }
  // With a tile that has grown, those inside that were all of it grow, too.
  bool try_whole_inside(Tiles larger) {
    nest(larger);
    Tiles next = larger;
    for (std::size_t v = 0; v < next.size(); ++v) {
      const auto variable = static_cast<int>(v);
      if (structure_.outer(variable) != nowhere && tiles_[v] == range_of(variable)) {
        next[v] = range_of(variable, next);
      }
    }
    return next != larger && try_it(std::move(next));
  }
  bool try_smaller_others(const Tiles& larger, std::size_t grown) {
    for (std::size_t v = 0; v < larger.size(); ++v) {
      if (v == grown || !matters_[v] || larger[v] == 1) continue;
      Tiles next = larger;
      nest(next);
      const std::int64_t range = range_of(static_cast<int>(v), next);
      const std::int64_t count = (range - 1) / next[v] + 1;
      for (std::int64_t more : {count + 1, count + 2, 2 * count}) {
        next[v] = pieces(range, more);
        if (try_it(next)) return true;
      }
    }
    return false;
  }

  // Whose tiles are the places of their variables.
  void find_loops(FusedNode& node) {
    if (auto* const loop = std::get_if<TileLoop>(&node.is)) {
      loops_.emplace_back(static_cast<std::size_t>(loop->tile), loop);
      find_loops(*loop->body);
    } else if (auto* const hold = std::get_if<Hold>(&node.is)) {
      find_loops(*hold->body);
    } else if (auto* const parts = std::get_if<InOrder>(&node.is)) {
      for (FusedNode& part : parts->parts) find_loops(part);
    }
  }

  FusedNode build(int v, const Tiles& tiles, Loops loops) const {
    const BandNode& node = structure_.node(v);
    std::vector<std::size_t> here;  // arrays that are cut in this band, from outside
    for (std::size_t x = 0; x < cuts_.size(); ++x) {
      if (cuts_[x].node == v) here.push_back(x);
    }
    std::ranges::stable_sort(here, {}, [&](std::size_t x) { return cuts_[x].outside.size(); });
    std::vector<FusedNode> steps;  // loops and holds, outermost first
    IndexSet looped;
    const auto loop_over = [&](const IndexSet& indices) {
      for (int i : indices) {
        const int variable = structure_.variable(v, i);
        if (variable == nowhere) continue;
        const std::int64_t tile = tiles[static_cast<std::size_t>(variable)];
        if (loops == Loops::all || tile < range_of(variable, tiles)) {
          steps.push_back(TileLoop{i, tile, {}});
        }
      }
      looped = joined(looped, indices);
    };
    for (std::size_t x : here) {
      loop_over(without(cuts_[x].outside, looped));
      const DiskArray& a = structure_.arrays()[x];
      steps.push_back(Hold{a.stored ? Hold::Kind::store : Hold::Kind::load, a.array, {}});
    }
    FusedNode inside = Do{node.statement};
    if (node.statement < 0) {
      loop_over(without(node.band, looped));
      for (const Buffer& b : structure_.buffers()) {
        if (b.node == v) steps.push_back(Hold{Hold::Kind::buffer, b.array, {}});
      }
      InOrder parts;
      for (int part : node.parts) parts.parts.push_back(build(part, tiles, loops));
      inside = std::move(parts);
    }
    while (!steps.empty()) {
      FusedNode outer = std::move(steps.back());
      steps.pop_back();
      auto* const loop = std::get_if<TileLoop>(&outer.is);
      (loop != nullptr ? loop->body : std::get<Hold>(outer.is).body) = std::move(inside);
      inside = std::move(outer);
    }
    return inside;
  }

  const Structure& structure_;
  const Limits& limits_;
  const Cuts& cuts_;
  std::vector<bool> matters_;
  Tiles tiles_;
  // The schedule of the tiles that are tried. Those change, the rest of it does not.
  FusedNode tried_;
  std::vector<std::pair<std::size_t, TileLoop*>> loops_;  // in it, each with its variable
  double best_ = std::numeric_limits<double>::infinity();
};

// Branch and bound with limited discrepancy: first the choice that promises most at every array,
// then those that leave that once, twice, and so on.
class Search {
 public:
  Search(const Structure& structure, const Limits& limits, double cut_off, int most_programs)
      : structure_(structure), limits_(limits), cut_off_(cut_off), most_programs_(most_programs) {}

  Placement run() {
    Branch root{Cuts(structure_.arrays().size()), {}, {}, false};
    root.solution = solve(root.cuts);
    Placement result;
    if (!std::isfinite(root.solution.seconds)) return result;
    bool found = true;
    for (int discrepancies = 0; found && programs_ < most_programs_; ++discrepancies) {
      found = visit(root, 0, discrepancies);
    }
    if (!best_ && promises(root)) try_innermost();
    result.bound = Seconds(least_open(root) * (1 - bound_margin));
    if (!best_) return result;
    result.node = std::move(best_);
    result.traffic = traffic(structure_.tree(), *result.node, limits_.buffering);
    result.time = limits_.costs.all(result.traffic);
    result.bound = std::min(result.bound, result.time);
    return result;
  }

 private:
  // Cuts of some arrays, the largest ones.
  struct Branch {
    Cuts cuts;
    Solution solution;
    std::vector<Branch> next;  // with the next array's cut chosen, what promises most first
    bool seen = false;         // its next ones are there; of all cuts, it was tried
  };

  // Every array where it holds least: tiles of one fit there if they fit anywhere.
  void try_innermost() {
    Branch all{{}, {}, {}, true};
    for (const DiskArray& a : structure_.arrays()) {
      all.cuts.push_back({a.leaf, structure_.node(a.leaf).band});
    }
    all.solution = solve(all.cuts);
    if (std::isfinite(all.solution.seconds)) finish(all);
  }

  Solution solve(const Cuts& cuts) {
    StopScope::heed();
    ++programs_;
    return Program(structure_, limits_, cuts).solve(std::min(cut_off_, least_));
  }

  bool promises(const Branch& branch) const {
    return branch.solution.bound < std::min(cut_off_, least_) * (1 - worth_it);
  }

  // Goes to those that leave the first choice so many times; whether there may be more.
  bool visit(Branch& branch, std::size_t chosen, int discrepancies) {
    if (!promises(branch)) return false;
    if (chosen == structure_.arrays().size()) {
      if (!std::exchange(branch.seen, true)) finish(branch);
      return false;
    }
    if (programs_ >= most_programs_) return true;
    if (!std::exchange(branch.seen, true)) branch.next = choices(branch, chosen);
    bool more = false;
    const std::size_t count = is_small(chosen) ? 1 : branch.next.size();
    for (std::size_t k = 0; k < std::min(count, branch.next.size()); ++k) {
      if (static_cast<int>(k) > discrepancies) return promises(branch.next[k]) || more;
      more = visit(branch.next[k], chosen + 1, discrepancies - static_cast<int>(k)) || more;
    }
    return more;
  }

  std::vector<Branch> choices(const Branch& branch, std::size_t chosen) {
    std::vector<Branch> all;
    for (const Cut& cut : structure_.arrays()[chosen].cuts) {
      if (!fits(cut, branch.cuts, chosen)) continue;
      Branch next{branch.cuts, {}, {}, false};
      next.cuts[chosen] = cut;
      next.solution = solve(next.cuts);
      if (std::isfinite(next.solution.seconds)) all.push_back(std::move(next));
    }
    std::ranges::stable_sort(all, {}, [](const Branch& b) { return b.solution.seconds; });
    return all;
  }

  bool is_small(std::size_t array) const {
    return structure_.tree().bytes(structure_.arrays()[array].array) <
           small_array * static_cast<double>(limits_.memory.value());
  }

  // Whether an order of the band's loops has both this cut and those chosen.
  static bool fits(const Cut& cut, const Cuts& cuts, std::size_t chosen) {
    for (std::size_t x = 0; x < chosen; ++x) {
      if (cuts[x].node != cut.node) continue;
      const bool nested = std::ranges::includes(cuts[x].outside, cut.outside) ||
                          std::ranges::includes(cut.outside, cuts[x].outside);
      if (!nested) return false;
    }
    return true;
  }

  void finish(const Branch& branch) {
    Whole whole(structure_, limits_, branch.cuts, branch.solution.tiles);
    whole.improve(least_);
    if (whole.seconds() >= least_) return;
    least_ = whole.seconds();
    best_ = whole.schedule();
  }

  // What no cuts take less than.
  static double least_open(const Branch& branch) {
    if (branch.next.empty()) return branch.solution.bound;
    double least = std::numeric_limits<double>::infinity();
    for (const Branch& next : branch.next) least = std::min(least, least_open(next));
    return std::max(least, branch.solution.bound);
  }

  const Structure& structure_;
  const Limits& limits_;
  const double cut_off_;
  const int most_programs_;
  int programs_ = 0;
  double least_ = std::numeric_limits<double>::infinity();
  std::optional<FusedNode> best_;
};

}  // namespace

Seconds Costs::disk(const DiskTraffic::OfArray& moved) const {
  return Seconds(static_cast<double>(moved.read) / read.value() +
                 static_cast<double>(moved.written) / write.value() +
                 static_cast<double>(moved.reads + moved.writes) * transfer.value());
}

Seconds Costs::all(const DiskTraffic& moved) const {
  Seconds time = disk(moved.sum());
  for (const DiskTraffic::OfStatement& s : moved.statements) {
    time += Seconds(static_cast<double>(s.passed) / memory.value() +
                    static_cast<double>(s.runs) * run.value());
  }
  return time;
}

Placement place(const OperationTree& tree, const LoopTree& structure, const Limits& limits,
                Seconds cut_off, int most_programs) {
  const Structure prepared(tree, structure, limits.buffering);
  return Search(prepared, limits, cut_off.value(), most_programs).run();
}

Seconds compulsory(const OperationTree& tree, const std::vector<int>& chain, const Costs& costs) {
  const auto inside = [&](int s) { return std::ranges::find(chain, s) != chain.end(); };
  double seconds = 0;
  for (int s : chain) {
    const OperationTree::Statement& statement = tree.statement(s);
    seconds += costs.run.value();
    for (int a : {statement.left, statement.right, statement.out, statement.out}) {
      seconds += tree.bytes(a) / costs.memory.value();
    }
    for (int a : {statement.left, statement.right}) {
      if (inside(tree.array(a).producer)) continue;
      seconds += tree.bytes(a) / costs.read.value() + costs.transfer.value();
    }
    if (inside(tree.parent(s))) continue;
    seconds += tree.bytes(statement.out) / costs.write.value() + costs.transfer.value();
  }
  return Seconds(seconds);
}

Bytes least_memory(const OperationTree& tree, const LoopTree& structure, Buffering buffering) {
  const Structure prepared(tree, structure, buffering);
  double most = 0;
  for (std::size_t leaf = 0; leaf < prepared.nodes().size(); ++leaf) {
    if (prepared.nodes()[leaf].statement < 0) continue;
    double held = 0;
    for (const DiskArray& a : prepared.arrays()) {
      if (a.leaf == static_cast<int>(leaf)) {
        held += prepared.copies() * static_cast<double>(tree.array(a.array).element.value());
      }
    }
    for (const Buffer& b : prepared.buffers()) {
      if (!prepared.is_around(b.node, static_cast<int>(leaf))) continue;
      double bytes = static_cast<double>(tree.array(b.array).element.value());
      for (int i : tree.array(b.array).indices) {
        if (prepared.variable(b.node, i) == nowhere) bytes *= static_cast<double>(tree.extent(i));
      }
      held += bytes;
    }
    most = std::max(most, held);
  }
  return Bytes(most < 0x1p62 ? static_cast<std::int64_t>(most) : std::int64_t{1} << 62);
}

}  // namespace tcsim::fusion
