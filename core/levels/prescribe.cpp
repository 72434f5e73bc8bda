#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "core/error.hpp"
#include "core/levels/plan.hpp"
#include "core/levels/single.hpp"
#include "core/stop.hpp"
#include "core/units/text.hpp"

namespace tcsim::levels {

namespace {

std::size_t spot(int i) { return static_cast<std::size_t>(i); }

// Subsets of intermediates are all looked at up to here; more are taken largest first.
constexpr std::size_t most_subsets_of = 12;
// Of a level's memory, what loops around fused statements may fill: the first where larger tiles
// are moved less often, the second where they are not, so that statements' own tiles have room.
constexpr double most_filled = 0.95, half_filled = 0.5;
// Of one tile for each process, that are tried.
constexpr std::int64_t most_rounds = 64;

// The inputs of a list that are not its B: the larger one of each statement that reads no
// intermediate of the list.
std::vector<int> main_arrays(const OperationTree& tree, const Part& list) {
  std::vector<int> arrays;
  for (int s : list) {
    const OperationTree::Statement& statement = tree.statement(s);
    const auto within = [&](int a) { return std::ranges::count(list, tree.array(a).producer) > 0; };
    if (within(statement.left)) arrays.push_back(statement.left);
    if (within(statement.right)) arrays.push_back(statement.right);
    if (!within(statement.left) && !within(statement.right)) {
      arrays.push_back(tree.bytes(statement.left) >= tree.bytes(statement.right) ? statement.left
                                                                                 : statement.right);
    }
    if (std::ranges::count(list, tree.parent(s)) == 0) arrays.push_back(statement.out);
  }
  return arrays;
}

double slice(const OperationTree& tree, int array, const IndexSet& common) {
  double bytes = static_cast<double>(tree.array(array).element.value());
  for (int i : fusion::without(tree.array(array).set(), common)) {
    bytes *= static_cast<double>(tree.extent(i));
  }
  return bytes;
}

// f(i, j) for the arrays of a list. `cut` is those that may be held around the others: its arrays
// but those that live further inside.
class Recurrence {
 public:
  Recurrence(const OperationTree& tree, int level, const Homes& homes)
      : tree_(tree), level_(level), homes_(homes) {}

  double of(const Part& list) {
    if (list.empty()) return 0;
    const auto known = known_.find(list);
    if (known != known_.end()) return known->second;
    std::vector<int> arrays = main_arrays(tree_, list);
    // What is held around the list already.
    std::erase_if(arrays, [&](int a) {
      return tree_.array(a).is_intermediate() && homes_[spot(a)] <= level_ && at_an_end(list, a);
    });
    if (arrays.empty()) return known_[list] = 0;
    IndexSet common = tree_.array(arrays.front()).set();
    for (int a : arrays) common = fusion::common(common, tree_.array(a).set());
    double least = std::numeric_limits<double>::infinity();
    bool inner = true;  // all of its intermediates live further inside
    for (int a : arrays) {
      const bool ends = at_an_end(list, a);
      if (!ends && homes_[spot(a)] < level_) continue;
      const double held = slice(tree_, a, common);
      if (ends) {
        // Held around all others; where there are others, these are a shorter list.
        least = std::min(least, held + (list.size() > 1 ? of(without_end(list, a)) : 0));
        continue;
      }
      inner = false;
      const auto [left, right] = sides(list, a);
      least = std::min(least, held + std::max(of(left), of(right)));
    }
    if (inner && list.size() > 1) {
      // Its first and last tensors alone (section 5.2).
      least = 0;
      for (int a : arrays) {
        if (at_an_end(list, a)) least += slice(tree_, a, common);
      }
    }
    known_[list] = least;
    return least;
  }

 private:
  static bool within(const Part& list, int s) { return std::ranges::count(list, s) > 0; }

  bool at_an_end(const Part& list, int array) const {
    return !within(list, tree_.array(array).producer) || !within(list, tree_.array(array).consumer);
  }

  // The list but the statement at the end that the array belongs to.
  Part without_end(const Part& list, int array) const {
    Part rest = list;
    const int end = tree_.array(array).producer >= 0 && within(list, tree_.array(array).producer)
                        ? tree_.array(array).producer
                        : tree_.array(array).consumer;
    std::erase(rest, end);
    return connected(rest) ? rest : Part{rest.front()};
  }
  bool connected(const Part& list) const {
    int roots = 0;
    for (int s : list) roots += within(list, tree_.parent(s)) ? 0 : 1;
    return roots <= 1;
  }
  std::pair<Part, Part> sides(const Part& list, int array) const {
    std::vector<bool> makes(tree_.statements.size(), false);
    makes[spot(tree_.array(array).producer)] = true;
    for (auto s = list.rbegin(); s != list.rend(); ++s) {
      const int parent = tree_.parent(*s);
      if (parent >= 0 && makes[spot(parent)]) makes[spot(*s)] = true;
    }
    std::pair<Part, Part> sides;
    for (int s : list) (makes[spot(s)] ? sides.first : sides.second).push_back(s);
    return sides;
  }

  const OperationTree& tree_;
  const int level_;
  const Homes& homes_;
  std::map<Part, double> known_;
};

// Chooses values for a shape, from the outermost band to the innermost.
class Prescriber {
 public:
  Prescriber(const OperationTree& tree, const Hierarchy& hierarchy, const Part& part,
             const Homes& homes)
      : tree_(tree), hierarchy_(hierarchy), part_(part), homes_(homes) {}

  // `multiples`: tiles that processes share are multiples of how many these are, rather than of one
  // size.
  PlannedPart run(bool multiples) {
    multiples_ = multiples;
    Decisions d;
    shape_ = shape_of(tree_, hierarchy_, part_, homes_, d);
    for (const Asked& a : shape_.splits) d.splits.push_back(a.usual);
    for (const Asked& a : shape_.orders) d.orders.push_back(a.usual);
    reshape(d);
    values_.assign(shape_.variables.size(), 1);
    if (!fit()) return {part_, d, {}};
    for (std::size_t b = 0; b < shape_.bands.size(); ++b) {
      StopScope::heed();
      share(static_cast<int>(b));
      const Band band = shape_.bands[b];
      if (band.statements.size() == 1) {
        single(static_cast<int>(b), d);
      } else {
        grow(band);
      }
    }
    return {part_, d, values_};
  }

 private:
  void reshape(const Decisions& d) {
    shape_ = shape_of(tree_, hierarchy_, part_, homes_, d);
    team_.assign(shape_.variables.size(), -1);
    for (std::size_t v = 0; v < shape_.variables.size(); ++v) {
      if (shape_.variables[v].processes) {
        team_[spot(shape_.variables[v].tile)] = static_cast<int>(v);
      }
    }
  }

  std::vector<Bytes> held() const {
    return count_for_time(tree_, hierarchy_, with_values(tree_, shape_, values_)).high_water;
  }
  bool fit() const { return fit_in(1, std::vector<Bytes>(spot(hierarchy_.links()), Bytes(0))); }
  // Whether each level has at most that share of it filled, or what it had `before`.
  bool fit_in(double share, const std::vector<Bytes>& before) const {
    const std::vector<Bytes> now = held();
    for (int l = 0; l < hierarchy_.links(); ++l) {
      const auto capacity = static_cast<double>(hierarchy_.level(l).capacity.value());
      if (capacity == 0 || now[spot(l)] <= before[spot(l)]) continue;
      if (static_cast<double>(now[spot(l)].value()) > share * capacity) return false;
    }
    return true;
  }

  std::int64_t range(int variable) const {
    return most_of(tree_, hierarchy_, shape_, values_, variable);
  }
  // What one process has of it.
  std::int64_t range_of_one(int variable) const {
    const int team = team_[spot(variable)];
    const std::int64_t p = team < 0 ? 1 : values_[spot(team)];
    return (range(variable) + p - 1) / p;
  }

  // Bytes that statements of a band move, there or further inside, of arrays without the index.
  double lacking(const Band& band, int index) const {
    double bytes = 0;
    for (int s : band.statements) {
      const OperationTree::Statement& statement = tree_.statement(s);
      for (int a : {statement.left, statement.right, statement.out}) {
        if (homes_[spot(a)] < std::max(band.level, 1)) continue;
        if (!fusion::contains(tree_.array(a).set(), index)) bytes += tree_.bytes(a);
      }
    }
    return bytes;
  }

  // Deals the band's indices to the processes: those that the largest arrays have first.
  void share(int b) {
    const Band& band = shape_.bands[spot(b)];
    std::int64_t left = hierarchy_.level(band.level).instances;
    for (std::int64_t prime = 2; left > 1; ++prime) {
      if (prime * prime > left) prime = left;
      while (left % prime == 0) {
        left /= prime;
        int best = -1;
        double least = std::numeric_limits<double>::infinity();
        std::int64_t longest = 0;
        for (int v : band.tiles) {
          const int team = team_[spot(v)];
          if (team < 0) continue;
          const std::int64_t each = range(v) / (values_[spot(team)] * prime);
          if (each < 1 || values_[spot(team)] * prime > range(team)) continue;
          const double lacks = lacking(band, shape_.variables[spot(v)].index);
          if (lacks > least || (lacks == least && each <= longest)) continue;
          least = lacks, longest = each, best = team;
        }
        if (best >= 0) values_[spot(best)] *= prime;
      }
    }
  }

  void grow_one(int v, double filled) {
    const std::vector<Bytes> before = held();
    std::int64_t low = values_[spot(v)], high = std::max(low, range_of_one(v));
    while (low < high) {
      const std::int64_t middle = low + (high - low + 1) / 2;
      values_[spot(v)] = middle;
      if (fit_in(filled, before)) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    values_[spot(v)] = dealt(v, low);
  }

  // No larger than a tile, in as few rounds: even ones, which the processes that share them, or
  // share what is in them, have as many of each.
  std::int64_t dealt(int v, std::int64_t tile) const {
    const int level = shape_.variables[spot(v)].level, team = team_[spot(v)];
    const std::int64_t whole = range(v), p = team < 0 ? 1 : values_[spot(team)];
    if (tile >= whole) return whole;
    const auto up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
    const std::int64_t rounds = up(up(whole, tile), p);
    std::int64_t even = up(whole, rounds * p);
    if (p > 1) {
      // More rounds, up to twice as many, where these leave the first process less.
      const auto first = [&](std::int64_t size) {
        const std::int64_t tiles = up(whole, size);
        return up(tiles, p) * size - ((tiles - 1) % p == 0 ? tiles * size - whole : 0);
      };
      for (std::int64_t r = rounds + 1; r <= std::min(2 * rounds, rounds + most_rounds); ++r) {
        const std::int64_t size = up(whole, std::min(r * p, whole));
        if (first(size) < first(even)) even = size;
      }
      return even;
    }
    const std::int64_t inside = level == 0 ? 1 : hierarchy_.level(level - 1).instances;
    if (!multiples_) return even;
    const std::int64_t shared = up(even, inside) * inside;
    if (shared <= tile) return shared;
    return tile >= inside ? tile - tile % inside : even;
  }

  // Loops around fused statements: first over what some of their arrays lack, so that these move
  // as seldom as may be.
  void grow(const Band& band) {
    std::vector<int> order = band.tiles;
    std::ranges::stable_sort(order, [&](int a, int b) {
      return lacking(band, shape_.variables[spot(a)].index) >
             lacking(band, shape_.variables[spot(b)].index);
    });
    for (int v : order) {
      const bool moved_less = lacking(band, shape_.variables[spot(v)].index) > 0;
      grow_one(v, band.one_unit || moved_less ? most_filled : half_filled);
    }
  }

  // Composite indices of a statement.
  struct Classes {
    std::vector<int> i, j, k, rest;  // variables of tiles
  };
  Classes classes(const Band& band) const {
    const OperationTree::Statement& s = tree_.statement(band.statements.front());
    const IndexSet left = tree_.array(s.left).set(), right = tree_.array(s.right).set(),
                   out = tree_.array(s.out).set();
    Classes c;
    for (int v : band.tiles) {
      const int index = shape_.variables[spot(v)].index;
      const bool l = fusion::contains(left, index), r = fusion::contains(right, index),
                 o = fusion::contains(out, index);
      (l && r && o ? c.rest : l && r ? c.k : l ? c.i : c.j).push_back(v);
    }
    return c;
  }

  double product(const std::vector<int>& variables) const {
    double all = 1;
    for (int v : variables) all *= static_cast<double>(range_of_one(v));
    return all;
  }

  // Tiles of a composite index.
  void spread(const std::vector<int>& variables, double tile) {
    for (auto v = variables.rbegin(); v != variables.rend(); ++v) {
      const auto most = static_cast<double>(range_of_one(*v));
      const double mine = std::clamp(std::floor(tile), 1.0, most);
      values_[spot(*v)] = dealt(*v, static_cast<std::int64_t>(mine));
      tile /= mine;
    }
  }

  void single(int b, Decisions& d) {
    const Band band = shape_.bands[spot(b)];
    const int statement = band.statements.front();
    const OperationTree::Statement& s = tree_.statement(statement);
    const Classes c = classes(band);
    const Extents n{product(c.i), product(c.j), product(c.k)};
    const double element = static_cast<double>(tree_.array(s.out).element.value());
    const auto room = [&](int level) {
      const auto capacity = static_cast<double>(hierarchy_.level(level).capacity.value());
      if (capacity == 0) return std::numeric_limits<double>::infinity();
      const Counts counts = count_for_time(tree_, hierarchy_, with_values(tree_, shape_, values_));
      const auto held = static_cast<double>(counts.high_water[spot(level)].value());
      return std::max(0.0, (capacity - held) / element / (hierarchy_.overlap ? 2 : 1));
    };
    const double memory = room(band.level);
    Extents tiles;
    int stays = s.out;
    const double smallest = n.smallest();
    const bool innermost = band.level == 0;
    bool stream = smallest + 2 * std::sqrt(smallest) + 1 <= memory;
    Memories m{memory, 0, 0, 0};
    if (!innermost) {
      m.gamma = room(band.level - 1);
      m.alpha_beta = element / hierarchy_.level(band.level).bandwidth.value();
      m.beta_gamma = element / hierarchy_.level(band.level - 1).bandwidth.value() /
                     static_cast<double>(hierarchy_.level(band.level - 1).instances);
    }
    if (stream && !innermost && smallest > memory / 3) {
      stream = streaming_cost(n, m) <= equal_tiles_cost(n, m);
    }
    if (stream) {
      tiles = n;
      if (n.i * n.k == smallest) {
        stays = s.left;
        tiles.j = (memory - smallest) / (n.i + n.k);
      } else if (n.k * n.j == smallest) {
        stays = s.right;
        tiles.i = (memory - smallest) / (n.k + n.j);
      } else {
        tiles.k = (memory - smallest) / (n.i + n.j);
      }
    } else if (!innermost && equal_tiles_better(m)) {
      tiles = equal_tiles(n, memory);
    } else {
      tiles.k = 1;
      tiles.i = std::min(n.i, flat_tile(memory));
      tiles.j = std::min(n.j, (memory - tiles.i) / (tiles.i + 1));
      tiles.i = std::min(n.i, (memory - tiles.j) / (tiles.j + 1));
    }
    for (std::size_t o = 0; o < shape_.orders.size(); ++o) {
      const Asked& asked = shape_.orders[o];
      const auto found = std::ranges::find(asked.stays, stays);
      if (asked.band != b || found == asked.stays.end()) continue;
      const int option = static_cast<int>(found - asked.stays.begin());
      if (option == d.orders[o]) continue;
      d.orders[o] = option;
      reorder(d, b);
      return single_tiles(b, tiles);
    }
    single_tiles(b, tiles);
  }

  // Equal tiles, and what an index that is shorter leaves goes to the others.
  static Extents equal_tiles(const Extents& n, double memory) {
    std::array<double, 3> size{n.i, n.j, n.k}, tile{};
    std::array<int, 3> order{0, 1, 2};
    std::ranges::sort(order, {}, [&](int i) { return size[spot(i)]; });
    double& a = tile[spot(order[0])];
    double& b = tile[spot(order[1])];
    a = std::min(size[spot(order[0])], equal_tile(memory));
    b = std::min(size[spot(order[1])], -a + std::sqrt(a * a + memory));
    tile[spot(order[2])] =
        std::min(size[spot(order[2])], std::max(1.0, (memory - a * b) / (a + b)));
    return {tile[0], tile[1], tile[2]};
  }

  // An order changes the places of a band's variables; what they are of does not change.
  void reorder(const Decisions& d, int b) {
    std::map<std::tuple<int, int, bool>, std::int64_t> known;  // band, index, processes
    for (std::size_t v = 0; v < shape_.variables.size(); ++v) {
      const Shape::Variable& of = shape_.variables[v];
      if (of.band <= b) known[{of.band, of.index, of.processes}] = values_[v];
    }
    reshape(d);
    for (std::size_t v = 0; v < shape_.variables.size(); ++v) {
      const Shape::Variable& of = shape_.variables[v];
      const auto found = known.find({of.band, of.index, of.processes});
      values_[v] = found == known.end() ? 1 : found->second;
    }
  }

  void single_tiles(int b, const Extents& tiles) {
    const Band& band = shape_.bands[spot(b)];
    const Classes c = classes(band);
    spread(c.i, tiles.i);
    spread(c.j, tiles.j);
    spread(c.k, tiles.k);
    while (!fit()) {
      int largest = -1;
      for (int v : band.tiles) {
        if (largest < 0 || values_[spot(v)] > values_[spot(largest)]) largest = v;
      }
      if (values_[spot(largest)] == 1) return;
      values_[spot(largest)] /= 2;
    }
    for (int v : c.rest) grow_one(v, 1);
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  const Part& part_;
  const Homes& homes_;
  bool multiples_ = false;
  Shape shape_;
  Values values_;
  std::vector<int> team_;  // by variable of a tile: that of its processes, or -1
};

// Eq. 5.4 for what the first contraction of a list sums, and for what the last one adds.
bool ends_pay(const OperationTree& tree, const Part& list, double capacity, double q) {
  const auto product = [&](const IndexSet& indices) {
    double all = 1;
    for (int i : indices) all *= static_cast<double>(tree.extent(i));
    return all;
  };
  const OperationTree::Statement& first = tree.statement(list.front());
  const OperationTree::Statement& last = tree.statement(list.back());
  const double elements = capacity / static_cast<double>(tree.array(first.out).element.value());
  double added = 1;
  for (int a : {last.left, last.right}) {
    if (tree.array(a).producer < 0) continue;
    added = product(fusion::without(last.indices, tree.array(a).set()));
  }
  return large_first_pays(product(fusion::without(first.indices, tree.array(first.out).set())),
                          elements, q) &&
         large_first_pays(added, elements, q);
}

std::vector<int> intermediates(const OperationTree& tree) {
  std::vector<int> arrays;
  for (int a = 0; a < static_cast<int>(tree.arrays.size()); ++a) {
    if (tree.array(a).is_intermediate()) arrays.push_back(a);
  }
  return arrays;
}

}  // namespace

LevelPlan plan_of(const OperationTree& tree, const Hierarchy& hierarchy, Homes homes,
                  std::vector<PlannedPart> parts) {
  LevelPlan plan{std::move(homes), std::move(parts), {}, {}, {}};
  Sequence all;
  for (const PlannedPart& p : plan.parts) {
    all.parts.push_back(
        with_values(tree, shape_of(tree, hierarchy, p.part, plan.homes, p.decisions), p.values));
    plan.times += times(hierarchy, count(tree, hierarchy, all.parts.back()));
  }
  plan.node = all.parts.size() == 1 ? std::move(all.parts.front()) : Node(std::move(all));
  plan.counts = count(tree, hierarchy, plan.node);
  return plan;
}

bool large_first_pays(double summed, double memory, double q) {
  const double rest = std::sqrt(1 - q);
  return rest / (1 - rest) >= summed / std::sqrt(memory);
}

std::vector<FusionCondition> fusion_conditions(const OperationTree& tree,
                                               const Hierarchy& hierarchy,
                                               const PrescribeOptions& options) {
  std::vector<FusionCondition> conditions;
  for (int a : intermediates(tree)) {
    const OperationTree::Array& array = tree.array(a);
    FusionCondition c{a, 0, 1, 1, 0};
    const IndexSet own = array.set();
    for (int i : fusion::without(tree.statement(array.producer).indices, own)) {
      c.summed *= static_cast<double>(tree.extent(i));
    }
    for (int i : fusion::without(tree.statement(array.consumer).indices, own)) {
      c.kept *= static_cast<double>(tree.extent(i));
    }
    for (int link = 0; link < hierarchy.links(); ++link) {
      // What an element takes, and a multiply-add, with all processes at work.
      const double moved = static_cast<double>(array.element.value()) /
                           hierarchy.level(link).bandwidth.value() /
                           static_cast<double>(hierarchy.instances(link));
      const double added = 2 / hierarchy.rate.value() / static_cast<double>(hierarchy.instances(0));
      c.link = link;
      c.limit = 2 * moved / (options.fraction * added);
      conditions.push_back(c);
    }
  }
  return conditions;
}

double fused_memory(const OperationTree& tree, const Part& list, int level, const Homes& homes,
                    bool with_ends) {
  const std::vector<int> arrays = main_arrays(tree, list);
  double bytes = Recurrence(tree, level, homes).of(list);
  for (int s : list) {
    if (!with_ends && (s == list.front() || s == list.back())) continue;
    for (int a : {tree.statement(s).left, tree.statement(s).right}) {
      if (std::ranges::count(arrays, a) == 0) bytes += tree.bytes(a);
    }
  }
  return bytes;
}

Homes unfused(const OperationTree& tree, const Hierarchy& hierarchy) {
  return Homes(tree.arrays.size(), hierarchy.links());
}

LevelPlan prescribe(const OperationTree& tree, const Hierarchy& hierarchy, const Homes& homes) {
  if (!has_room(tree, hierarchy, homes)) {
    throw UnsupportedError(
        tree.name,
        fmt::format("its tensors do not fit into {} of {}", hierarchy.levels.back().name,
                    to_text(hierarchy.levels.back().capacity)),
        "give it more capacity");
  }
  std::vector<PlannedPart> parts;
  for (const Part& part : parts_of(tree, hierarchy, homes)) {
    Prescriber prescriber(tree, hierarchy, part, homes);
    PlannedPart best = prescriber.run(true);
    // No values are right where there is nothing to choose, all extents being one.
    const Shape first = shape_of(tree, hierarchy, part, homes, {});
    const bool found =
        !best.values.empty() ||
        (first.variables.empty() &&
         fits(hierarchy, count_for_time(tree, hierarchy, with_values(tree, first, {}))));
    if (!found) {
      throw UnsupportedError(
          tree.name,
          fmt::format("tiles of one do not fit into {} of {}", hierarchy.level(0).name,
                      to_text(hierarchy.level(0).capacity)),
          "give it and the levels outside it more capacity");
    }
    const auto seconds = [&](const PlannedPart& p) {
      const Shape shape = shape_of(tree, hierarchy, p.part, homes, p.decisions);
      const Counts counts = count_for_time(tree, hierarchy, with_values(tree, shape, p.values));
      return times(hierarchy, counts).total();
    };
    PlannedPart other = prescriber.run(false);
    parts.push_back(seconds(other) < seconds(best) ? std::move(other) : std::move(best));
  }
  return plan_of(tree, hierarchy, homes, std::move(parts));
}

LevelPlan prescribe(const OperationTree& tree, const Hierarchy& hierarchy,
                    const PrescribeOptions& options) {
  Homes homes = unfused(tree, hierarchy);
  const std::vector<FusionCondition> conditions = fusion_conditions(tree, hierarchy, options);
  // From the innermost link out: what is fused inside is fused outside as well.
  for (int link = 0; link < hierarchy.links(); ++link) {
    std::vector<int> open;
    for (const FusionCondition& c : conditions) {
      if (c.link == link && c.pays() && !is_fused(homes, c.array, link)) open.push_back(c.array);
    }
    std::ranges::stable_sort(open, std::greater{}, [&](int a) { return tree.bytes(a); });
    const auto capacity = static_cast<double>(hierarchy.level(link).capacity.value());
    // By the part that takes the most; infinite where one does not fit.
    const auto held = [&](const Homes& with) {
      double most = 0;
      Homes seen = with;
      for (int& h : seen) h = h <= link ? h : hierarchy.links();
      for (const Part& part : parts_of(tree, hierarchy, seen)) {
        if (part.size() == 1) continue;
        double needed = fused_memory(tree, part, link, seen);
        if (capacity != 0 && needed > capacity) {
          needed = fused_memory(tree, part, link, seen, false);
          if (needed > capacity || !ends_pay(tree, part, capacity, needed / capacity)) {
            return std::numeric_limits<double>::infinity();
          }
        }
        most = std::max(most, needed);
      }
      return most;
    };
    Homes best = homes;
    const auto with = [&](std::size_t subset) {
      Homes h = homes;
      for (std::size_t a = 0; a < open.size(); ++a) {
        if ((subset >> a & 1) != 0) h[spot(open[a])] = link;
      }
      return h;
    };
    if (open.size() <= most_subsets_of) {
      double most = 0, least_held = std::numeric_limits<double>::infinity();
      for (std::size_t subset = 1; subset < std::size_t{1} << open.size(); ++subset) {
        double saved = 0;
        for (std::size_t a = 0; a < open.size(); ++a) {
          if ((subset >> a & 1) != 0) saved += 2 * tree.bytes(open[a]);
        }
        if (saved < most * (1 - 1e-12)) continue;
        const Homes h = with(subset);
        const double needed = held(h);
        if (std::isinf(needed)) continue;
        if (saved <= most * (1 + 1e-12) && needed >= least_held) continue;
        most = saved, least_held = needed, best = h;
      }
    } else {
      for (int a : open) {
        Homes h = best;
        h[spot(a)] = link;
        if (!std::isinf(held(h))) best = h;
      }
    }
    homes = best;
  }
  // What the recurrence leaves out, tiles of other arrays, may not fit beside.
  for (int link = 0; link <= hierarchy.links(); ++link) {
    try {
      return prescribe(tree, hierarchy, homes);
    } catch (const UnsupportedError&) {
      if (link == hierarchy.links()) throw;
      for (int& h : homes) h = std::max(h, link + 1);
    }
  }
  return prescribe(tree, hierarchy, homes);
}

}  // namespace tcsim::levels
