#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/schedule/schedule.hpp"
#include "core/text/lexer.hpp"

namespace tcsim {

namespace {

// Deep enough for any schedule, shallow enough that no text overflows the stack.
constexpr int max_depth = 200;
constexpr std::int64_t max_tile = std::int64_t{1} << 40;
constexpr std::int64_t most_parts = 64;  // of a sequence, and statements of a program

constexpr std::string_view statement_form =
    "write for GROUP by TILE { ... }, pack TENSOR in LEVEL { ... } or kernel MRxNR";

constexpr std::array all_moves{Move::Kind::pack, Move::Kind::load, Move::Kind::store};

// One line of the text form, and how deep it stands.
struct TextLine {
  std::size_t depth;
  std::string text;
};

class Writer {
 public:
  explicit Writer(const Contraction& contraction) : contraction_(contraction) {}

  std::vector<TextLine> lines(const Schedule& schedule) {
    std::string groups = "groups";
    for (DimClass g : all_dim_classes) {
      const Group& dims = schedule.groups[g];
      if (dims.empty()) continue;
      groups += fmt::format(" {}=", to_text(g));
      for (DimId d : dims) groups += contraction_.dim(d).name;
    }
    if (schedule.parallel) groups += fmt::format(" parallel {}", to_text(*schedule.parallel));
    lines_ = {{0, groups}};
    write(schedule.root, 0);
    return std::move(lines_);
  }

 private:
  void write(const Node& node, std::size_t depth) {
    std::visit([&](const auto& n) { write(n, depth); }, node.is);
  }
  void write(const Loop& loop, std::size_t depth) {
    add(depth, fmt::format("for {} by {} {{", to_text(loop.group), loop.tile.value()));
    write(*loop.body, depth + 1);
    add(depth, "}");
  }
  void write(const Seq& seq, std::size_t depth) {
    add(depth, seq.over ? fmt::format("seq over {} {{", to_text(*seq.over)) : "seq {");
    for (const Seq::Part& part : seq.parts) {
      add(depth + 1, seq.over ? fmt::format("part {} {{", part.size.value()) : "part {");
      write(part.node, depth + 2);
      add(depth + 1, "}");
    }
    add(depth, "}");
  }
  void write(const Move& move, std::size_t depth) {
    add(depth, fmt::format("{} {} in {} {{", to_text(move.kind), to_text(move.tensor), move.level));
    write(*move.body, depth + 1);
    add(depth, "}");
  }
  void write(const Kernel& kernel, std::size_t depth) { add(depth, to_text(kernel)); }

  void add(std::size_t depth, std::string text) { lines_.push_back({depth, std::move(text)}); }

  const Contraction& contraction_;
  std::vector<TextLine> lines_;
};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

class Parser {
 public:
  Parser(std::string_view text, const Contraction& contraction, const std::string& place)
      : lexer_(text, [](std::string_view rest) { return size_of_word(rest, "{}"); }),
        contraction_(contraction),
        place_(place) {}

  Schedule schedule() {
    Schedule s;
    expect("groups", "a schedule begins with groups, such as groups m=ab n=cd k=ef");
    while (lexer_.next().text.find('=') != std::string_view::npos) group(lexer_.take(), s);
    if (lexer_.next().text == "parallel") {
      lexer_.take();
      const Token divided = lexer_.take();
      s.parallel = dim_class(divided, divided.text, "write what threads divide as parallel n");
    }
    s.root = statement(1);
    if (!lexer_.next().text.empty()) {
      fail_expected(lexer_.next(), "the end", "a schedule is one statement, nested");
    }
    return s;
  }

 private:
  [[noreturn]] void fail(const Token& token, std::size_t offset, const std::string& problem,
                         std::string_view mend) const {
    throw InputError(
        fmt::format("{}:{}:{}", place_, token.line, token.column + static_cast<int>(offset)),
        problem, std::string(mend));
  }

  [[noreturn]] void fail_expected(const Token& token, std::string_view wanted,
                                  std::string_view mend) const {
    // A long run of bytes is noise in a message.
    constexpr std::size_t longest = 32;
    std::string found = "the end";
    if (!token.text.empty()) found = fmt::format("\"{}\"", token.text.substr(0, longest));
    if (token.text.size() > longest) found += "...";
    fail(token, 0, fmt::format("{} expected, found {}", wanted, found), mend);
  }

  void expect(std::string_view word, std::string_view mend) {
    if (lexer_.next().text != word) {
      fail_expected(lexer_.next(), fmt::format("\"{}\"", word), mend);
    }
    lexer_.take();
  }

  DimClass dim_class(const Token& token, std::string_view name, std::string_view mend) const {
    for (DimClass g : all_dim_classes) {
      if (name == to_text(g)) return g;
    }
    fail_expected(token, "group m, n, k or batch", mend);
  }

  void group(const Token& token, Schedule& s) const {
    constexpr std::string_view mend = "write groups as m=ab n=cd k=ef, leaving out empty ones";
    const std::size_t equals = token.text.find('=');
    const std::string_view names = token.text.substr(equals + 1);
    Group& known = s.groups[dim_class(token, token.text.substr(0, equals), mend)];
    if (!known.empty()) fail(token, 0, "this group is there already", mend);
    if (names.empty()) fail(token, equals + 1, "dimensions expected after '='", mend);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!is_letter(names[i])) {
        fail(token, equals + 1 + i, "a dimension is not a letter", mend);
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      known.push_back(dimension(token, equals + 1 + i, token.text.substr(0, equals)));
    }
  }

  DimId dimension(const Token& token, std::size_t offset, std::string_view group) const {
    const char name = token.text[offset];
    std::string all;
    for (int i = 0; i < contraction_.dim_count(); ++i) {
      if (contraction_.dim(DimId{i}).name == name) return DimId{i};
      all += contraction_.dim(DimId{i}).name;
    }
    fail(
        token, offset,
        fmt::format("'{}' in group {} is not a dimension of {}", name, group, contraction_.label()),
        fmt::format("its dimensions are {}", all));
  }

  // `text` is `token` or a part of it.
  Elements number(const Token& token, std::string_view text, std::string_view what,
                  std::string_view mend, std::int64_t most = max_tile) const {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (stop != text.data() + text.size() || error == std::errc::invalid_argument) {
      fail_expected(token, what, mend);
    }
    if (error != std::errc() || value < 1 || value > most) {
      fail(token, static_cast<std::size_t>(text.data() - token.text.data()),
           fmt::format("{} is not between 1 and {}", text.substr(0, 32),
                       most == max_tile ? "2^40" : std::to_string(most)),
           mend);
    }
    return Elements(value);
  }

  Node statement(int depth) {
    const Token token = lexer_.take();
    const auto move = std::ranges::find(all_moves, token.text,
                                        [](Move::Kind k) { return std::string_view(to_text(k)); });
    const bool moves = move != all_moves.end();
    if (!moves && token.text != "for" && token.text != "seq" && token.text != "kernel") {
      fail_expected(token, "one statement", statement_form);
    }
    if (depth > max_depth) {
      fail(token, 0, fmt::format("more than {} statements inside each other", max_depth),
           "take out some; a loop for each group and cache level is enough");
    }
    if (moves) return {this->move(*move, depth)};
    if (token.text == "for") return {loop(depth)};
    if (token.text == "seq") return {seq(depth)};
    return {kernel()};
  }

  Loop loop(int depth) {
    constexpr std::string_view form = "write a loop as for m by 24 { ... }";
    Loop loop;
    const Token group = lexer_.take();
    loop.group = dim_class(group, group.text, form);
    expect("by", form);
    const Token tile = lexer_.take();
    loop.tile = number(tile, tile.text, "a tile size", form);
    loop.body = body(depth);
    return loop;
  }

  Seq seq(int depth) {
    constexpr std::string_view form =
        "write a sequence as seq over m { part 22 { ... } part 12 { ... } }, or, of statements, "
        "as seq { part { ... } part { ... } }";
    Seq seq;
    if (lexer_.next().text == "over") {
      lexer_.take();
      const Token group = lexer_.take();
      seq.over = dim_class(group, group.text, form);
    }
    expect("{", form);
    while (lexer_.next().text == "part") {
      const Token part = lexer_.take();
      if (seq.parts.size() == static_cast<std::size_t>(most_parts)) {
        fail(part, 0, fmt::format("more than {} parts", most_parts), "take out some");
      }
      Seq::Part& added = seq.parts.emplace_back();
      if (seq.over) {
        const Token size = lexer_.take();
        added.size = number(size, size.text, "a part's size", form);
      }
      added.node = body(depth);
    }
    if (lexer_.next().text != "}" || seq.parts.empty()) {
      fail_expected(lexer_.next(), "\"part\"", form);
    }
    lexer_.take();
    return seq;
  }

  Move move(Move::Kind kind, int depth) {
    const std::string form = fmt::format("write a {0} as {0} A in L2 {{ ... }}", to_text(kind));
    Move move;
    move.kind = kind;
    const Token tensor = lexer_.take();
    const bool any = kind != Move::Kind::pack;
    const auto named = std::ranges::find(all_tensors, tensor.text,
                                         [](TensorId t) { return std::string_view(to_text(t)); });
    if (named == all_tensors.end() || (!any && *named == TensorId::C)) {
      fail_expected(tensor, any ? "A, B or C" : "A or B", form);
    }
    move.tensor = *named;
    expect("in", form);
    const Token level = lexer_.take();
    if (level.text.empty() || level.text == "{" || level.text == "}") {
      fail_expected(level, "the name of a level", form);
    }
    move.level = level.text;
    move.body = body(depth);
    return move;
  }

  Node body(int depth) {
    expect("{", statement_form);
    Node child = statement(depth + 1);
    if (lexer_.next().text != "}") {
      fail_expected(lexer_.next(), "\"}\"", "a body holds one statement");
    }
    lexer_.take();
    return child;
  }

  Kernel kernel() {
    constexpr std::string_view form = "write a kernel as kernel 24x8";
    const Token token = lexer_.take();
    const std::size_t x = token.text.find('x');
    if (x == std::string_view::npos) fail_expected(token, "a kernel's size", form);
    Kernel kernel{number(token, token.text.substr(0, x), "a kernel's size", form),
                  number(token, token.text.substr(x + 1), "a kernel's size", form)};
    if (lexer_.next().text == "along") {
      lexer_.take();
      const Token k = lexer_.take();
      if (k.text != "k")
        fail_expected(k, "k", "vectors run along k, or along the rows unless said");
      kernel.along_k = true;
    }
    if (lexer_.next().text != "of") return kernel;
    lexer_.take();
    const Token statement = lexer_.take();
    kernel.statement = static_cast<int>(
        number(statement, statement.text, "a statement's number", form, most_parts).value());
    return kernel;
  }

  Lexer lexer_;
  const Contraction& contraction_;
  const std::string& place_;
};

}  // namespace

const char* to_text(Move::Kind kind) {
  return std::array{"pack", "load", "store"}[static_cast<std::size_t>(kind)];
}

std::string to_text(const Kernel& kernel) {
  std::string text = fmt::format("kernel {}x{}", kernel.mr.value(), kernel.nr.value());
  if (kernel.along_k) text += " along k";
  if (kernel.statement != 0) text += fmt::format(" of {}", kernel.statement);
  return text;
}

std::string to_text(const Schedule& schedule, const Contraction& contraction) {
  std::string text;
  for (const TextLine& line : Writer(contraction).lines(schedule)) {
    text += std::string(2 * line.depth, ' ') + line.text + '\n';
  }
  return text;
}

std::string to_line(const Schedule& schedule, const Contraction& contraction) {
  std::string text;
  for (const TextLine& line : Writer(contraction).lines(schedule)) {
    if (!text.empty()) text += ' ';
    text += line.text;
  }
  return text;
}

Schedule parse_schedule(std::string_view text, const Contraction& contraction,
                        const std::string& place) {
  return Parser(text, contraction, place).schedule();
}

}  // namespace tcsim
