#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "core/fusion/walk.hpp"
#include "core/levels/count.hpp"
#include "core/model/countable.hpp"

namespace tcsim::levels {

namespace {

using fusion::Range;
using fusion::Ranges;

std::size_t place(int i) { return static_cast<std::size_t>(i); }
std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

// Goes through a schedule tile by tile. It knows nothing of count().
class LevelReplay {
 public:
  LevelReplay(const OperationTree& tree, const Hierarchy& hierarchy)
      : tree_(tree), hierarchy_(hierarchy), stored_() {
    const int links = hierarchy.links();
    number_.assign(place(links), 0);
    moved_.resize(place(links));
    for (int l = 0; l < links; ++l) {
      const auto instances = place(hierarchy.instances(l));
      moved_[place(l)].assign(instances, std::vector<Moved>(tree.arrays.size()));
      held_.emplace_back(instances, 0);
      most_.emplace_back(instances, 0);
    }
    done_.assign(place(hierarchy.instances(0)), std::vector<std::int64_t>(tree.statements.size()));
    touched_ = done_;
    runs_.assign(tree.statements.size(), 0);
    stored_.resize(tree.arrays.size(), std::vector<std::set<Corner>>(place(links)));
    shared_.assign(tree.indices.size(), 0);
  }

  Counts run(const Node& node) {
    ranges_ = fusion::all_of(tree_);
    around_.assign(tree_.arrays.size(), ranges_);
    visit(node);
    Counts counts;
    for (std::size_t l = 0; l < moved_.size(); ++l) {
      Counts::OfLink link;
      link.all.resize(tree_.arrays.size());
      std::int64_t most = -1;
      for (const std::vector<Moved>& instance : moved_[l]) {
        Moved sum;
        for (std::size_t a = 0; a < instance.size(); ++a) {
          link.all[a] += instance[a];
          sum += instance[a];
        }
        if (sum.bytes() <= most) continue;
        most = sum.bytes();
        link.busiest = instance;
      }
      counts.links.push_back(std::move(link));
      counts.high_water.push_back(Bytes(std::ranges::max(most_[l])));
    }
    for (std::size_t s = 0; s < tree_.statements.size(); ++s) {
      std::int64_t most = 0, bytes = 0;
      for (const auto& of : done_) most = std::max(most, of[s]);
      for (const auto& of : touched_) bytes = std::max(bytes, of[s]);
      counts.statements.push_back({runs_[s], most, bytes});
    }
    return counts;
  }

 private:
  using Corner = std::vector<std::int64_t>;

  // Which instance of a level is at work, where `number` is its place beside its siblings.
  std::size_t instance(int level, std::int64_t number) const {
    std::int64_t outside = 0;
    for (int l = hierarchy_.links() - 1; l > level; --l) {
      outside = outside * hierarchy_.level(l).instances + number_[place(l)];
    }
    return place(outside * hierarchy_.level(level).instances + number);
  }

  // Those that hold the tile: one, or each that has a tile of the loops that they share inside.
  std::vector<std::size_t> instances(const Hold& hold) const {
    std::vector<std::int64_t> numbers{number_[place(hold.level)]};
    for (const Loop* l : shared_inside(hierarchy_, hold)) {
      const std::int64_t size = ranges_[place(l->index)].size;
      const std::int64_t busy = std::min(l->processes, (size + l->tile - 1) / l->tile);
      std::vector<std::int64_t> more;
      for (std::int64_t number : numbers) {
        for (std::int64_t p = 0; p < busy; ++p) more.push_back(number * l->processes + p);
      }
      numbers = std::move(more);
    }
    std::vector<std::size_t> all;
    for (std::int64_t number : numbers) all.push_back(instance(hold.level, number));
    return all;
  }

  void visit(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      Range& range = ranges_[place(loop->index)];
      const Range whole = range;
      std::int64_t& number = number_[place(loop->level)];
      const std::int64_t before = number;
      shared_[place(loop->index)] += loop->processes > 1;
      std::int64_t tile = 0;
      for (std::int64_t begin = 0; begin < whole.size; begin += loop->tile, ++tile) {
        StopScope::heed();
        range = {whole.begin + begin, std::min(loop->tile, whole.size - begin)};
        number = before * loop->processes + tile % loop->processes;
        visit(*loop->body);
      }
      shared_[place(loop->index)] -= loop->processes > 1;
      number = before;
      range = whole;
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) visit(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      const std::int64_t bytes = tile_bytes(hold->array);
      const bool read = is_read(*hold);
      const std::int64_t rows = rows_of(*hold);
      const std::int64_t room =
          hierarchy_.overlap && hold->kind != Kind::buffer ? 2 * bytes : bytes;
      const std::vector<std::size_t> holders = instances(*hold);
      for (std::size_t who : holders) {
        Moved& moved = moved_[place(hold->level)][who][place(hold->array)];
        if (read) moved.in += bytes, ++moved.ins, moved.rows += rows;
        if (hold->kind == Kind::store) moved.out += bytes, ++moved.outs, moved.rows += rows;
        std::int64_t& held = held_[place(hold->level)][who];
        held += room;
        most_[place(hold->level)][who] = std::max(most_[place(hold->level)][who], held);
      }
      const Ranges around = std::exchange(around_[place(hold->array)], ranges_);
      visit(*hold->body);
      around_[place(hold->array)] = around;
      for (std::size_t who : holders) held_[place(hold->level)][who] -= room;
    } else {
      const int s = std::get<Do>(node.is).statement;
      std::int64_t points = 1;
      for (int i : tree_.statement(s).indices) points *= ranges_[place(i)].size;
      const std::size_t who = instance(0, number_[0]);
      done_[who][place(s)] += points;
      const OperationTree::Statement& of = tree_.statement(s);
      touched_[who][place(s)] +=
          tile_bytes(of.left) + tile_bytes(of.right) + 2 * tile_bytes(of.out);
      ++runs_[place(s)];
    }
  }

  std::int64_t tile_bytes(int array) const {
    std::int64_t bytes = tree_.array(array).element.value();
    for (int i : tree_.array(array).indices) bytes *= ranges_[place(i)].size;
    return bytes;
  }

  // A row ends where the tile does, unless the tile around it ends there as well.
  std::int64_t rows_of(const Hold& hold) const {
    const std::vector<int>& axes = tree_.array(hold.array).indices;
    std::int64_t rows = 1;
    bool all = true;  // of every axis so far, the last one first
    for (auto i = axes.rbegin(); i != axes.rend(); ++i) {
      if (!all) rows *= ranges_[place(*i)].size;
      all = all && ranges_[place(*i)].size == around_[place(hold.array)][place(*i)].size;
    }
    return rows;
  }

  bool is_read(const Hold& hold) {
    if (hold.kind != Kind::store) return hold.kind == Kind::load;
    Corner corner;
    for (const Range& r : fusion::ranges_of(tree_, hold.array, ranges_)) corner.push_back(r.begin);
    const bool first = stored_[place(hold.array)][place(hold.level)].insert(corner).second;
    const IndexSet of = tree_.array(hold.array).set();
    for (const Loop* l : shared_inside(hierarchy_, hold)) {
      if (!fusion::contains(of, l->index)) return true;
    }
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      if (shared_[i] > 0 && !fusion::contains(of, static_cast<int>(i))) return true;
    }
    return !first;
  }

  const OperationTree& tree_;
  const Hierarchy& hierarchy_;
  Ranges ranges_;
  std::vector<Ranges> around_;        // by array: those of its tile outside
  std::vector<std::int64_t> number_;  // by level: of the instance beside its siblings
  std::vector<std::vector<std::vector<Moved>>> moved_;     // by link, instance and array
  std::vector<std::vector<std::int64_t>> held_, most_;     // by level and instance
  std::vector<std::vector<std::int64_t>> done_, touched_;  // by process and statement
  std::vector<std::int64_t> runs_;
  std::vector<std::vector<std::set<Corner>>> stored_;  // by array and level
  std::vector<int> shared_;                            // by index
};

}  // namespace

Counts simulate(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node) {
  count(tree, hierarchy, node);  // refuses what is too large to be counted
  return LevelReplay(tree, hierarchy).run(node);
}

}  // namespace tcsim::levels
