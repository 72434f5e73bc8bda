#include "core/levels/count.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "core/model/countable.hpp"

namespace tcsim::levels {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Products and sums below 2^62.
class Checked {
 public:
  explicit Checked(const OperationTree& tree) : tree_(tree) {}

  std::int64_t times(std::int64_t a, std::int64_t b) const {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a, b, &product) || product >= limit) refuse();
    return product;
  }
  std::int64_t plus(std::int64_t a, std::int64_t b) const {
    if (a >= limit - b) refuse();
    return a + b;
  }

 private:
  static constexpr std::int64_t limit = std::int64_t{1} << 62;
  [[noreturn]] void refuse() const {
    throw TooLargeError(tree_.name, "2^62 or more bytes, transfers or multiply-adds",
                        "give smaller sizes");
  }
  const OperationTree& tree_;
};

// How many current tiles of a size an index has in all, and how many the first process has.
struct Piece {
  std::int64_t size, all, busiest;
};

// The current tiles of an index.
struct Tiles {
  std::vector<Piece> pieces;
  std::int64_t largest = 0;
  Piece numbers{0, 0, 0};                // of them, without a size
  std::int64_t elements_of_busiest = 0;  // of all: the index's extent

  explicit Tiles(std::vector<Piece> of) : pieces(std::move(of)) {
    for (const Piece& p : pieces) {
      largest = std::max(largest, p.size);
      numbers.all += p.all;
      numbers.busiest += p.busiest;
      elements_of_busiest += p.size * p.busiest;
    }
  }
};

class LevelCounter {
 public:
  LevelCounter(const OperationTree& tree, const Hierarchy& hierarchy, bool all)
      : tree_(tree), checked_(tree), hierarchy_(hierarchy), all_(all) {
    for (const OperationTree::Index& i : tree.indices) {
      tiles_.emplace_back(std::vector<Piece>{{i.extent, 1, 1}});
      shared_.push_back(0);
    }
    counts_.links.resize(at(hierarchy.links()));
    for (Counts::OfLink& l : counts_.links) {
      l.all.resize(tree.arrays.size());
      l.busiest.resize(tree.arrays.size());
    }
    counts_.statements.resize(tree.statements.size());
    around_.assign(tree.arrays.size(), 0);
    own_.resize(tree.arrays.size(), std::vector<char>(tree.indices.size(), 0));
    for (std::size_t a = 0; a < own_.size(); ++a) {
      for (int i : tree.arrays[a].indices) own_[a][at(i)] = 1;
    }
    held_.assign(at(hierarchy.links()), 0);
    most_ = held_;
  }

  Counts run(const Node& node) {
    visit(node);
    for (std::int64_t bytes : most_) counts_.high_water.push_back(Bytes(bytes));
    return std::move(counts_);
  }

 private:
  void visit(const Node& node) {
    if (const auto* loop = std::get_if<Loop>(&node.is)) {
      Tiles inside(split(tiles_[at(loop->index)].pieces, loop->tile, loop->processes));
      std::swap(tiles_[at(loop->index)], inside);
      shared_[at(loop->index)] += loop->processes > 1;
      loops_.push_back(loop);
      visit(*loop->body);
      loops_.pop_back();
      shared_[at(loop->index)] -= loop->processes > 1;
      std::swap(tiles_[at(loop->index)], inside);
    } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
      for (const Node& part : parts->parts) visit(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      if (hold->kind != Kind::buffer) move(*hold);
      const bool twice = hierarchy_.overlap && hold->kind != Kind::buffer;
      const std::int64_t bytes = checked_.times(tile_bytes(hold->array), twice ? 2 : 1);
      std::int64_t& held = held_[at(hold->level)];
      held = checked_.plus(held, bytes);
      most_[at(hold->level)] = std::max(most_[at(hold->level)], held);
      std::size_t& around = around_[at(hold->array)];
      const std::size_t before = std::exchange(around, loops_.size());
      visit(*hold->body);
      around = before;
      held_[at(hold->level)] -= bytes;
    } else {
      run(std::get<Do>(node.is).statement);
    }
  }

  std::vector<Piece> split(const std::vector<Piece>& of, std::int64_t tile,
                           std::int64_t processes) const {
    std::vector<Piece> parts;
    const auto add = [&](std::int64_t size, std::int64_t all, std::int64_t busiest) {
      if (all == 0) return;
      for (Piece& p : parts) {
        if (p.size != size) continue;
        p.all = checked_.plus(p.all, all);
        p.busiest = checked_.plus(p.busiest, busiest);
        return;
      }
      parts.push_back({size, all, busiest});
    };
    for (const Piece& p : of) {
      const std::int64_t whole = p.size / tile, rest = p.size % tile;
      add(tile, checked_.times(p.all, whole),
          checked_.times(p.busiest, (whole + processes - 1) / processes));
      if (rest > 0) add(rest, p.all, whole % processes == 0 ? p.busiest : 0);
    }
    return parts;
  }

  std::int64_t tile_bytes(int array) const {
    std::int64_t bytes = tree_.array(array).element.value();
    for (int i : tree_.array(array).indices) bytes = checked_.times(bytes, tiles_[at(i)].largest);
    return bytes;
  }

  // Of the tiles of an array that are moved: elements and number, of all and of those that were not
  // moved before.
  struct Moves {
    std::int64_t elements = 1, tiles = 1, first_elements = 1, first_tiles = 1;
  };
  // Of all processes, each that has a tile of the `inside` loops moves it.
  Moves moves(const std::vector<char>& own, std::int64_t Piece::*count,
              const std::vector<const Loop*>& inside) const {
    Moves m;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      const int index = static_cast<int>(i);
      const std::int64_t number = along(index, false, count, inside);
      m.tiles = checked_.times(m.tiles, number);
      m.elements =
          checked_.times(m.elements, own[i] != 0 ? along(index, true, count, inside) : number);
      if (own[i] == 0) continue;
      m.first_tiles = checked_.times(m.first_tiles, along(index, false, count, {}));
      m.first_elements = checked_.times(m.first_elements, along(index, true, count, {}));
    }
    return m;
  }
  // Sizes of tiles of some indices, and numbers of those of the others, multiplied.
  std::int64_t product(const std::vector<char>& sizes, std::int64_t Piece::*count) const {
    std::int64_t product = 1;
    for (std::size_t i = 0; i < tiles_.size(); ++i) {
      product = checked_.times(product, along(static_cast<int>(i), sizes[i] != 0, count, {}));
    }
    return product;
  }

  // Of the current tiles along an index, their number or the sum of their sizes.
  std::int64_t along(int index, bool sizes, std::int64_t Piece::*count,
                     const std::vector<const Loop*>& inside) const {
    const Tiles& tiles = tiles_[at(index)];
    if (count == &Piece::all && !inside.empty()) {
      return along(tiles.pieces, index, sizes, count, inside);
    }
    if (!sizes) return tiles.numbers.*count;
    return count == &Piece::all ? tree_.extent(index) : tiles.elements_of_busiest;
  }
  // The same of any pieces, one by one.
  std::int64_t along(std::span<const Piece> pieces, int index, bool sizes,
                     std::int64_t Piece::*count, const std::vector<const Loop*>& inside) const {
    const Loop* shared = nullptr;
    for (const Loop* l : inside) shared = l->index == index ? l : shared;
    std::int64_t sum = 0;
    for (const Piece& p : pieces) {
      std::int64_t size = sizes ? p.size : 1;
      if (shared != nullptr && count == &Piece::all) {
        size = checked_.times(
            size, std::min(shared->processes, (p.size + shared->tile - 1) / shared->tile));
      }
      sum = checked_.plus(sum, checked_.times(size, p.*count));
    }
    return sum;
  }

  // How many rows the tiles have that moves() counts: the product over the axes before the last
  // one of which a tile has less than the tile around it.
  std::int64_t rows(const Hold& hold, bool first, std::int64_t Piece::*count,
                    const std::vector<const Loop*>& inside = {}) const {
    if (!all_ && hierarchy_.level(hold.level).row == Seconds(0)) return 0;
    const std::vector<int>& axes = tree_.array(hold.array).indices;
    const std::vector<char>& own = own_[at(hold.array)];
    std::int64_t others = 1;
    for (std::size_t i = 0; i < tiles_.size() && !first; ++i) {
      if (own[i] != 0) continue;
      others = checked_.times(others, along(static_cast<int>(i), false, count, inside));
    }
    // Over the axes so far: places of tiles, tiles that have all of each axis, and rows of others.
    std::int64_t places = 1, whole = 1, rows = 0;
    for (int i : axes) {
      const auto [all, less] = whole_or_less(i, around_[at(hold.array)], count, inside);
      rows = checked_.plus(checked_.times(rows, all), checked_.times(places, less));
      whole = checked_.times(whole, all);
      places = checked_.times(places, along(i, true, count, inside));
    }
    return checked_.times(checked_.plus(rows, whole), others);
  }

  // Tiles along an index that are as large as the tile around them, which the first `outer` loops
  // make, and the others.
  std::pair<std::int64_t, std::int64_t> whole_or_less(
      int index, std::size_t outer, std::int64_t Piece::*count,
      const std::vector<const Loop*>& inside) const {
    const auto cut_inside = [&](const Loop* l) { return l->index == index; };
    if (std::none_of(loops_.begin() + static_cast<std::ptrdiff_t>(outer), loops_.end(),
                     cut_inside)) {
      return {along(index, false, count, inside), 0};
    }
    std::vector<Piece> around{{tree_.extent(index), 1, 1}};
    const auto cut = [&](std::vector<Piece>& pieces, std::size_t from, std::size_t to) {
      for (std::size_t l = from; l < to; ++l) {
        if (loops_[l]->index != index) continue;
        pieces = split(pieces, loops_[l]->tile, loops_[l]->processes);
      }
    };
    cut(around, 0, outer);
    std::int64_t all = 0, less = 0;
    for (const Piece& p : around) {
      std::vector<Piece> tiles{p};
      cut(tiles, outer, loops_.size());
      for (const Piece& t : tiles) {
        std::int64_t& of = t.size == p.size ? all : less;
        of = checked_.plus(of, along({&t, 1}, index, false, count, inside));
      }
    }
    return {all, less};
  }

  void move(const Hold& hold) {
    const std::vector<char>& of = own_[at(hold.array)];
    const std::int64_t element = tree_.array(hold.array).element.value();
    bool added = false;  // by several processes
    for (std::size_t i = 0; i < shared_.size(); ++i) {
      added |= shared_[i] > 0 && of[i] == 0;
    }
    const std::vector<const Loop*> inside = shared_inside(hierarchy_, hold);
    for (const Loop* l : inside) added |= of[at(l->index)] == 0;
    Counts::OfLink& link = counts_.links[at(hold.level)];
    const auto add = [&](Moved& to, std::int64_t Piece::*count) {
      const Moves m = moves(of, count, inside);
      const std::int64_t bytes = checked_.times(m.elements, element);
      const std::int64_t rows = this->rows(hold, false, count, inside);
      Moved moved;
      if (hold.kind == Kind::load) {
        moved = {bytes, 0, m.tiles, 0, rows};
      } else if (added) {
        moved = {bytes, bytes, m.tiles, m.tiles, checked_.plus(rows, rows)};
      } else {
        moved = {bytes - m.first_elements * element, bytes, m.tiles - m.first_tiles, m.tiles,
                 checked_.plus(rows, rows - this->rows(hold, true, count))};
      }
      to.in = checked_.plus(to.in, moved.in);
      to.out = checked_.plus(to.out, moved.out);
      to.ins = checked_.plus(to.ins, moved.ins);
      to.outs = checked_.plus(to.outs, moved.outs);
      to.rows = checked_.plus(to.rows, moved.rows);
    };
    if (all_) add(link.all[at(hold.array)], &Piece::all);
    add(link.busiest[at(hold.array)], &Piece::busiest);
  }

  void run(int statement) {
    std::vector<char> of(tiles_.size(), 0);
    Counts::OfStatement& s = counts_.statements[at(statement)];
    if (all_) s.runs = checked_.plus(s.runs, product(of, &Piece::all));
    for (int i : tree_.statement(statement).indices) of[at(i)] = 1;
    // Indices of other statements have no loops here, so they count once.
    s.multiply_adds = checked_.plus(s.multiply_adds, product(of, &Piece::busiest));
    if (!all_ && hierarchy_.tile_byte == Seconds(0)) return;
    const OperationTree::Statement& done = tree_.statement(statement);
    for (int a : {done.left, done.right, done.out, done.out}) {
      s.tile_bytes = checked_.plus(
          s.tile_bytes,
          checked_.times(product(own_[at(a)], &Piece::busiest), tree_.array(a).element.value()));
    }
  }

  const OperationTree& tree_;
  Checked checked_;
  const Hierarchy& hierarchy_;
  const bool all_;                         // or what times() and fits() ask for
  std::vector<Tiles> tiles_;               // by index
  std::vector<const Loop*> loops_;         // around, the outermost first
  std::vector<std::size_t> around_;        // by array: so many are around its tile outside
  std::vector<std::vector<char>> own_;     // by array and index: whether it has that one
  std::vector<int> shared_;                // by index: loops around that processes share
  std::vector<std::int64_t> held_, most_;  // by level
  Counts counts_;
};

void add_tiles(const Node& node, std::vector<std::vector<std::int64_t>>& now,
               std::vector<std::vector<std::vector<std::int64_t>>>& all) {
  if (const auto* loop = std::get_if<Loop>(&node.is)) {
    const std::vector<std::vector<std::int64_t>> before = now;
    for (int l = 0; l <= loop->level; ++l) {
      std::int64_t& tile = now[at(l)][at(loop->index)];
      tile = std::min(tile, loop->tile);
    }
    add_tiles(*loop->body, now, all);
    now = before;
  } else if (const auto* parts = std::get_if<Sequence>(&node.is)) {
    for (const Node& part : parts->parts) add_tiles(part, now, all);
  } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
    add_tiles(*hold->body, now, all);
  } else {
    all[at(std::get<Do>(node.is).statement)] = now;
  }
}

}  // namespace

std::vector<std::vector<std::vector<std::int64_t>>> tiles_of(const OperationTree& tree,
                                                             const Hierarchy& hierarchy,
                                                             const Node& node) {
  std::vector<std::int64_t> whole;
  for (const OperationTree::Index& i : tree.indices) whole.push_back(i.extent);
  std::vector<std::vector<std::int64_t>> now(at(hierarchy.links()), whole);
  std::vector<std::vector<std::vector<std::int64_t>>> all(tree.statements.size());
  add_tiles(node, now, all);
  return all;
}

Moved& Moved::operator+=(const Moved& o) {
  in += o.in, out += o.out, ins += o.ins, outs += o.outs, rows += o.rows;
  return *this;
}

Moved Counts::OfLink::sum() const {
  Moved moved;
  for (const Moved& m : all) moved += m;
  return moved;
}

Moved Counts::OfLink::busiest_sum() const {
  Moved moved;
  for (const Moved& m : busiest) moved += m;
  return moved;
}

Counts count_for_time(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node) {
  return LevelCounter(tree, hierarchy, false).run(node);
}

Counts count(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node) {
  Counts counts = LevelCounter(tree, hierarchy, true).run(node);
  const Checked checked(tree);
  for (const Counts::OfLink& link : counts.links) {
    std::int64_t bytes = 0, transfers = 0, pieces = 0;
    for (const Moved& m : link.all) {
      bytes = checked.plus(checked.plus(bytes, m.in), m.out);
      transfers = checked.plus(checked.plus(transfers, m.ins), m.outs);
      pieces = checked.plus(pieces, m.rows);
    }
  }
  return counts;
}

double steps(const OperationTree& tree, const Hierarchy& hierarchy, const Node& node) {
  const Counts counts = count(tree, hierarchy, node);
  double sum = 0;
  for (const Counts::OfLink& l : counts.links) sum += static_cast<double>(l.sum().transfers());
  for (const Counts::OfStatement& s : counts.statements) sum += static_cast<double>(s.runs);
  return sum;
}

LevelTimes& LevelTimes::operator+=(const LevelTimes& o) {
  links.resize(std::max(links.size(), o.links.size()));
  for (std::size_t l = 0; l < o.links.size(); ++l) links[l] += o.links[l];
  arithmetic += o.arithmetic;
  all += o.all;
  return *this;
}

int LevelTimes::bottleneck() const {
  const auto longest = std::ranges::max_element(links);
  if (longest == links.end() || *longest < arithmetic) return static_cast<int>(links.size());
  return static_cast<int>(longest - links.begin());
}

LevelTimes times(const Hierarchy& hierarchy, const Counts& counts) {
  LevelTimes t;
  for (int l = 0; l < hierarchy.links(); ++l) {
    const Moved moved = counts.links[at(l)].busiest_sum();
    const Hierarchy::Level& level = hierarchy.level(l);
    t.links.push_back(Bytes(moved.bytes()) / level.bandwidth +
                      level.transfer * static_cast<double>(moved.transfers()) +
                      level.row * static_cast<double>(moved.rows));
  }
  for (const Counts::OfStatement& s : counts.statements) {
    t.arithmetic += Seconds(2 * static_cast<double>(s.multiply_adds) / hierarchy.rate.value()) +
                    static_cast<double>(s.tile_bytes) * hierarchy.tile_byte;
  }
  t.all = t.arithmetic;
  for (Seconds s : t.links) t.all = hierarchy.overlap ? std::max(t.all, s) : t.all + s;
  return t;
}

bool fits(const Hierarchy& hierarchy, const Counts& counts) {
  for (int l = 0; l < hierarchy.links(); ++l) {
    const Bytes capacity = hierarchy.level(l).capacity;
    if (capacity != Bytes(0) && counts.high_water[at(l)] > capacity) return false;
  }
  return true;
}

}  // namespace tcsim::levels
