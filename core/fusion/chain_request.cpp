#include "core/fusion/chain_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "core/bounds/problem_text.hpp"
#include "core/data/shipped.hpp"
#include "core/error.hpp"
#include "core/fusion/product_order.hpp"
#include "core/io/read_file.hpp"
#include "core/text/name.hpp"
#include "core/workload/request.hpp"
#include "core/workload/statement_reader.hpp"
#include "core/workload/suite_section.hpp"

namespace tcsim::fusion {

namespace {

using bounds::Problem;
using Sizes = std::map<std::string, std::int64_t>;

// "p=60, q=60"
class SizesReader : private StatementReader {
 public:
  SizesReader(std::string_view text, const std::string& place)
      : StatementReader(text, size_of_word_or_sign, place) {}

  Sizes sizes() {
    constexpr std::string_view form = "write sizes as p=60,q=60";
    Sizes all;
    for (;;) {
      const Token name = identifier("an index", form);
      expect("=", form);
      const std::int64_t extent = number("an extent", 1, form);
      if (!all.emplace(name.text, extent).second) {
        fail(name, fmt::format("{} is there twice", name.text), "take one out");
      }
      if (at_end()) return all;
      expect(",", form);
    }
  }
};

std::string result_name(const std::set<std::string>& taken) {
  for (int n = 1;; ++n) {
    std::string name = fmt::format("T{}", n);
    if (!taken.contains(name)) return name;
  }
}

// A problem's statements as those of a chain, products of many factors as several.
class Builder {
 public:
  Builder(const ChainRequest& request, ElementType type) : request_(request), type_(type) {}

  Chain chain(const Problem& problem) {
    problem_ = problem;
    for (const Problem::Array& a : problem_.arrays) taken_.insert(a.name);
    std::vector<Problem::Statement> statements;
    for (const Problem::Statement& s : problem.statements) {
      if (s.in.size() <= 2) {
        statements.push_back(s);
      } else {
        split(s, statements);
      }
    }
    if (!request_.order.empty() && ordered_.size() != 1) {
      throw UsageError(
          "--order",
          fmt::format("the chain has {} products of more than two factors", ordered_.size()),
          "leave the option out, or give one such product");
    }
    problem_.statements = std::move(statements);
    return {program(), std::move(ordered_)};
  }

 private:
  const std::string& name_of(int array) const {
    return problem_.arrays[static_cast<std::size_t>(array)].name;
  }

  void split(const Problem::Statement& s, std::vector<Problem::Statement>& to) {
    const std::string out = name_of(s.out.array);
    if (s.in.size() > static_cast<std::size_t>(most_factors)) {
      throw UsageError(out, fmt::format("a product of {} factors", s.in.size()),
                       fmt::format("give at most {}, or several statements", most_factors));
    }
    Product product;
    for (const Problem::Dim& d : problem_.dims) product.extents.push_back(d.extent.value_or(1));
    std::vector<std::string> names;
    for (const Problem::Access& a : s.in) {
      product.factors.push_back(bits(a));
      names.push_back(name_of(a.array));
    }
    product.out = bits(s.out);
    const ProductOrder order = request_.order.empty()
                                   ? least_operations(product)
                                   : given_order(product, request_.order, names, "--order");
    std::vector<Problem::Access> results;
    std::vector<std::string> texts = names;
    for (std::size_t k = 0; k < order.steps.size(); ++k) {
      const ProductOrder::Step& step = order.steps[k];
      const auto operand = [&](int number) {
        const auto n = static_cast<std::size_t>(number);
        return n < s.in.size() ? s.in[n] : results[n - s.in.size()];
      };
      Problem::Statement one{{}, {operand(step.left), operand(step.right)}};
      if (k + 1 == order.steps.size()) {
        one.out = s.out;
      } else {
        one.out = result(step.result, one.in);
        results.push_back(one.out);
      }
      texts.push_back(fmt::format("({} {})", texts[static_cast<std::size_t>(step.left)],
                                  texts[static_cast<std::size_t>(step.right)]));
      to.push_back(std::move(one));
    }
    ordered_.push_back({out, texts.back(), order.multiply_adds});
  }

  static IndexBits bits(const Problem::Access& a) {
    IndexBits all = 0;
    for (const Affine& axis : a.axes) {
      for (const Affine::Term& t : axis.terms) all |= IndexBits{1} << index(t.dim);
    }
    return all;
  }

  // A new array with these indices, in the order in which its operands have them.
  Problem::Access result(IndexBits indices, const std::vector<Problem::Access>& in) {
    Problem::Access a{static_cast<int>(problem_.arrays.size()), {}};
    const std::string name = result_name(taken_);
    taken_.insert(name);
    problem_.arrays.push_back({name, true});
    for (const Problem::Access& operand : in) {
      for (const Affine& axis : operand.axes) {
        for (const Affine::Term& t : axis.terms) {
          const IndexBits bit = IndexBits{1} << index(t.dim);
          if ((indices & bit) == 0) continue;
          indices ^= bit;
          a.axes.push_back({{{t.dim, 1}}});
        }
      }
    }
    return a;
  }

  Program program() const {
    Program::Parts parts{request_.name, {}, {}, {}};
    for (const Problem::Dim& d : problem_.dims)
      parts.dims.push_back({d.name, d.extent.value_or(1)});
    const std::size_t count = problem_.arrays.size();
    std::vector<bool> written(count), read(count);
    parts.tensors.resize(count);
    const auto access = [&](const Problem::Access& from) {
      const auto a = static_cast<std::size_t>(from.array);
      Program::Tensor& t = parts.tensors[a];
      t.name = problem_.arrays[a].name;
      t.type = type_;
      std::vector<std::int64_t> extents;
      for (const Affine& axis : from.axes) {
        const auto places = places_of(axis, [&](DimId d) { return *problem_.dim(d).extent; });
        if (!places) throw UsageError(t.name, "an index goes beyond 2^63", "use smaller sizes");
        extents.push_back(*places);
      }
      // As long as the longest index reaches.
      t.extents.resize(extents.size(), 1);
      for (std::size_t i = 0; i < extents.size(); ++i) {
        t.extents[i] = std::max(t.extents[i], extents[i]);
      }
      t.order = row_major_order(extents.size());
      return Program::Access{TensorIndex{from.array}, from.axes};
    };
    for (const Problem::Statement& s : problem_.statements) {
      Program::Statement made{access(s.out), {}};
      written[static_cast<std::size_t>(s.out.array)] = true;
      for (const Problem::Access& in : s.in) {
        made.in.push_back(access(in));
        read[static_cast<std::size_t>(in.array)] = true;
      }
      parts.statements.push_back(std::move(made));
    }
    for (std::size_t a = 0; a < count; ++a) {
      parts.tensors[a].role = !written[a] ? Program::Role::input
                              : read[a]   ? Program::Role::intermediate
                                          : Program::Role::output;
    }
    return Program(std::move(parts));
  }

  const ChainRequest& request_;
  const ElementType type_;
  Problem problem_;
  std::set<std::string> taken_;
  std::vector<Chain::Ordered> ordered_;
};

// "ap,pq,bq->ab" as a statement: operands are X1, X2, ..., the result Out. Throws UsageError with
// the column.
std::string statement_of(const std::string& einsum) {
  const std::size_t arrow = einsum.find("->");
  const auto indices = [&](std::size_t from, std::size_t to) {
    std::string text = "[";
    for (std::size_t i = from; i < to; ++i) {
      const char c = einsum[i];
      if (c == ' ') continue;
      if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
        throw UsageError(
            fmt::format("\"{}\" column {}", einsum, i + 1),
            fmt::format("'{}' is no index",
                        einsum.substr(i, size_of_word_or_sign(std::string_view(einsum).substr(i)))),
            "write an einsum of letters, such as ap,pq,bq->ab");
      }
      if (text.size() > 1) text += ',';
      text += c;
    }
    return text + "]";
  };
  std::string text = "Out" + indices(arrow + 2, einsum.size()) + " = ";
  std::size_t from = 0;
  for (int n = 1;; ++n) {
    const std::size_t comma = std::min(einsum.find(',', from), arrow);
    if (n > 1) text += " * ";
    text += fmt::format("X{}", n) + indices(from, comma);
    if (comma == arrow) return text;
    from = comma + 1;
  }
}

Chain from_text(const ChainRequest& request, const std::string& text, const std::string& sizes,
                ElementType type, const std::string& text_place, const std::string& sizes_place) {
  std::string lines = text;
  std::ranges::replace(lines, ';', '\n');
  const Sizes extents = SizesReader(sizes, sizes_place).sizes();
  if (extents.size() > static_cast<std::size_t>(Program::most)) {
    throw UsageError(sizes_place, fmt::format("{} sizes", extents.size()),
                     fmt::format("give at most {}", Program::most));
  }
  const Problem problem = bounds::parse_statements(lines, extents, "chain", text_place);
  for (std::size_t d = 0; d < problem.dims.size(); ++d) {
    const DimId id{static_cast<int>(d)};
    const bool used = std::ranges::any_of(problem.statements, [&](const Problem::Statement& s) {
      const std::vector<DimId> dims = dims_of(s);
      return std::ranges::find(dims, id) != dims.end();
    });
    if (used) continue;
    throw UsageError(sizes_place, fmt::format("no statement has {}", problem.dims[d].name),
                     "take it out");
  }
  return Builder(request, type).chain(problem);
}

}  // namespace

bool names_chain(const std::string& name) {
  const std::size_t arrow = name.find("->");
  if (arrow != std::string::npos) return std::ranges::count(name.substr(0, arrow), ',') > 1;
  if (is_statement(name)) {
    // An index has signs of its own: I[c, 2*y + r].
    int factors = 1, depth = 0;
    for (char c : name) {
      if (c == ';' || c == '\n') return true;
      depth += (c == '[') - (c == ']');
      if (c == '*' && depth == 0) ++factors;
    }
    return factors > 2;
  }
  return std::ranges::count(shipped_chains(), name.substr(0, name.find(':'))) > 0;
}

std::vector<Chain> parse_chains(std::string_view text, const ChainRequest& request,
                                const std::string& file) {
  const toml::table table = parse_toml(text, file);
  const Section top(table, file, {"schema", "name", "source", "type", "statements", "workload"});
  check_suite_schema(top);
  const std::string name = suite_name(top);
  const std::string shared = top.text("statements", "");
  const ElementType said =
      top.choice("type", {"f64", "f32"}) == 1 ? ElementType::f32 : ElementType::f64;
  const toml::array* workloads = table["workload"].as_array();
  if (workloads == nullptr || !workloads->is_array_of_tables()) {
    throw InputError(top.place("workload"), "no [[workload]]", "add at least one, with sizes");
  }
  std::vector<Chain> all;
  for (const toml::node& node : *workloads) {
    ChainRequest one = request;
    one.name = fmt::format("{}:{}", name, all.size() + 1);
    const Section workload(*node.as_table(), file, {"sizes", "source", "statements"});
    const std::string statements =
        shared.empty() ? workload.text("statements") : workload.text("statements", shared);
    all.push_back(from_text(one, statements, workload.text("sizes"), request.type.value_or(said),
                            file + ": statements", file + ": sizes of " + one.name));
  }
  return all;
}

std::vector<Chain> find_chains(const ChainRequest& request) {
  const std::string& name = request.name;
  const bool einsum = name.find("->") != std::string::npos;
  const ElementType type = request.type.value_or(ElementType::f64);
  if (einsum || is_statement(name)) {
    if (request.sizes.empty()) {
      throw UsageError(name, "sizes are missing", "add --size with every index, p=60,q=60,...");
    }
    ChainRequest one = request;
    one.name = einsum ? name : "chain";
    return {from_text(one, einsum ? statement_of(name) : name, request.sizes, type,
                      einsum ? name : "CHAIN", "--size")};
  }
  if (!request.sizes.empty()) {
    throw UsageError("--size", fmt::format("'{}' says its sizes itself", name),
                     "leave the option out, or give statements");
  }
  if (is_program_file(name)) {
    if (!request.order.empty()) {
      throw UsageError("--order", fmt::format("'{}' says its order itself", name),
                       "leave the option out");
    }
    const Program program = load_program(name);
    return {{request.type ? with_type(program, *request.type) : program, {}}};
  }
  const std::size_t colon = name.find(':');
  const std::filesystem::path file = find_chain_file(name.substr(0, colon));
  std::vector<Chain> all =
      parse_chains(read_file(file, "name a file that is there"), request, file.string());
  if (colon == std::string::npos) return all;
  for (Chain& c : all) {
    const std::string& known = c.program.name();
    if (known.substr(known.find(':')) == name.substr(colon)) return {std::move(c)};
  }
  throw UsageError(name, fmt::format("there is no chain '{}' in it", name.substr(colon + 1)),
                   fmt::format("use {0}:1 to {0}:{1}", name.substr(0, colon), all.size()));
}

Chain find_chain(const ChainRequest& request) {
  std::vector<Chain> all = find_chains(request);
  if (all.size() == 1) return std::move(all.front());
  throw UsageError(request.name, fmt::format("these are {} chains", all.size()),
                   fmt::format("say which, such as {}:1", request.name));
}

}  // namespace tcsim::fusion
