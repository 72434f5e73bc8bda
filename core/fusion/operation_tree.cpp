#include "core/fusion/operation_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <set>

#include "core/error.hpp"

namespace tcsim::fusion {

namespace {

constexpr std::size_t most_indices = 256;
constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

[[noreturn]] void refuse(const Program& program, const std::string& what, const std::string& mend) {
  throw UnsupportedError(program.name(), what, mend);
}

// The dimensions of all statements, each its own: joined where an intermediate's axis is both.
class Joiner {
 public:
  explicit Joiner(const Program& program)
      : dims_(program.dims().size()), of_(program.statements().size() * dims_) {
    std::iota(of_.begin(), of_.end(), std::size_t{0});
  }

  std::size_t find(std::size_t statement, DimId d) const {
    std::size_t at = place(statement, d);
    while (of_[at] != at) at = of_[at];
    return at;
  }
  void join(std::size_t s, DimId d, std::size_t t, DimId e) {
    const std::size_t a = find(s, d), b = find(t, e);
    of_[std::max(a, b)] = std::min(a, b);
  }

 private:
  std::size_t place(std::size_t statement, DimId d) const {
    return statement * dims_ + static_cast<std::size_t>(index(d));
  }
  std::size_t dims_;
  std::vector<std::size_t> of_;
};

// The dimensions of an access whose axes are dimensions alone, each once.
std::vector<DimId> plain_axes(const Program& program, const Program::Access& access) {
  std::vector<DimId> dims;
  const Program::Tensor& tensor = program.tensor(access.tensor);
  for (std::size_t axis = 0; axis < access.axes.size(); ++axis) {
    const Affine& affine = access.axes[axis];
    const bool alone = affine.terms.size() == 1 && affine.terms[0].coefficient == 1;
    if (!alone) {
      refuse(program,
             fmt::format("{} has the index {}: fusing what overlaps is not done yet",
                         to_text(program, access), to_text(program, affine)),
             "use dimensions alone");
    }
    const DimId d = affine.terms[0].dim;
    if (program.dim(d).extent != tensor.extents[axis]) {
      refuse(program,
             fmt::format("{} of {} is {} long and its axis {}", program.dim(d).name, tensor.name,
                         program.dim(d).extent, tensor.extents[axis]),
             "make the axis as long as the dimension");
    }
    if (std::ranges::find(dims, d) != dims.end()) {
      refuse(program, fmt::format("{} has a dimension twice", to_text(program, access)),
             "sum a diagonal beforehand");
    }
    dims.push_back(d);
  }
  return dims;
}

void check_statement(const Program& program, const Program::Statement& s) {
  if (s.in.size() != 2) {
    refuse(program,
           fmt::format("{} is made of one tensor: sums of one tensor are not fused yet",
                       to_text(program, s.out)),
           "write statements as T[a, q] += C[a, p] * A[p, q]");
  }
  std::vector<int> uses(program.dims().size());
  for (const Program::Access* access : {&s.out, &s.in[0], &s.in[1]}) {
    for (DimId d : plain_axes(program, *access)) ++uses[static_cast<std::size_t>(index(d))];
  }
  for (std::size_t d = 0; d < uses.size(); ++d) {
    if (uses[d] != 1) continue;
    refuse(program,
           fmt::format("{} is in one tensor alone in the statement that makes {}",
                       program.dims()[d].name, to_text(program, s.out)),
           "a contraction has each dimension in two tensors or three");
  }
}

}  // namespace

IndexSet common(const IndexSet& a, const IndexSet& b) {
  IndexSet both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both;
}
IndexSet without(const IndexSet& a, const IndexSet& b) {
  IndexSet rest;
  std::ranges::set_difference(a, b, std::back_inserter(rest));
  return rest;
}
IndexSet joined(const IndexSet& a, const IndexSet& b) {
  IndexSet all;
  std::ranges::set_union(a, b, std::back_inserter(all));
  return all;
}
bool contains(const IndexSet& set, int index) { return std::ranges::binary_search(set, index); }

IndexSet OperationTree::Array::set() const {
  IndexSet sorted = indices;
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<int> OperationTree::children(int s) const {
  std::vector<int> made;
  for (int a : {statement(s).left, statement(s).right}) {
    if (array(a).producer >= 0) made.push_back(array(a).producer);
  }
  return made;
}

std::vector<int> OperationTree::roots() const {
  std::vector<int> all;
  for (int s = 0; s < static_cast<int>(statements.size()); ++s) {
    if (parent(s) < 0) all.push_back(s);
  }
  return all;
}

double OperationTree::bytes(int a) const {
  double n = static_cast<double>(array(a).element.value());
  for (int i : array(a).indices) n *= static_cast<double>(extent(i));
  return n;
}

double OperationTree::flops(int s) const {
  double n = 2;
  for (int i : statement(s).indices) n *= static_cast<double>(extent(i));
  return n;
}

double OperationTree::flops() const {
  double n = 0;
  for (int s = 0; s < static_cast<int>(statements.size()); ++s) n += flops(s);
  return n;
}

std::vector<std::int64_t> OperationTree::extents(int a) const {
  std::vector<std::int64_t> all;
  for (int i : array(a).indices) all.push_back(extent(i));
  return all;
}

std::string OperationTree::text(int a) const {
  std::string list;
  for (int i : array(a).indices) {
    if (!list.empty()) list += ',';
    list += indices[static_cast<std::size_t>(i)].name;
  }
  return array(a).name + '[' + list + ']';
}

std::string OperationTree::statement_text(int s) const {
  const Statement& of = statement(s);
  return fmt::format("{} += {} * {}", text(of.out), text(of.left), text(of.right));
}

OperationTree operation_tree(const Program& program) {
  const std::vector<Program::Statement>& statements = program.statements();
  for (const Program::Statement& s : statements) check_statement(program, s);

  // Who makes and who reads each intermediate, and which dimensions that joins.
  struct Ends {
    int producer = -1, consumer = -1;
  };
  std::vector<Ends> ends(program.tensors().size());
  const auto of = [&](TensorIndex t) -> Ends& { return ends[static_cast<std::size_t>(index(t))]; };
  Joiner joiner(program);
  for (std::size_t s = 0; s < statements.size(); ++s) {
    Ends& made = of(statements[s].out.tensor);
    if (made.producer >= 0) {
      refuse(program,
             fmt::format("{} is written by two statements",
                         program.tensor(statements[s].out.tensor).name),
             "give each statement a tensor of its own");
    }
    made.producer = static_cast<int>(s);
    for (const Program::Access& in : statements[s].in) {
      if (program.tensor(in.tensor).role != Program::Role::intermediate) continue;
      Ends& read = of(in.tensor);
      read.consumer = static_cast<int>(s);
      const auto producer = static_cast<std::size_t>(read.producer);
      const std::vector<DimId> from = plain_axes(program, statements[producer].out);
      const std::vector<DimId> to = plain_axes(program, in);
      for (std::size_t axis = 0; axis < to.size(); ++axis) {
        joiner.join(producer, from[axis], s, to[axis]);
      }
    }
  }

  OperationTree tree;
  tree.name = program.name();
  std::vector<std::optional<int>> known(statements.size() * program.dims().size());
  std::set<std::string> names;
  const auto index_of = [&](std::size_t s, DimId d) {
    std::optional<int>& place = known[joiner.find(s, d)];
    if (!place) {
      std::string name = program.dim(d).name;
      for (int n = 2; !names.insert(name).second; ++n) {
        name = fmt::format("{}_{}", program.dim(d).name, n);
      }
      place = static_cast<int>(tree.indices.size());
      tree.indices.push_back({std::move(name), program.dim(d).extent});
    }
    return *place;
  };
  std::vector<int> array_of(program.tensors().size(), -1);  // of intermediates that are made
  for (std::size_t s = 0; s < statements.size(); ++s) {
    OperationTree::Statement statement;
    const auto use = [&](const Program::Access& access) {
      const Program::Tensor& tensor = program.tensor(access.tensor);
      int& there = array_of[static_cast<std::size_t>(index(access.tensor))];
      std::vector<int> indices;
      for (DimId d : plain_axes(program, access)) indices.push_back(index_of(s, d));
      for (int i : indices) statement.indices = joined(statement.indices, {i});
      if (there < 0 || tensor.role == Program::Role::input) {
        there = static_cast<int>(tree.arrays.size());
        tree.arrays.push_back({tensor.name, std::move(indices), tensor.role, size_of(tensor.type),
                               of(access.tensor).producer, of(access.tensor).consumer});
        if (tensor.role == Program::Role::input) tree.arrays.back().consumer = static_cast<int>(s);
      }
      return there;
    };
    statement.out = use(statements[s].out);
    statement.left = use(statements[s].in[0]);
    statement.right = use(statements[s].in[1]);
    tree.statements.push_back(std::move(statement));
  }
  if (tree.indices.size() > most_indices) {
    refuse(program, fmt::format("it has more than {} indices", most_indices), "cut it in two");
  }
  return tree;
}

Contraction contraction_of(const OperationTree& tree, int statement,
                           const std::vector<std::int64_t>& tile) {
  const OperationTree::Statement& s = tree.statement(statement);
  const std::string name = tree.array(s.out).name;
  if (s.indices.size() > letters.size()) {
    throw UnsupportedError(
        name, fmt::format("it has {} loops and {} can be named", s.indices.size(), letters.size()),
        "fuse dimensions that are always together");
  }
  std::vector<Dimension> dims;
  for (std::size_t i = 0; i < s.indices.size(); ++i) dims.push_back({letters[i], tile[i]});
  std::array<std::vector<DimId>, 3> tensors;
  const std::array<int, 3> arrays{s.left, s.right, s.out};
  for (std::size_t t = 0; t < arrays.size(); ++t) {
    for (int i : tree.array(arrays[t]).indices) {
      const auto place = std::ranges::lower_bound(s.indices, i) - s.indices.begin();
      tensors[t].push_back(DimId{static_cast<int>(place)});
    }
  }
  const ElementType type =
      tree.array(s.out).element == size_of(ElementType::f64) ? ElementType::f64 : ElementType::f32;
  return {name, std::move(dims), std::move(tensors), Layout::row_major, type};
}

}  // namespace tcsim::fusion
