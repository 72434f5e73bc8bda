#include "core/levels/shape.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <set>
#include <string>

namespace tcsim::levels {

namespace {

std::size_t slot(int i) { return static_cast<std::size_t>(i); }

// Small arrays, which together take at most this share of a level, are held around statements that
// are fused there.
constexpr double small_share = 0.25;
// In logarithms: of the longest of links and arithmetic, against tiles of one.
constexpr double most_shorter = 200;

class ShapeBuilder {
 public:
  ShapeBuilder(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes,
               const Decisions& decisions)
      : tree_(tree), hierarchy_(hierarchy), homes_(homes), decisions_(decisions) {
    tile_.assign(tree.indices.size(), -1);
  }

  Shape run(const Part& part) {
    shape_.node = group(part, hierarchy_.links() - 1);
    return std::move(shape_);
  }

 private:
  // Statements that are fused at the link outside the level.
  Node group(const std::vector<int>& statements, int level) {
    held_.emplace_back();
    Node node = bands(statements, level, true);
    held_.pop_back();
    return node;
  }

  // Statements of which intermediates stay inside `level` one way or the other.
  std::vector<std::vector<int>> units(const std::vector<int>& statements, int level) const {
    std::vector<std::vector<int>> units;
    std::vector<int> of(tree_.statements.size(), -1);
    for (int s : statements) {
      int mine = -1;
      for (int child : tree_.children(s)) {
        const int array = tree_.statement(child).out;
        if (homes_[slot(array)] >= level || of[slot(child)] < 0) continue;
        const int other = of[slot(child)];
        if (mine < 0) {
          mine = other;
        } else {
          for (int& u : of) u = u == other ? mine : u;
        }
      }
      if (mine < 0) mine = s;
      of[slot(s)] = mine;
    }
    for (int s : statements) {
      if (of[slot(s)] < 0) continue;
      std::vector<int> unit;
      const int mine = of[slot(s)];
      for (int t : statements) {
        if (of[slot(t)] != mine) continue;
        unit.push_back(t);
        of[slot(t)] = -1;
      }
      units.push_back(std::move(unit));
    }
    return units;
  }

  IndexSet shared_by(const std::vector<int>& statements) const {
    IndexSet all = tree_.statement(statements.front()).indices;
    for (int s : statements) all = fusion::common(all, tree_.statement(s).indices);
    std::erase_if(all, [&](int i) { return tree_.extent(i) == 1; });
    return all;
  }

  // Arrays that statements move between `level` and the next one.
  std::vector<int> moved_by(const std::vector<int>& statements, int level) const {
    std::vector<int> arrays;
    for (int s : statements) {
      const OperationTree::Statement& statement = tree_.statement(s);
      for (int a : {statement.left, statement.right, statement.out}) {
        if (homes_[slot(a)] > level) arrays.push_back(a);
      }
    }
    return arrays;
  }

  Node bands(const std::vector<int>& statements, int level, bool outermost) {
    const std::vector<std::vector<int>> parts = units(statements, level);
    std::vector<int> arrays;
    if (parts.size() == 1) {
      arrays = moved_by(statements, level);
    } else {
      arrays = small_ones(statements, level);
    }
    std::erase_if(arrays, [&](int a) { return std::ranges::count(held_.back(), a) > 0; });
    const std::size_t before = held_.back().size();
    held_.back().insert(held_.back().end(), arrays.begin(), arrays.end());
    Node node = band(statements, arrays, level, outermost,
                     [&] { return inside(statements, parts, level); });
    held_.back().resize(before);
    return node;
  }

  Node inside(const std::vector<int>& statements, const std::vector<std::vector<int>>& parts,
              int level) {
    if (parts.size() == 1) {
      if (level == 0) return Do{statements.front()};
      return group(statements, level - 1);
    }
    // Intermediates between parts, and what is on either side of each.
    std::vector<int> cuts;
    for (int s : statements) {
      const int array = tree_.statement(s).out;
      const bool within = std::ranges::count(statements, tree_.parent(s)) > 0;
      if (within && homes_[slot(array)] == level) cuts.push_back(array);
    }
    std::ranges::sort(cuts);
    const int usual = usual_split(statements, cuts);
    const std::size_t asked = shape_.splits.size();
    shape_.splits.push_back({static_cast<int>(cuts.size()), usual, -1, cuts});
    const int chosen = asked < decisions_.splits.size() ? decisions_.splits[asked] : usual;
    const int array = cuts[slot(chosen)];
    auto [left, right] = sides(statements, array);
    Node first = bands(left, level, false);
    Node second = bands(right, level, false);
    return Hold{Kind::buffer, array, level, Node(Sequence{{std::move(first), std::move(second)}})};
  }

  // What makes an intermediate, with all that this needs, and the others.
  std::pair<std::vector<int>, std::vector<int>> sides(const std::vector<int>& statements,
                                                      int array) const {
    std::vector<bool> makes(tree_.statements.size(), false);
    makes[slot(tree_.array(array).producer)] = true;
    for (auto s = statements.rbegin(); s != statements.rend(); ++s) {
      const int parent = tree_.parent(*s);
      if (parent >= 0 && makes[slot(parent)]) makes[slot(*s)] = true;
    }
    std::pair<std::vector<int>, std::vector<int>> sides;
    for (int s : statements) (makes[slot(s)] ? sides.first : sides.second).push_back(s);
    return sides;
  }

  double elements(int array, const IndexSet& but) const {
    double product = 1;
    for (int i : fusion::without(tree_.array(array).set(), but)) {
      product *= static_cast<double>(tree_.extent(i));
    }
    return product;
  }

  // f(i, j) of section 5.1, over splits: an intermediate's slice for tiles of one of what all
  // share, and the larger of what the two sides take.
  double memory(const std::vector<int>& statements, std::vector<int> cuts) const {
    if (cuts.empty()) return 0;
    double best = std::numeric_limits<double>::infinity();
    for (int array : cuts) best = std::min(best, memory_split_at(statements, cuts, array));
    return best;
  }
  double memory_split_at(const std::vector<int>& statements, const std::vector<int>& cuts,
                         int array) const {
    const auto [left, right] = sides(statements, array);
    const auto within = [&](const std::vector<int>& side) {
      std::vector<int> in;
      for (int a : cuts) {
        if (a != array && std::ranges::count(side, tree_.array(a).producer) > 0 &&
            std::ranges::count(side, tree_.array(a).consumer) > 0) {
          in.push_back(a);
        }
      }
      return in;
    };
    return elements(array, shared_by(statements)) +
           std::max(memory(left, within(left)), memory(right, within(right)));
  }
  int usual_split(const std::vector<int>& statements, const std::vector<int>& cuts) const {
    if (cuts.size() == 1 || cuts.size() > most_exact) return static_cast<int>(cuts.size() - 1) / 2;
    int best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t c = 0; c < cuts.size(); ++c) {
      const double needed = memory_split_at(statements, cuts, cuts[c]);
      if (needed < least) least = needed, best = static_cast<int>(c);
    }
    return best;
  }

  // Inputs that may be held around all of the statements.
  std::vector<int> small_ones(const std::vector<int>& statements, int level) const {
    std::vector<int> inputs;
    for (int a : moved_by(statements, level)) {
      if (tree_.array(a).role == Program::Role::input) inputs.push_back(a);
    }
    std::ranges::sort(inputs, {}, [&](int a) { return tree_.bytes(a); });
    const auto room = small_share * static_cast<double>(hierarchy_.level(level).capacity.value());
    double sum = 0;
    std::vector<int> small;
    for (int a : inputs) {
      sum += tree_.bytes(a);
      if (room > 0 && sum > room) break;
      small.push_back(a);
    }
    return small;
  }

  // Loops over tiles of the indices, with the arrays' holds.
  template <class Body>
  Node band(const std::vector<int>& statements, const std::vector<int>& arrays, int level,
            bool outermost, Body body) {
    const IndexSet indices = shared_by(statements);
    const int number = static_cast<int>(shape_.undecided.size());
    shape_.bands.push_back({statements, level, units(statements, level).size() == 1, {}});
    // An order for each array that some of the indices are not of: those that it has come first.
    std::vector<IndexSet> orders;
    for (int a : arrays) {
      const IndexSet own = fusion::common(indices, tree_.array(a).set());
      if (own != indices && std::ranges::count(orders, own) == 0) orders.push_back(own);
    }
    std::ranges::sort(orders);
    IndexSet first = indices;
    shape_.undecided.push_back(false);
    if (!orders.empty()) {
      const int usual = usual_order(indices, arrays, orders);
      const std::size_t asked = shape_.orders.size();
      shape_.orders.push_back({static_cast<int>(orders.size()), usual, number, {}});
      for (const IndexSet& own : orders) {
        int stays = -1;
        for (int a : arrays) {
          if (fusion::common(indices, tree_.array(a).set()) == own) stays = a;
        }
        shape_.orders.back().stays.push_back(stays);
      }
      const int chosen = asked < decisions_.orders.size() ? decisions_.orders[asked]
                         : orders.size() == 1             ? 0
                                                          : -1;
      shape_.undecided[slot(number)] = chosen < 0;
      first = orders[slot(std::max(chosen, 0))];
    }
    std::vector<int> loops = first;
    const IndexSet last = fusion::without(indices, first);
    loops.insert(loops.end(), last.begin(), last.end());

    const std::vector<int> around = tile_;
    std::vector<int> tiles, processes;
    const bool team = outermost && hierarchy_.level(level).instances > 1;
    std::vector<int> members;
    for (int i : loops) {
      tiles.push_back(static_cast<int>(shape_.variables.size()));
      shape_.bands[slot(number)].tiles.push_back(tiles.back());
      shape_.variables.push_back({i, level, tile_[slot(i)], false, -1, number});
      tile_[slot(i)] = tiles.back();
      processes.push_back(-1);
      if (!team) continue;
      processes.back() = static_cast<int>(shape_.variables.size());
      shape_.variables.push_back({i, level, -1, true, tiles.back(), number});
      members.push_back(processes.back());
    }
    if (!members.empty()) shape_.teams.push_back(members);
    Node node = body();
    tile_ = around;
    for (std::size_t depth = loops.size() + 1; depth-- > 0;) {
      for (int a : arrays) {
        if (depth_of(a, loops) != depth) continue;
        const bool made = tree_.array(a).producer >= 0;
        const bool stored = made && (tree_.array(a).consumer < 0 || stored_.contains(a, node));
        node = Hold{stored ? Kind::store : Kind::load, a, level, std::move(node)};
      }
      if (depth > 0) {
        node =
            Loop{loops[depth - 1], tiles[depth - 1], level, processes[depth - 1], std::move(node)};
      }
    }
    return node;
  }

  // Behind how many loops the array's hold stands: the last one over an index of its own.
  std::size_t depth_of(int array, const std::vector<int>& loops) const {
    const IndexSet own = tree_.array(array).set();
    for (std::size_t depth = loops.size(); depth > 0; --depth) {
      if (fusion::contains(own, loops[depth - 1])) return depth;
    }
    return 0;
  }

  // The order in which the largest array stays; where the output is among equals, that one.
  int usual_order(const IndexSet& indices, const std::vector<int>& arrays,
                  const std::vector<IndexSet>& orders) const {
    int best = 0;
    double most = -1;
    for (int a : arrays) {
      const IndexSet own = fusion::common(indices, tree_.array(a).set());
      const auto found = std::ranges::find(orders, own);
      if (found == orders.end()) continue;
      const bool made = tree_.array(a).producer >= 0 && tree_.array(a).consumer < 0;
      const double size = tree_.bytes(a) * (made ? 1 + 1e-9 : 1);
      if (size <= most) continue;
      most = size;
      best = static_cast<int>(found - orders.begin());
    }
    return best;
  }

  // An intermediate is stored where its maker is inside, otherwise loaded.
  struct Stored {
    const OperationTree* tree;
    bool contains(int array, const Node& node) const {
      if (const auto* loop = std::get_if<Loop>(&node.is)) return contains(array, *loop->body);
      if (const auto* hold = std::get_if<Hold>(&node.is)) return contains(array, *hold->body);
      if (const auto* parts = std::get_if<Sequence>(&node.is)) {
        return std::ranges::any_of(parts->parts, [&](const Node& p) { return contains(array, p); });
      }
      return tree->statement(std::get<Do>(node.is).statement).out == array;
    }
  };

  static constexpr std::size_t most_exact = 6;  // splits that are all looked at

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  const Homes& homes_;
  const Decisions& decisions_;
  Stored stored_{&tree_};
  std::vector<int> tile_;               // by index: the variable of the current tile, or -1
  std::vector<std::vector<int>> held_;  // by link on the way: arrays that are held around
  Shape shape_;
};

double extent(const OperationTree& tree, int index) {
  return static_cast<double>(tree.extent(index));
}

// Terms of the relaxed problem, on one walk through the shape.
class RelaxedTerms {
  using Powers = std::vector<std::pair<int, double>>;

 public:
  RelaxedTerms(const OperationTree& tree, const Hierarchy& hierarchy, const Shape& shape, bool rows)
      : tree_(tree), hierarchy_(hierarchy), shape_(shape), rows_(rows) {
    std::vector<bool> in_team(shape.variables.size(), false);
    for (const Shape::Variable& v : shape.variables) {
      result_.program.upper.push_back(std::log(extent(tree, v.index)));
      if (v.processes) in_team[slot(v.tile)] = true;
    }
    for (std::size_t v = 0; v < shape.variables.size(); ++v) {
      const Shape::Variable& of = shape.variables[v];
      const int self = static_cast<int>(v);
      if (of.processes) result_.program.nested.push_back({of.tile, self});
      const int outer = of.processes ? shape.variables[slot(of.tile)].outer : of.outer;
      if (outer >= 0 && !in_team[v]) result_.program.nested.push_back({self, outer});
    }
    for (const std::vector<int>& team : shape.teams) {
      Posynomial all;
      Powers powers;
      for (int v : team) add_processes(powers, v, 1);
      const int level = shape.variables[slot(team.front())].level;
      all.add(1 / static_cast<double>(hierarchy.level(level).instances), powers);
      result_.program.at_most_one.push_back(all);
    }
    held_.resize(slot(hierarchy.links()));
    terms_.resize(slot(hierarchy.links() + 1));
  }

  RelaxedShape run() {
    visit(shape_.node);
    if (hierarchy_.overlap) {
      minimise_longest();
    } else {
      for (const auto& of : terms_) {
        for (const Monomial& m : of) result_.program.objective.add(m.coefficient, m.powers);
      }
    }
    return std::move(result_);
  }

 private:
  struct Monomial {
    double coefficient = 1;
    Powers powers;
    bool operator==(const Monomial&) const = default;
  };

  // A variable of processes stands for the range that they share in a round.
  void add_processes(Powers& powers, int v, double power) const {
    add_power(powers, v, power);
    add_power(powers, shape_.variables[slot(v)].tile, -power);
  }
  static void add_power(Powers& powers, int v, double power) {
    const auto known = std::ranges::find(powers, v, &std::pair<int, double>::first);
    if (known == powers.end()) {
      powers.push_back({v, power});
    } else if ((known->second += power) == 0) {
      powers.erase(known);
    }
  }

  // One more variable: how many times shorter the longest is than where all tiles are one, which is
  // the worst.
  void minimise_longest() {
    double worst = 0;
    for (const auto& of : terms_) {
      double sum = 0;
      for (const Monomial& m : of) sum += m.coefficient;
      worst = std::max(worst, sum);
    }
    const int shorter = static_cast<int>(result_.program.upper.size());
    result_.program.upper.push_back(most_shorter);
    result_.program.objective.add(worst, {{shorter, -1}});
    for (const auto& of : terms_) {
      if (of.empty()) continue;
      Posynomial share;
      for (const Monomial& m : of) {
        Powers powers = m.powers;
        powers.push_back({shorter, 1});
        share.add(m.coefficient / worst, powers);
      }
      result_.program.at_most_one.push_back(share);
    }
  }

  void visit(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      loops_.push_back(loop);
      visit(*loop->body);
      loops_.pop_back();
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) visit(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      if (hold->kind != Kind::buffer) move(*hold);
      held_[slot(hold->level)].push_back(tile_of(*hold));
      visit(*hold->body);
      held_[slot(hold->level)].pop_back();
    } else {
      run_statement(std::get<Do>(node.is).statement);
    }
  }

  const Shape::Variable& variable(const Loop& loop) const {
    return shape_.variables[slot(static_cast<int>(loop.tile))];
  }

  // The bytes of the current tile, as a share of the level.
  Monomial tile_of(const Hold& hold) const {
    const OperationTree::Array& array = tree_.array(hold.array);
    const bool twice = hierarchy_.overlap && hold.kind != Kind::buffer;
    Monomial m{static_cast<double>(array.element.value()) * (twice ? 2 : 1), {}};
    for (int i : array.indices) {
      const Loop* innermost = nullptr;
      for (const Loop* l : loops_) innermost = l->index == i ? l : innermost;
      if (innermost == nullptr) {
        m.coefficient *= extent(tree_, i);
      } else {
        m.powers.push_back({static_cast<int>(innermost->tile), 1});
      }
    }
    return m;
  }

  void move(const Hold& hold) {
    const OperationTree::Array& array = tree_.array(hold.array);
    const IndexSet own = array.set();
    const Hierarchy::Level& level = hierarchy_.level(hold.level);
    // The band whose order is open stands right around the hold.
    int open = -1;
    if (!loops_.empty() && shape_.undecided[slot(variable(*loops_.back()).band)]) {
      open = variable(*loops_.back()).band;
    }
    Monomial bytes{tree_.bytes(hold.array) / level.bandwidth.value(), {}};
    // A transfer has at least one row.
    Monomial transfers{(level.transfer + level.row).value(), {}};
    bool again = false, shared = false;
    std::vector<const Loop*> innermost(tree_.indices.size(), nullptr);
    for (const Loop* l : loops_) {
      const bool mine = fusion::contains(own, l->index);
      if (variable(*l).band == open && variable(*l).level == hold.level && !mine) continue;
      innermost[slot(l->index)] = l;
      again |= !mine;
      if (l->processes < 0) continue;
      shared = true;
      for (Monomial* m : {&bytes, &transfers}) {
        add_processes(m->powers, static_cast<int>(l->processes), -1);
      }
    }
    for (std::size_t i = 0; i < innermost.size(); ++i) {
      if (innermost[i] == nullptr) continue;
      const double n = extent(tree_, static_cast<int>(i));
      const int tile = static_cast<int>(innermost[i]->tile);
      transfers.coefficient *= n;
      add_power(transfers.powers, tile, -1);
      if (fusion::contains(own, static_cast<int>(i))) continue;
      bytes.coefficient *= n;
      add_power(bytes.powers, tile, -1);
    }
    // What is stored again was read before, but not the first time.
    if (hold.kind == Kind::store && again && !shared && !hierarchy_.overlap) {
      result_.constant += bytes_once(hold);
      bytes.coefficient *= 2;
    }
    if (rows_ && level.row > Seconds(0)) {
      terms_[slot(hold.level)].push_back(rows_of(bytes, array, level, innermost));
    }
    terms_[slot(hold.level)].push_back(std::move(bytes));
    if (transfers.coefficient > 0) terms_[slot(hold.level)].push_back(std::move(transfers));
  }

  // All rows, as if none went on over axes whose tiles are as large as the tile around them.
  Monomial rows_of(const Monomial& bytes, const OperationTree::Array& array,
                   const Hierarchy::Level& level, const std::vector<const Loop*>& innermost) const {
    Monomial rows = bytes;
    rows.coefficient *=
        level.bandwidth.value() * level.row.value() / static_cast<double>(array.element.value());
    for (auto i = array.indices.rbegin(); i != array.indices.rend(); ++i) {
      if (const Loop* loop = innermost[slot(*i)]) {
        add_power(rows.powers, static_cast<int>(loop->tile), -1);
        break;
      }
      rows.coefficient /= extent(tree_, *i);
    }
    return rows;
  }

  double bytes_once(const Hold& hold) const {
    return tree_.bytes(hold.array) / hierarchy_.level(hold.level).bandwidth.value();
  }

  void run_statement(int statement) {
    Powers powers;
    for (const Loop* l : loops_) {
      if (l->processes >= 0) add_processes(powers, static_cast<int>(l->processes), -1);
    }
    terms_.back().push_back({tree_.flops(statement) / hierarchy_.rate.value(), powers});
    if (hierarchy_.tile_byte > Seconds(0)) read_tiles(statement, powers);
    for (int level = 0; level < hierarchy_.links(); ++level) {
      const auto capacity = static_cast<double>(hierarchy_.level(level).capacity.value());
      const std::vector<Monomial>& held = held_[slot(level)];
      if (capacity == 0 || held.empty()) continue;
      if (std::ranges::count(seen_, std::pair{level, held}) > 0) continue;
      seen_.push_back({level, held});
      Posynomial sum;
      for (const Monomial& m : held) sum.add(m.coefficient / capacity, m.powers);
      result_.program.at_most_one.push_back(sum);
    }
  }

  // Each tile of an array comes once for each step of the loops over indices that it lacks.
  void read_tiles(int statement, const Powers& shared) {
    const OperationTree::Statement& of = tree_.statement(statement);
    for (int a : {of.left, of.right, of.out, of.out}) {
      Monomial m{tree_.bytes(a) * hierarchy_.tile_byte.value(), shared};
      const IndexSet own = tree_.array(a).set();
      std::vector<const Loop*> innermost(tree_.indices.size(), nullptr);
      for (const Loop* l : loops_) innermost[slot(l->index)] = l;
      for (std::size_t i = 0; i < innermost.size(); ++i) {
        const int index = static_cast<int>(i);
        if (innermost[i] == nullptr || fusion::contains(own, index)) continue;
        m.coefficient *= extent(tree_, index);
        add_power(m.powers, static_cast<int>(innermost[i]->tile), -1);
      }
      terms_.back().push_back(std::move(m));
    }
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  const Shape& shape_;
  const bool rows_;  // all of them
  std::vector<const Loop*> loops_;
  std::vector<std::vector<Monomial>> held_;  // by level, on the way
  std::vector<std::pair<int, std::vector<Monomial>>> seen_;
  std::vector<std::vector<Monomial>> terms_;  // of time: by link, and of the arithmetic
  RelaxedShape result_;
};

// How large the range is that a loop's tiles are of.
std::int64_t around(const OperationTree& tree, const Shape& shape, const Values& values, int v) {
  std::int64_t size = tree.extent(shape.variables[slot(v)].index);
  for (int o = shape.variables[slot(v)].outer; o >= 0; o = shape.variables[slot(o)].outer) {
    size = std::min(size, values[slot(o)]);
  }
  return size;
}

Node filled_in(const OperationTree& tree, const Shape& shape, const Values& values,
               const Node& node) {
  if (const auto* loop = std::get_if<Loop>(&node.is)) {
    const int tile = static_cast<int>(loop->tile), team = static_cast<int>(loop->processes);
    Node body = filled_in(tree, shape, values, *loop->body);
    const std::int64_t whole = around(tree, shape, values, tile);
    const std::int64_t size = std::min(values[slot(tile)], whole);
    std::int64_t processes = team < 0 ? 1 : values[slot(team)];
    processes = std::min(processes, (whole + size - 1) / size);
    // A statement runs at once on what is held.
    const bool nothing_moves = processes == 1 && std::holds_alternative<Do>(body.is);
    if (size == whole || nothing_moves) return body;
    return Loop{loop->index, size, loop->level, processes, std::move(body)};
  }
  if (const auto* hold = std::get_if<Hold>(&node.is)) {
    return Hold{hold->kind, hold->array, hold->level, filled_in(tree, shape, values, *hold->body)};
  }
  if (const auto* parts = std::get_if<Sequence>(&node.is)) {
    Sequence all;
    for (const Node& part : parts->parts) {
      all.parts.push_back(filled_in(tree, shape, values, part));
    }
    return all;
  }
  return node;
}

}  // namespace

bool Shape::complete() const { return std::ranges::count(undecided, true) == 0; }

bool has_room(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes) {
  const Bytes capacity = hierarchy.levels.back().capacity;
  if (capacity == Bytes(0)) return true;
  double bytes = 0;
  std::set<std::string> seen;  // one tensor that several statements read is there once
  for (int a = 0; a < static_cast<int>(tree.arrays.size()); ++a) {
    if (homes[slot(a)] < hierarchy.links() || !seen.insert(tree.array(a).name).second) continue;
    bytes += tree.bytes(a);
  }
  return bytes <= static_cast<double>(capacity.value());
}

std::vector<Part> parts_of(const OperationTree& tree, const Hierarchy& hierarchy,
                           const Homes& homes) {
  std::vector<int> of(tree.statements.size());
  std::iota(of.begin(), of.end(), 0);
  for (std::size_t s = 0; s < of.size(); ++s) {
    const int made = tree.statements[s].out, parent = tree.parent(static_cast<int>(s));
    if (parent < 0 || homes[slot(made)] >= hierarchy.links()) continue;
    const int from = of[s], to = of[slot(parent)];
    for (int& o : of) o = o == from ? to : o;
  }
  // In the order of their last statements, so that each stands behind those that it reads.
  std::vector<Part> parts;
  for (std::size_t s = of.size(); s-- > 0;) {
    if (of[s] < 0) continue;
    Part part;
    const int mine = of[s];
    for (std::size_t t = 0; t < of.size(); ++t) {
      if (of[t] != mine) continue;
      part.push_back(static_cast<int>(t));
      of[t] = -1;
    }
    parts.insert(parts.begin(), std::move(part));
  }
  return parts;
}

Shape shape_of(const OperationTree& tree, const Hierarchy& hierarchy, const Part& part,
               const Homes& homes, const Decisions& decisions) {
  return ShapeBuilder(tree, hierarchy, homes, decisions).run(part);
}

Node with_values(const OperationTree& tree, const Shape& shape, const Values& values) {
  assert(values.size() == shape.variables.size());
  return filled_in(tree, shape, values, shape.node);
}

std::int64_t most_of(const OperationTree& tree, const Hierarchy& hierarchy, const Shape& shape,
                     const Values& values, int v) {
  const Shape::Variable& of = shape.variables[slot(v)];
  if (!of.processes) return around(tree, shape, values, v);
  std::int64_t others = 1;
  for (const std::vector<int>& team : shape.teams) {
    if (std::ranges::count(team, v) == 0) continue;
    for (int w : team) others *= w == v ? 1 : values[slot(w)];
  }
  return std::min(hierarchy.level(of.level).instances / others,
                  around(tree, shape, values, of.tile));
}

RelaxedShape relaxed(const OperationTree& tree, const Hierarchy& hierarchy, const Shape& shape) {
  return RelaxedTerms(tree, hierarchy, shape, false).run();
}
RelaxedShape with_all_rows(const OperationTree& tree, const Hierarchy& hierarchy,
                           const Shape& shape) {
  return RelaxedTerms(tree, hierarchy, shape, true).run();
}

std::vector<double> variables_of(const Shape& shape, const std::vector<double>& solution) {
  std::vector<double> y(shape.variables.size());
  for (std::size_t v = 0; v < y.size(); ++v) {
    const Shape::Variable& of = shape.variables[v];
    y[v] = of.processes ? solution[v] - solution[slot(of.tile)] : solution[v];
  }
  return y;
}

Seconds compulsory(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes,
                   const Part& part) {
  LevelTimes least;
  for (int link = 0; link < hierarchy.links(); ++link) {
    const Hierarchy::Level& level = hierarchy.level(link);
    double bytes = 0, transfers = 0;
    for (int s : part) {
      const OperationTree::Statement& statement = tree.statement(s);
      for (int a : {statement.left, statement.right, statement.out}) {
        if (homes[slot(a)] <= link) continue;
        bytes += tree.bytes(a);
        transfers += 1;
      }
    }
    const auto instances = static_cast<double>(hierarchy.instances(link));
    least.links.push_back(Seconds(bytes / level.bandwidth.value() / instances +
                                  transfers * (level.transfer + level.row).value() / instances));
  }
  for (int s : part) {
    const OperationTree::Statement& of = tree.statement(s);
    const double bytes = tree.bytes(of.left) + tree.bytes(of.right) + 2 * tree.bytes(of.out);
    least.arithmetic +=
        (Seconds(tree.flops(s) / hierarchy.rate.value()) + bytes * hierarchy.tile_byte) *
        (1 / static_cast<double>(hierarchy.instances(0)));
  }
  Seconds all = least.arithmetic;
  for (Seconds link : least.links) all = hierarchy.overlap ? std::max(all, link) : all + link;
  return all;
}

}  // namespace tcsim::levels
