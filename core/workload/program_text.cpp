#include <fmt/format.h>

#include <algorithm>

#include "core/io/read_file.hpp"
#include "core/workload/program.hpp"
#include "core/workload/statement_reader.hpp"

namespace tcsim {

namespace {

constexpr std::string_view program_form =
    "a program begins with its name and dimensions, such as program mm dims i=64 j=64 k=64";
constexpr std::string_view dims_form =
    "write dimensions as h=56 w=56, then tensors, such as f64 input A[i, k]";
constexpr std::string_view tensor_form = "write a tensor as f64 input A[64, k] column-major";
constexpr std::string_view program_statement_form =
    "write a statement as C[i, j] += A[i, k] * B[k, j]";
constexpr std::string_view affine_form = "write an index as a sum of dimensions, such as 2*h + r";

// "a, b" of what `text` makes of each item.
template <class T, class F>
std::string listed(const std::vector<T>& items, std::string_view separator, F&& text) {
  std::string list;
  for (const T& item : items) {
    if (!list.empty()) list += separator;
    list += text(item);
  }
  return list;
}

// A name that is no identifier stands in quotes.
std::string written_name(const std::string& name) {
  if (is_identifier(name)) return name;
  std::string quoted = "\"";
  for (char c : name) {
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string written_order(const Program::Tensor& t) {
  if (t.order == row_major_order(t.extents.size())) return "";
  if (t.order == column_major_order(t.extents.size())) return " column-major";
  return " order " + listed(t.order, " ", [](int axis) { return std::to_string(axis); });
}

// Up to the closing quote, or without one to the end of the line.
std::size_t size_of_string(std::string_view rest) {
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == '"') return i + 1;
    if (rest[i] == '\\') ++i;
  }
  return std::min(rest.find('\n'), rest.size());
}

// Of a word, a name in quotes or a sign.
std::size_t size_of_program_token(std::string_view rest) {
  if (rest.empty()) return 0;
  if (rest.starts_with("+=")) return 2;
  if (rest[0] == '"') return size_of_string(rest);
  if (!in_word(rest[0])) return 1;
  std::size_t size = 1;
  while (size < rest.size() && (in_word(rest[size]) || rest[size] == '-')) ++size;
  return size;
}

class ProgramParser : private StatementReader {
 public:
  ProgramParser(std::string_view text, const std::string& place)
      : StatementReader(text, size_of_program_token, place) {}

  Program program() {
    expect("program", program_form);
    name();
    expect("dims", program_form);
    while (!at_type() && !at_end()) dim();
    while (at_type()) tensor();
    while (!at_end()) statement();
    return finished();
  }

  // A statement alone declares its tensors by using them.
  Program statement_of(std::string name, const std::map<std::string, std::int64_t>& extents,
                       ElementType type) {
    implicit_ = type;
    parts_.name = std::move(name);
    for (const auto& [dim, extent] : extents) {
      parts_.dims.push_back({dim, extent});
      dims_.push_back(lexer_.next());
    }
    statement();
    if (!at_end()) fail_expected(lexer_.next(), "the end", "give one statement");
    return finished();
  }

 private:
  // Where the accesses of a statement stand, and their axes.
  struct AccessTokens {
    Token tensor;
    std::vector<Token> axes;
  };

  Program finished() {
    if (const auto fault = Program::fault_of(parts_))
      fail(token_of(*fault), fault->problem, fault->mend);
    return Program(std::move(parts_));
  }

  bool at_type() const { return at("f64") || at("f32"); }

  // The index of what has the name, among dimensions or tensors.
  template <class Named>
  int known(const std::vector<Named>& all, const Token& token, const char* what,
            std::string_view mend) const {
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const Named& n) { return n.name == token.text; });
    if (found == all.end()) fail(token, fmt::format("there is no {} '{}'", what, token.text), mend);
    return static_cast<int>(found - all.begin());
  }

  void name() {
    name_ = lexer_.next();
    if (!name_.text.starts_with('"')) {
      parts_.name = identifier("the program's name", program_form).text;
      return;
    }
    lexer_.take();
    bool open = true;
    for (std::size_t i = 1; i < name_.text.size(); ++i) {
      char c = name_.text[i];
      if (c == '"') open = false;
      if (!open) break;
      if (c == '\\') {
        c = ++i < name_.text.size() ? name_.text[i] : '\0';
        if (c != '"' && c != '\\')
          fail(name_, "'\\' is followed by neither \" nor \\", "write \\\\");
      }
      parts_.name += c;
    }
    if (open) fail(name_, "the name has no end", "end it with \"");
  }

  void dim() {
    make_room(parts_.dims, "dimensions");
    dims_.push_back(identifier("a dimension or a tensor", dims_form));
    Program::Dim d{std::string(dims_.back().text), 1};
    expect("=", dims_form);
    d.extent = number("an extent", 1, dims_form);
    parts_.dims.push_back(std::move(d));
  }

  void tensor() {
    make_room(parts_.tensors, "tensors");
    Program::Tensor t;
    t.type = lexer_.take().text == "f64" ? ElementType::f64 : ElementType::f32;
    t.role = role();
    tensors_.push_back(identifier("the tensor's name", tensor_form));
    t.name = tensors_.back().text;
    expect("[", tensor_form);
    while (!at("]")) {
      if (!t.extents.empty()) expect(",", tensor_form);
      make_room(t.extents, "axes");
      t.extents.push_back(extent());
    }
    lexer_.take();
    t.order = order(t.extents.size());
    parts_.tensors.push_back(std::move(t));
  }

  Program::Role role() {
    const Token token = lexer_.take();
    for (auto r : {Program::Role::input, Program::Role::output, Program::Role::intermediate}) {
      if (token.text == to_text(r)) return r;
    }
    fail_expected(token, "input, output or intermediate", tensor_form);
  }

  std::int64_t extent() {
    constexpr std::string_view mend = "give a number, or a dimension for as many as it has";
    if (at_number()) return number("an extent", 1, mend);
    const Token token = identifier("an extent", mend);
    return parts_.dims[static_cast<std::size_t>(known(parts_.dims, token, "dimension", mend))]
        .extent;
  }

  std::vector<int> order(std::size_t axes) {
    constexpr std::string_view mend =
        "give each axis once, counted from 0, from stride one outward";
    const bool column_major = at("column-major");
    if (column_major || at("row-major")) {
      lexer_.take();
      return column_major ? column_major_order(axes) : row_major_order(axes);
    }
    if (!at("order")) return row_major_order(axes);
    const Token word = lexer_.take();
    std::vector<int> order;
    while (at_number()) {
      const Token token = lexer_.next();
      const std::int64_t axis = number("an axis", 0, mend);
      if (axis >= static_cast<std::int64_t>(axes)) {
        fail(token, fmt::format("there are {} axes, and this is axis {}", axes, axis), mend);
      }
      if (order.size() == axes) fail(token, fmt::format("there are {} axes", axes), mend);
      order.push_back(static_cast<int>(axis));
    }
    if (order.size() != axes) {
      fail(word, fmt::format("there are {} axes, and {} in the order", axes, order.size()), mend);
    }
    return order;
  }

  void statement() {
    make_room(parts_.statements, "statements");
    Program::Statement s;
    accesses_.emplace_back();
    s.out = access();
    expect("+=", program_statement_form);
    s.in.push_back(access());
    if (at("*")) {
      lexer_.take();
      s.in.push_back(access());
    }
    if (at("*")) fail(lexer_.next(), "a statement multiplies two tensors", "use an intermediate");
    parts_.statements.push_back(std::move(s));
  }

  Program::Access access() {
    const Token token = identifier("a tensor", program_statement_form);
    AccessTokens tokens{token, {}};
    Program::Access access;
    if (implicit_) {
      declare(token);
    } else {
      access.tensor =
          TensorIndex{known(parts_.tensors, token, "tensor", "declare it: f64 input A[64, k]")};
    }
    expect("[", program_statement_form);
    while (!at("]")) {
      if (!access.axes.empty()) expect(",", affine_form);
      make_room(access.axes, "axes");
      tokens.axes.push_back(lexer_.next());
      access.axes.push_back(affine());
      if (implicit_) reach(tokens.axes.back(), access.axes.back());
    }
    lexer_.take();
    accesses_.back().push_back(std::move(tokens));
    if (implicit_) {
      access.tensor = TensorIndex{static_cast<int>(parts_.tensors.size()) - 1};
      parts_.tensors.back().order = row_major_order(access.axes.size());
    }
    return access;
  }

  // A tensor that a statement uses; the first one is the output.
  void declare(const Token& token) {
    for (const Program::Tensor& t : parts_.tensors) {
      if (t.name == token.text)
        fail(token, fmt::format("tensor {} is there twice", t.name),
             "give the second one a name of its own");
    }
    tensors_.push_back(token);
    Program::Tensor t;
    t.name = token.text;
    t.type = *implicit_;
    t.role = parts_.tensors.empty() ? Program::Role::output : Program::Role::input;
    parts_.tensors.push_back(std::move(t));
  }

  void reach(const Token& token, const Affine& axis) {
    const auto places = places_of(
        axis, [&](DimId d) { return parts_.dims[static_cast<std::size_t>(index(d))].extent; });
    if (!places) fail(token, "an index goes beyond 2^63", "use smaller extents");
    std::int64_t extent = *places;
    if (at("of")) {
      lexer_.take();
      extent = number("how many places the axis has", 1, "write 2*y + r of 230");
    }
    parts_.tensors.back().extents.push_back(extent);
  }

  Affine affine() {
    Affine sum;
    for (;;) {
      make_room(sum.terms, "terms");
      sum.terms.push_back(term());
      if (!at("+")) return sum;
      lexer_.take();
    }
  }

  Affine::Term term() {
    Affine::Term term{};
    if (at_number()) {
      term.coefficient = number("a coefficient", 1, affine_form);
      expect("*", affine_form);
    }
    const Token token = identifier("a dimension", affine_form);
    term.dim = DimId{
        known(parts_.dims, token, "dimension",
              implicit_ ? "give it a size: --size h=56,..." : "declare it behind dims: h=56")};
    return term;
  }

  const Token& token_of(const Program::Fault& f) const {
    const auto of = [](const auto& tokens, int i) -> const auto& {
      return tokens[static_cast<std::size_t>(i)];
    };
    if (f.dim >= 0) return of(dims_, f.dim);
    if (f.tensor >= 0) return of(tensors_, f.tensor);
    if (f.statement < 0) return name_;
    const AccessTokens& access = of(of(accesses_, f.statement), std::max(f.access, 0));
    return f.axis >= 0 ? of(access.axes, f.axis) : access.tensor;
  }

  Program::Parts parts_;
  std::optional<ElementType> implicit_;  // of the tensors of a statement alone
  // Where its parts stand.
  Token name_;
  std::vector<Token> dims_, tensors_;
  std::vector<std::vector<AccessTokens>> accesses_;  // of each statement, what is written first
};

}  // namespace

std::string to_text(const Program& program, const Affine& affine) {
  return listed(affine.terms, " + ", [&](const Affine::Term& t) {
    const std::string& name = program.dim(t.dim).name;
    return t.coefficient == 1 ? name : fmt::format("{}*{}", t.coefficient, name);
  });
}

std::string to_text(const Program& program, const Program::Access& access) {
  return fmt::format(
      "{}[{}]", program.tensor(access.tensor).name,
      listed(access.axes, ", ", [&](const Affine& a) { return to_text(program, a); }));
}

std::string to_text(const Program& program) {
  std::string text = fmt::format("program {}\ndims", written_name(program.name()));
  for (const Program::Dim& d : program.dims()) text += fmt::format(" {}={}", d.name, d.extent);
  text += '\n';
  for (const Program::Tensor& t : program.tensors()) {
    text += fmt::format("{} {} {}[{}]{}\n", to_text(t.type), to_text(t.role), t.name,
                        listed(t.extents, ", ", [](std::int64_t n) { return std::to_string(n); }),
                        written_order(t));
  }
  for (const Program::Statement& s : program.statements()) {
    text += fmt::format(
        "{} += {}\n", to_text(program, s.out),
        listed(s.in, " * ", [&](const Program::Access& in) { return to_text(program, in); }));
  }
  return text;
}

Program parse_program(std::string_view text, const std::string& place) {
  return ProgramParser(text, place).program();
}

Program parse_statement(std::string_view text, const std::map<std::string, std::int64_t>& extents,
                        ElementType type, const std::string& place) {
  return ProgramParser(text, place).statement_of(std::string(text), extents, type);
}

bool is_program_file(std::string_view name) { return name.ends_with(".program"); }

Program load_program(const std::filesystem::path& file) {
  return parse_program(read_file(file, "name a file that is there and readable"), file.string());
}

}  // namespace tcsim
