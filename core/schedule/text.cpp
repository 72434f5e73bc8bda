#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "core/error.hpp"
#include "core/schedule/schedule.hpp"

namespace tcsim {

namespace {

// Deep enough for any schedule, shallow enough that no text overflows the stack.
constexpr int max_depth = 200;
constexpr std::int64_t max_tile = std::int64_t{1} << 40;

constexpr std::string_view statement_form =
    "write for GROUP by TILE { ... }, pack TENSOR in LEVEL { ... } or kernel MRxNR";

// One line of the text form, and how deep it stands.
struct TextLine {
  std::size_t depth;
  std::string text;
};

void write(const Node& node, std::size_t depth, std::vector<TextLine>& lines) {
  const std::vector<Node>* body = nullptr;
  if (const auto* loop = std::get_if<Loop>(&node.is)) {
    lines.push_back(
        {depth, fmt::format("for {} by {} {{", to_text(loop->group), loop->tile.value())});
    body = &loop->body;
  } else if (const auto* pack = std::get_if<Pack>(&node.is)) {
    lines.push_back({depth, fmt::format("pack {} in {} {{", to_text(pack->tensor), pack->level)});
    body = &pack->body;
  } else {
    const Kernel& kernel = std::get<Kernel>(node.is);
    lines.push_back({depth, fmt::format("kernel {}x{}", kernel.mr.value(), kernel.nr.value())});
    return;
  }
  for (const Node& child : *body) write(child, depth + 1, lines);
  lines.push_back({depth, "}"});
}

std::vector<TextLine> lines_of(const Schedule& schedule) {
  std::string groups = "groups";
  for (DimClass g : all_dim_classes) {
    const std::string& names = schedule.groups[static_cast<std::size_t>(index(g))];
    if (!names.empty()) groups += fmt::format(" {}={}", to_text(g), names);
  }
  std::vector<TextLine> lines{{0, groups}};
  write(schedule.root, 0, lines);
  return lines;
}

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A word, a brace, or (empty) the end of the text.
struct Token {
  std::string_view text;
  int line = 1, column = 1;
};

// Cuts the text into words and braces; always holds the next one.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) { advance(); }

  const Token& next() const { return next_; }

  Token take() {
    const Token taken = next_;
    advance();
    return taken;
  }

 private:
  void advance() {
    skip_blanks();
    std::size_t size = 0;
    while (size < text_.size() && !is_space(text_[size]) && text_[size] != '#') {
      const bool brace = text_[size] == '{' || text_[size] == '}';
      if (brace && size > 0) break;
      ++size;
      if (brace) break;
    }
    next_ = {text_.substr(0, size), line_, column_};
    skip(size);
  }

  void skip_blanks() {
    while (!text_.empty() && (is_space(text_[0]) || text_[0] == '#')) {
      if (text_[0] == '#') {
        skip(std::min(text_.find('\n'), text_.size()));
      } else {
        skip(1);
      }
    }
  }

  void skip(std::size_t size) {
    for (char c : text_.substr(0, size)) {
      column_ = c == '\n' ? 1 : column_ + 1;
      line_ += c == '\n';
    }
    text_.remove_prefix(size);
  }

  std::string_view text_;  // what is left after next_
  int line_ = 1, column_ = 1;
  Token next_;
};

class Parser {
 public:
  Parser(std::string_view text, const std::string& place) : lexer_(text), place_(place) {}

  Schedule schedule() {
    Schedule s;
    expect("groups", "a schedule begins with groups, such as groups m=ab n=cd k=ef");
    while (lexer_.next().text.find('=') != std::string_view::npos) group(lexer_.take(), s);
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
    std::string& known = s.groups[static_cast<std::size_t>(
        index(dim_class(token, token.text.substr(0, equals), mend)))];
    if (!known.empty()) fail(token, 0, "this group is there already", mend);
    if (names.empty()) fail(token, equals + 1, "dimensions expected after '='", mend);
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!is_letter(names[i])) {
        fail(token, equals + 1 + i, "a dimension is not a letter", mend);
      }
    }
    known = names;
  }

  // `text` is `token` or a part of it.
  Elements number(const Token& token, std::string_view text, std::string_view what,
                  std::string_view mend) const {
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (stop != text.data() + text.size() || error == std::errc::invalid_argument) {
      fail_expected(token, what, mend);
    }
    if (error != std::errc() || value < 1 || value > max_tile) {
      fail(token, static_cast<std::size_t>(text.data() - token.text.data()),
           fmt::format("{} is not between 1 and 2^40", text.substr(0, 32)), mend);
    }
    return Elements(value);
  }

  Node statement(int depth) {
    const Token token = lexer_.take();
    if (token.text != "for" && token.text != "pack" && token.text != "kernel") {
      fail_expected(token, "one statement", statement_form);
    }
    if (depth > max_depth) {
      fail(token, 0, fmt::format("more than {} statements inside each other", max_depth),
           "take out some; a loop for each group and cache level is enough");
    }
    if (token.text == "for") return {loop(depth)};
    if (token.text == "pack") return {pack(depth)};
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

  Pack pack(int depth) {
    constexpr std::string_view form = "write a pack as pack A in L2 { ... }";
    Pack pack;
    const Token tensor = lexer_.take();
    if (tensor.text != "A" && tensor.text != "B") fail_expected(tensor, "A or B", form);
    pack.tensor = tensor.text == "A" ? TensorId::A : TensorId::B;
    expect("in", form);
    const Token level = lexer_.take();
    if (level.text.empty() || level.text == "{" || level.text == "}") {
      fail_expected(level, "the name of a level", form);
    }
    pack.level = level.text;
    pack.body = body(depth);
    return pack;
  }

  std::vector<Node> body(int depth) {
    expect("{", statement_form);
    std::vector<Node> children;
    children.push_back(statement(depth + 1));
    if (lexer_.next().text != "}") {
      fail_expected(lexer_.next(), "\"}\"", "a body holds one statement");
    }
    lexer_.take();
    return children;
  }

  Kernel kernel() {
    constexpr std::string_view form = "write a kernel as kernel 24x8";
    const Token token = lexer_.take();
    const std::size_t x = token.text.find('x');
    if (x == std::string_view::npos) fail_expected(token, "a kernel's size", form);
    return {number(token, token.text.substr(0, x), "a kernel's size", form),
            number(token, token.text.substr(x + 1), "a kernel's size", form)};
  }

  Lexer lexer_;
  const std::string& place_;
};

}  // namespace

std::string to_text(const Schedule& schedule) {
  std::string text;
  for (const TextLine& line : lines_of(schedule)) {
    text += std::string(2 * line.depth, ' ') + line.text + '\n';
  }
  return text;
}

std::string to_line(const Schedule& schedule) {
  std::string text;
  for (const TextLine& line : lines_of(schedule)) {
    if (!text.empty()) text += ' ';
    text += line.text;
  }
  return text;
}

Schedule parse_schedule(std::string_view text, const std::string& place) {
  return Parser(text, place).schedule();
}

}  // namespace tcsim
