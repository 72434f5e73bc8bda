#include "core/fusion/fused_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>
#include <span>
#include <utility>

#include "core/error.hpp"
#include "core/model/countable.hpp"
#include "core/text/lexer.hpp"

namespace tcsim::fusion {

namespace {

constexpr std::int64_t most_bytes = std::int64_t{1} << 62;

class Checker {
 public:
  Checker(const OperationTree& tree, const std::string& place)
      : tree_(tree), place_(place), done_(tree.statements.size()), arrays_(tree.arrays.size()) {
    for (const OperationTree::Index& i : tree.indices) ranges_.push_back(i.extent);
  }

  void run(const FusedNode& root) {
    check_node(root);
    for (std::size_t s = 0; s < done_.size(); ++s) {
      if (!done_[s]) {
        fail(fmt::format("no 'do {}'", name_of(static_cast<int>(s))), "do every statement once");
      }
    }
  }

 private:
  // What is known of an array where the check has come to.
  struct State {
    std::optional<Hold::Kind> held;
    int opened = 0;   // which hold that is, counted from 1
    int made_in = 0;  // in which its statement was done
    bool stored = false;
  };

  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw InputError(place_, problem, mend);
  }
  const std::string& name_of(int statement) const {
    return tree_.array(tree_.statement(statement).out).name;
  }
  bool done(int s) const { return done_[static_cast<std::size_t>(s)]; }
  State& state(int array) { return arrays_[static_cast<std::size_t>(array)]; }

  void check_node(const FusedNode& node) {
    if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
      check_loop(*loop);
    } else if (const auto* parts = std::get_if<InOrder>(&node.is)) {
      if (parts->parts.empty()) fail("'seq' has no parts", "write seq { ... } around some");
      for (const FusedNode& part : parts->parts) check_node(part);
    } else if (const auto* hold = std::get_if<Hold>(&node.is)) {
      check_hold(*hold);
    } else {
      check_do(std::get<Do>(node.is).statement);
    }
  }

  void check_loop(const TileLoop& loop) {
    const std::string& name = tree_.indices[static_cast<std::size_t>(loop.index)].name;
    const std::string text = fmt::format("for {} by {}", name, loop.tile);
    if (loop.body.empty()) fail(fmt::format("'{}' has nothing inside", text), "put a 'do' into it");
    std::int64_t& range = ranges_[static_cast<std::size_t>(loop.index)];
    if (loop.tile < 1 || loop.tile > range) {
      fail(fmt::format("'{}' stands where {} has a range of {}", text, name, range),
           "use a tile from 1 to that");
    }
    const std::int64_t whole = std::exchange(range, loop.tile);
    loops_.push_back(loop.index);
    check_node(*loop.body);
    loops_.pop_back();
    range = whole;
  }

  void check_hold(const Hold& hold) {
    const OperationTree::Array& array = tree_.array(hold.array);
    const std::string text = fmt::format("{} {}", to_text(hold.kind), array.name);
    if (hold.body.empty()) fail(fmt::format("'{}' has nothing inside", text), "put a 'do' into it");
    const bool input = array.producer < 0, output = array.consumer < 0;
    if (input && hold.kind != Hold::Kind::load) {
      fail(fmt::format("'{}' of an input", text), fmt::format("write load {}", array.name));
    }
    if (output && hold.kind != Hold::Kind::store) {
      fail(fmt::format("'{}' of an output", text), fmt::format("write store {}", array.name));
    }
    State& now = state(hold.array);
    if (now.held) fail(fmt::format("'{}' inside another of it", text), "keep one of them");
    if (!input && hold.kind == Hold::Kind::load && !now.stored) {
      fail(fmt::format("'{}' before it is stored", text), "store it in an earlier part");
    }
    // The statements that it is held for.
    const std::array users{hold.kind == Hold::Kind::load ? -1 : array.producer,
                           hold.kind == Hold::Kind::store ? -1 : array.consumer};
    std::vector<int> before;
    std::ranges::copy_if(users, std::back_inserter(before),
                         [&](int s) { return s >= 0 && done(s); });
    now.held = hold.kind;
    now.opened = ++opened_;
    check_node(*hold.body);
    now.held.reset();
    if (hold.kind == Hold::Kind::store) now.stored = true;
    for (int s : users) {
      if (s < 0 || (done(s) && std::ranges::find(before, s) == before.end())) continue;
      fail(fmt::format("'{}' without 'do {}' inside", text, name_of(s)),
           "put it around that, or take it out");
    }
  }

  void check_do(int s) {
    const OperationTree::Statement& statement = tree_.statement(s);
    if (done(s)) {
      fail(fmt::format("'do {}' is there twice", name_of(s)), "do every statement once");
    }
    for (int i : loops_) {
      if (contains(statement.indices, i)) continue;
      fail(fmt::format("'do {}' is inside a loop over {}, which it does not have", name_of(s),
                       tree_.indices[static_cast<std::size_t>(i)].name),
           "move it out of that loop");
    }
    for (int a : {statement.left, statement.right, statement.out}) {
      const OperationTree::Array& array = tree_.array(a);
      const std::optional<Hold::Kind> held = state(a).held;
      const Hold::Kind apart = a == statement.out ? Hold::Kind::store : Hold::Kind::load;
      if (held != apart && held != Hold::Kind::buffer) {
        fail(fmt::format("'do {}' where {} is not in memory", name_of(s), array.name),
             fmt::format("put {} {} around it", to_text(apart), array.name));
      }
      if (a != statement.out && held == Hold::Kind::buffer && state(a).made_in != state(a).opened) {
        fail(fmt::format("'do {}' where 'do {}' was not yet done", name_of(s), array.name),
             fmt::format("put it behind that, both in one hold {}", array.name));
      }
    }
    state(statement.out).made_in = state(statement.out).opened;
    done_[static_cast<std::size_t>(s)] = true;
  }

  const OperationTree& tree_;
  const std::string& place_;
  std::vector<std::int64_t> ranges_;  // by index
  std::vector<int> loops_;            // around here
  std::vector<bool> done_;            // by statement
  std::vector<State> arrays_;
  int opened_ = 0;
};

class Accountant {
 public:
  Accountant(const OperationTree& tree, Buffering buffering) : tree_(tree), buffering_(buffering) {
    for (const OperationTree::Index& i : tree.indices) {
      sizes_.push_back({all_.size(), all_.size() + 1});
      all_.emplace_back(i.extent, 1);
    }
    result_.arrays.resize(tree.arrays.size());
    result_.statements.resize(tree.statements.size());
  }

  DiskTraffic take(const FusedNode& root) {
    result_.memory = Bytes(add(root));
    // Nor does the sum of all arrays wrap around.
    std::int64_t moved = 0, transfers = 0;
    for (const DiskTraffic::OfArray& a : result_.arrays) {
      moved = sum(moved, sum(a.read, a.written));
      transfers = sum(transfers, sum(a.reads, a.writes));
    }
    return std::move(result_);
  }

 private:
  // How many tiles of which size an index is in, where something stands: a part of all_.
  struct Sizes {
    std::size_t first = 0, last = 0;
  };
  using Tiles = std::pair<std::int64_t, std::int64_t>;  // size, times
  std::span<const Tiles> listed(const Sizes& sizes) const {
    return std::span(all_).subspan(sizes.first, sizes.last - sizes.first);
  }

  // What is held inside the node, at most.
  std::int64_t add(const FusedNode& node) {
    if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
      Sizes& sizes = sizes_[static_cast<std::size_t>(loop->index)];
      const Sizes whole = std::exchange(sizes, cut(sizes, loop->tile));
      const std::int64_t held = add(*loop->body);
      all_.resize(sizes.first);  // which are the last ones
      sizes = whole;
      return held;
    }
    if (const auto* parts = std::get_if<InOrder>(&node.is)) {
      std::int64_t held = 0;
      for (const FusedNode& part : parts->parts) held = std::max(held, add(part));
      return held;
    }
    if (const auto* hold = std::get_if<Hold>(&node.is)) {
      count(*hold);
      return sum(add(*hold->body), times(copies(*hold, buffering_), largest(hold->array)));
    }
    const int s = std::get<Do>(node.is).statement;
    DiskTraffic::OfStatement& of = result_.statements[static_cast<std::size_t>(s)];
    of.runs = 1;
    for (const Sizes& sizes : sizes_) of.runs = times(of.runs, tiles(sizes));
    const OperationTree::Statement& statement = tree_.statement(s);
    for (int a : {statement.left, statement.right, statement.out, statement.out}) {
      const Visits v = visits(a);
      of.passed = sum(of.passed, times(v.whole, v.again));
    }
    return 0;
  }

  Sizes cut(const Sizes& sizes, std::int64_t tile) {
    const std::size_t first = all_.size();
    const auto add = [&](std::int64_t size, std::int64_t times) {
      for (std::size_t k = first; k < all_.size(); ++k) {
        if (all_[k].first != size) continue;
        all_[k].second += times;
        return;
      }
      all_.emplace_back(size, times);
    };
    for (std::size_t k = sizes.first; k < sizes.last; ++k) {
      const auto [size, times] = all_[k];
      if (size >= tile) add(tile, times * (size / tile));
      if (size % tile != 0) add(size % tile, times);
    }
    return {first, all_.size()};
  }
  std::int64_t tiles(const Sizes& sizes) const {
    std::int64_t n = 0;
    for (const auto& [size, times] : listed(sizes)) n += times;
    return n;
  }

  std::int64_t largest(int a) const {
    const OperationTree::Array& array = tree_.array(a);
    std::int64_t bytes = array.element.value();
    for (int i : array.indices) {
      std::int64_t most = 0;
      for (const auto& [size, n] : listed(sizes_[static_cast<std::size_t>(i)])) {
        most = std::max(most, size);
      }
      bytes = times(bytes, most);
    }
    return bytes;
  }

  // Along its own indices an array's tiles lie side by side; along others each comes again.
  struct Visits {
    std::int64_t distinct = 1, again = 1;  // tiles, and how often each is current
    std::int64_t whole = 1;                // bytes
  };
  Visits visits(int a) const {
    const OperationTree::Array& array = tree_.array(a);
    Visits v{1, 1, array.element.value()};
    for (std::size_t i = 0; i < sizes_.size(); ++i) {
      const bool own = std::ranges::find(array.indices, static_cast<int>(i)) != array.indices.end();
      std::int64_t& factor = own ? v.distinct : v.again;
      factor = times(factor, tiles(sizes_[i]));
      if (own) v.whole = times(v.whole, tree_.indices[i].extent);
    }
    return v;
  }

  void count(const Hold& hold) {
    if (hold.kind == Hold::Kind::buffer) return;
    const auto [distinct, again, whole] = visits(hold.array);
    DiskTraffic::OfArray& of = result_.arrays[static_cast<std::size_t>(hold.array)];
    const std::int64_t bytes = times(whole, again), visits = times(distinct, again);
    if (hold.kind == Hold::Kind::load) {
      of.read = sum(of.read, bytes);
      of.reads += visits;
    } else {
      // The first visit of a tile begins with zeros.
      of.written = sum(of.written, bytes);
      of.writes += visits;
      of.read = sum(of.read, bytes - whole);
      of.reads += visits - distinct;
    }
  }

  std::int64_t times(std::int64_t a, std::int64_t b) const {
    std::int64_t c = 0;
    if (__builtin_mul_overflow(a, b, &c) || c >= most_bytes) too_large();
    return c;
  }
  std::int64_t sum(std::int64_t a, std::int64_t b) const {
    if (a + b >= most_bytes) too_large();
    return a + b;
  }
  [[noreturn]] void too_large() const {
    throw TooLargeError(tree_.name, "too large, because 2^62 bytes or more would move",
                        "use smaller sizes, or more memory");
  }

  const OperationTree& tree_;
  const Buffering buffering_;
  std::vector<Sizes> sizes_;  // by index
  std::vector<Tiles> all_;
  DiskTraffic result_;
};

std::string written(const OperationTree& tree, const FusedNode& node, std::size_t depth) {
  const std::string indent(2 * depth, ' ');
  const auto around = [&](const std::string& head, const FusedNode& body) {
    return fmt::format("{}{} {{\n{}{}}}\n", indent, head, written(tree, body, depth + 1), indent);
  };
  if (const auto* loop = std::get_if<TileLoop>(&node.is)) {
    return around(fmt::format("for {} by {}",
                              tree.indices[static_cast<std::size_t>(loop->index)].name, loop->tile),
                  *loop->body);
  }
  if (const auto* hold = std::get_if<Hold>(&node.is)) {
    return around(fmt::format("{} {}", to_text(hold->kind), hold_name(tree, hold->array)),
                  *hold->body);
  }
  if (const auto* parts = std::get_if<InOrder>(&node.is)) {
    std::string text = indent + "seq {\n";
    for (const FusedNode& part : parts->parts) text += written(tree, part, depth + 1);
    return text + indent + "}\n";
  }
  const int s = std::get<Do>(node.is).statement;
  return fmt::format("{}do {}\n", indent, tree.array(tree.statement(s).out).name);
}

class Parser {
 public:
  Parser(std::string_view text, const OperationTree& tree, const std::string& place)
      : lexer_(text, [](std::string_view rest) { return size_of_word(rest, "{}"); }),
        tree_(tree),
        place_(place) {}

  FusedNode all() {
    FusedNode root = node(1);
    if (!lexer_.next().text.empty()) fail_expected(lexer_.next(), "the end");
    return root;
  }

 private:
  static constexpr int max_depth = 1000;
  static constexpr std::string_view form =
      "write for INDEX by TILE { ... }, seq { ... }, hold, load or store TENSOR { ... }, or do "
      "TENSOR";

  [[noreturn]] void fail(const Token& token, const std::string& problem) const {
    throw InputError(fmt::format("{}:{}:{}", place_, token.line, token.column), problem,
                     std::string(form));
  }
  [[noreturn]] void fail_expected(const Token& token, std::string_view wanted) const {
    constexpr std::size_t longest = 32;
    fail(token, token.text.empty() ? fmt::format("{} expected, found the end", wanted)
                                   : fmt::format("{} expected, found \"{}\"", wanted,
                                                 token.text.substr(0, longest)));
  }
  void expect(std::string_view word) {
    if (lexer_.next().text != word) fail_expected(lexer_.next(), fmt::format("\"{}\"", word));
    lexer_.take();
  }

  FusedNode node(int depth) {
    const Token token = lexer_.take();
    if (depth > max_depth)
      fail(token, fmt::format("more than {} nodes inside each other", max_depth));
    if (token.text == "for") return loop(depth);
    if (token.text == "seq") return parts(depth);
    if (token.text == "do") return Do{statement()};
    for (Hold::Kind kind : {Hold::Kind::buffer, Hold::Kind::load, Hold::Kind::store}) {
      if (token.text == to_text(kind)) {
        Hold hold{kind, array(), {}};
        hold.body = body(depth);
        return hold;
      }
    }
    fail_expected(token, "a node");
  }

  FusedNode loop(int depth) {
    const Token name = lexer_.take();
    TileLoop loop;
    loop.index = -1;
    for (std::size_t i = 0; i < tree_.indices.size(); ++i) {
      if (tree_.indices[i].name == name.text) loop.index = static_cast<int>(i);
    }
    if (loop.index < 0) fail_expected(name, "an index of the chain");
    expect("by");
    const Token tile = lexer_.take();
    const char* const end = tile.text.data() + tile.text.size();
    const auto [stop, error] = std::from_chars(tile.text.data(), end, loop.tile);
    if (tile.text.empty() || stop != end || error != std::errc() || loop.tile < 1) {
      fail_expected(tile, "a tile size");
    }
    loop.body = body(depth);
    return loop;
  }

  FusedNode parts(int depth) {
    InOrder parts;
    expect("{");
    while (lexer_.next().text != "}") parts.parts.push_back(node(depth + 1));
    lexer_.take();
    return parts;
  }

  FusedNode body(int depth) {
    expect("{");
    FusedNode inside = node(depth + 1);
    expect("}");
    return inside;
  }

  int array() {
    const Token name = lexer_.take();
    for (std::size_t a = 0; a < tree_.arrays.size(); ++a) {
      if (hold_name(tree_, static_cast<int>(a)) == name.text) return static_cast<int>(a);
    }
    fail_expected(name, "a tensor of the chain");
  }
  int statement() {
    const Token name = lexer_.take();
    for (std::size_t s = 0; s < tree_.statements.size(); ++s) {
      if (tree_.array(tree_.statements[s].out).name == name.text) return static_cast<int>(s);
    }
    fail_expected(name, "a tensor that a statement makes");
  }

  Lexer lexer_;
  const OperationTree& tree_;
  const std::string& place_;
};

}  // namespace

const char* to_text(Hold::Kind kind) {
  return std::array{"hold", "load", "store"}[static_cast<std::size_t>(kind)];
}

std::string hold_name(const OperationTree& tree, int a) {
  const OperationTree::Array& array = tree.array(a);
  if (array.producer >= 0) return array.name;
  const bool alone = std::ranges::count(tree.arrays, array.name, &OperationTree::Array::name) == 1;
  if (alone) return array.name;
  return fmt::format("{}:{}", array.name, tree.array(tree.statement(array.consumer).out).name);
}

std::string to_text(const OperationTree& tree, const FusedNode& node) {
  return written(tree, node, 0);
}

FusedNode parse_fused(std::string_view text, const OperationTree& tree, const std::string& place) {
  return Parser(text, tree, place).all();
}

void check(const OperationTree& tree, const FusedNode& node, const std::string& place) {
  Checker(tree, place).run(node);
}

DiskTraffic::OfArray DiskTraffic::sum() const {
  OfArray all;
  for (const OfArray& a : arrays) {
    all.read += a.read;
    all.written += a.written;
    all.reads += a.reads;
    all.writes += a.writes;
  }
  return all;
}

DiskTraffic traffic(const OperationTree& tree, const FusedNode& node, Buffering buffering) {
  return Accountant(tree, buffering).take(node);
}

}  // namespace tcsim::fusion
