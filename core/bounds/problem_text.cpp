#include "core/bounds/problem_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "core/io/read_file.hpp"
#include "core/workload/statement_reader.hpp"

namespace tcsim::bounds {
namespace {

constexpr std::string_view problem_form =
    "an affine program begins with its name and loops, such as affine mm loops i=Ni j=Nj k=Nk";
constexpr std::string_view loop_form = "write a loop as i=Ni or i=64";
constexpr std::string_view statement_form = "write a statement as C[i, j] += A[i, k] * B[k, j]";
constexpr std::string_view index_form = "write an index as a sum of loops, such as 2*x + w";

class Parser : private StatementReader {
 public:
  Parser(std::string_view text, const std::string& place)
      : StatementReader(text, size_of_word_or_sign, place) {}

  Problem problem() {
    expect("affine", problem_form);
    p_.name = identifier("the program's name", problem_form).text;
    expect("loops", problem_form);
    while (!at("small") && !at("reductions") && !at_statement()) loop();
    if (at("small")) small();
    if (at("reductions")) reductions();
    return statements();
  }

  Problem statements_of(const std::string& name,
                        const std::map<std::string, std::int64_t>& extents) {
    p_.name = name;
    sized_ = true;
    for (const auto& [loop, extent] : extents) {
      p_.dims.push_back({loop, "N_" + loop, extent, false});
    }
    return statements();
  }

 private:
  Problem statements() {
    do {
      statement();
    } while (!at_end());
    check_loops();
    return std::move(p_);
  }

  // A loop is followed by "=", an array by "[": the name is taken and kept.
  bool at_statement() {
    if (at_end()) fail_expected(lexer_.next(), "a statement", statement_form);
    if (!name_) name_ = identifier("a loop or an array", loop_form);
    return at("[");
  }

  void loop() {
    make_room(p_.dims, "loops");
    const Token token = *std::exchange(name_, {});
    Problem::Dim d{std::string(token.text), "", {}, false};
    if (find(token)) fail(token, fmt::format("loop {} is there twice", d.name), "rename one");
    expect("=", loop_form);
    if (at_number()) {
      d.extent = number("a number", 1, loop_form);
      d.symbol = "N_" + d.name;
    } else {
      const Token size = identifier("a number or the name of a size", loop_form);
      d.symbol = size.text;
      if (d.symbol == capacity_symbol) {
        fail(size, "S is the capacity of the fast memory", "take another name");
      }
    }
    for (const Problem::Dim& other : p_.dims) {
      if (other.symbol == d.symbol && other.extent != d.extent) {
        fail(token, fmt::format("{} is already the size of {}", d.symbol, other.name),
             "take another name");
      }
    }
    loops_.push_back(token);
    p_.dims.push_back(std::move(d));
  }

  std::optional<DimId> find(const Token& token) const {
    for (std::size_t d = 0; d < p_.dims.size(); ++d) {
      if (p_.dims[d].name == token.text) return DimId{static_cast<int>(d)};
    }
    return {};
  }

  DimId known(const Token& token) const {
    const std::optional<DimId> d = find(token);
    if (d) return *d;
    const std::string_view name = token.text.substr(0, 64);
    if (sized_) fail(token, fmt::format("'{}' has no size", name), fmt::format("add {}=64", name));
    fail(token, fmt::format("there is no loop '{}'", name), loop_form);
  }

  // Loops up to the next part; the name of the first statement's array is kept.
  template <class F>
  void names(F&& use) {
    lexer_.take();
    while (!at("reductions") && !at_statement()) use(*std::exchange(name_, {}));
  }

  void small() {
    names([&](const Token& token) {
      p_.dims[static_cast<std::size_t>(index(known(token)))].small = true;
    });
  }

  void reductions() {
    said_ = true;
    names([&](const Token& token) {
      make_room(reductions_, "reductions");
      reductions_.emplace_back(known(token), token);
    });
  }

  void statement() {
    make_room(p_.statements, "statements");
    Problem::Statement s;
    if (!name_) name_ = identifier("an array", statement_form);
    const Token token = *name_;
    s.out = access();
    const bool written = std::any_of(p_.statements.begin(), p_.statements.end(),
                                     [&](const auto& x) { return x.out.array == s.out.array; });
    if (at("=")) {
      if (written) {
        fail(lexer_.next(), fmt::format("{} is written before", token.text), "write +=");
      }
      lexer_.take();
      p_.arrays[static_cast<std::size_t>(s.out.array)].starts_at_zero = true;
    } else {
      expect("+=", statement_form);
    }
    s.in.push_back(access());
    while (at("*")) {
      lexer_.take();
      make_room(s.in, "reads");
      s.in.push_back(access());
    }
    for (DimId d : dims_of(s)) used_.push_back(d);
    for (const auto& [d, at] : reductions_) {
      const std::vector<DimId> out = dims_of(s.out);
      if (std::find(out.begin(), out.end(), d) != out.end()) {
        fail(at, fmt::format("{} has the reduction {}", token.text, at.text),
             "take it out of one of them");
      }
    }
    for (DimId d : reductions_of(s)) {
      const bool is_said = std::any_of(reductions_.begin(), reductions_.end(),
                                       [&](const auto& r) { return r.first == d; });
      if (said_ && !is_said) {
        fail(token,
             fmt::format("{} does not have {}, which is no reduction", token.text, p_.dim(d).name),
             "add it to one of them");
      }
    }
    p_.statements.push_back(std::move(s));
  }

  Problem::Access access() {
    const Token token = name_ ? *std::exchange(name_, {}) : identifier("an array", statement_form);
    Problem::Access a;
    const auto at_array =
        std::find_if(p_.arrays.begin(), p_.arrays.end(),
                     [&](const Problem::Array& x) { return x.name == token.text; });
    const bool fresh = at_array == p_.arrays.end();
    a.array = static_cast<int>(at_array - p_.arrays.begin());
    if (fresh) {
      make_room(p_.arrays, "arrays");
      p_.arrays.push_back({std::string(token.text), false});
    }
    expect("[", statement_form);
    std::size_t count = 0;
    while (!at("]")) {
      if (count > 0) expect(",", index_form);
      make_room(a.axes, "indices");
      if (++count > Program::most) fail(token, "there are more than 64 indices", "take some out");
      Affine axis = index_sum();
      // A place that never changes tells no elements apart.
      if (!axis.terms.empty()) a.axes.push_back(std::move(axis));
    }
    lexer_.take();
    if (fresh) {
      indices_.push_back(count);
    } else if (indices_[static_cast<std::size_t>(a.array)] != count) {
      fail(token,
           fmt::format("{} has {} indices, and elsewhere {}", token.text, count,
                       indices_[static_cast<std::size_t>(a.array)]),
           "give it as many everywhere");
    }
    return a;
  }

  Affine index_sum() {
    Affine sum;
    for (;;) {
      term(sum);
      if (!at("+")) break;
      lexer_.take();
    }
    std::sort(sum.terms.begin(), sum.terms.end(),
              [](const Affine::Term& a, const Affine::Term& b) { return a.dim < b.dim; });
    return sum;
  }

  void term(Affine& sum) {
    Affine::Term t{DimId{}, 1};
    if (at_number()) {
      const Token token = lexer_.next();
      t.coefficient = number("a number", 0, index_form);
      if (!at("*") && sized_) fail(token, "a number that is added", "use sums of loops alone");
      if (!at("*")) return;
      if (t.coefficient == 0) fail(token, "0 times a loop", "leave it out");
      lexer_.take();
    }
    const Token token = identifier("a loop", index_form);
    t.dim = known(token);
    for (const Affine::Term& other : sum.terms) {
      if (other.dim == t.dim) {
        fail(token, fmt::format("{} is there twice", token.text), "add its numbers up");
      }
    }
    sum.terms.push_back(t);
  }

  void check_loops() const {
    if (sized_) return;
    for (std::size_t d = 0; d < p_.dims.size(); ++d) {
      if (std::find(used_.begin(), used_.end(), DimId{static_cast<int>(d)}) == used_.end()) {
        fail(loops_[d], fmt::format("no statement has the loop {}", p_.dims[d].name),
             "take it out");
      }
    }
  }

  Problem p_;
  std::optional<Token> name_;  // taken, but not yet used
  std::vector<Token> loops_;
  bool sized_ = false;  // loops are given, with their extents
  std::vector<std::pair<DimId, Token>> reductions_;
  bool said_ = false;
  std::vector<DimId> used_;
  std::vector<std::size_t> indices_;  // of each array
};

// The most indices that any access to the array has.
std::size_t indices_of(const Problem& problem, int array) {
  std::size_t most = 0;
  for (const Problem::Statement& s : problem.statements) {
    for (const Problem::Access& a : accesses_of(s)) {
      if (a.array == array) most = std::max(most, a.axes.size());
    }
  }
  return most;
}

std::string text_of(const Problem& problem, const Problem::Access& access) {
  std::vector<std::string> indices;
  for (const Affine& axis : access.axes) {
    indices.emplace_back();
    for (const Affine::Term& t : axis.terms) {
      if (!indices.back().empty()) indices.back() += " + ";
      if (t.coefficient != 1) indices.back() += std::to_string(t.coefficient) + "*";
      indices.back() += problem.dim(t.dim).name;
    }
  }
  // Those that never change.
  indices.resize(indices_of(problem, access.array), "0");
  return fmt::format("{}[{}]", problem.arrays[static_cast<std::size_t>(access.array)].name,
                     fmt::join(indices, ", "));
}

}  // namespace

Problem parse_statements(std::string_view text, const std::map<std::string, std::int64_t>& extents,
                         const std::string& name, const std::string& place) {
  return Parser(text, place).statements_of(name, extents);
}

Problem parse_problem(std::string_view text, const std::string& place) {
  return Parser(text, place).problem();
}

std::string to_text(const Problem& problem) {
  std::string text =
      "affine " + (is_identifier(problem.name) ? problem.name : "unnamed") + "\nloops";
  std::string small;
  for (const Problem::Dim& d : problem.dims) {
    text += " " + d.name + "=" + (d.extent ? std::to_string(*d.extent) : d.symbol);
    if (d.small) small += " " + d.name;
  }
  if (!small.empty()) text += "\nsmall" + small;
  std::vector<int> written;
  for (const Problem::Statement& s : problem.statements) {
    const bool first = std::find(written.begin(), written.end(), s.out.array) == written.end();
    const bool zero = problem.arrays[static_cast<std::size_t>(s.out.array)].starts_at_zero;
    text += "\n" + text_of(problem, s.out) + (first && zero ? " = " : " += ");
    for (std::size_t i = 0; i < s.in.size(); ++i) {
      text += (i > 0 ? " * " : "") + text_of(problem, s.in[i]);
    }
    written.push_back(s.out.array);
  }
  return text + "\n";
}

bool is_problem_text(std::string_view text) {
  const Token first = Lexer(text, size_of_word_or_sign).next();
  return first.text == "affine";
}

bool is_problem_file(std::string_view name) { return name.ends_with(".affine"); }

Problem load_problem(const std::filesystem::path& file) {
  return parse_problem(read_file(file, "name a file that is there and readable"), file.string());
}

}  // namespace tcsim::bounds
