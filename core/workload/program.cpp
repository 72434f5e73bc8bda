#include "core/workload/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/text/name.hpp"

namespace tcsim {

namespace {

using Fault = Program::Fault;
using Role = Program::Role;
using MaybeFault = std::optional<Fault>;

constexpr std::array reserved_words{"program",   "dims",        "f64",          "f32",
                                    "input",     "output",      "intermediate", "order",
                                    "row-major", "column-major"};

// Bytes of a tensor, and coefficients.
constexpr std::int64_t most_of_a_number = (std::int64_t{1} << 62) - 1;

constexpr const char* identifier_form =
    "give a letter, then letters, digits and _, at most 64, and no word of the form such as dims";

std::size_t at(int i) { return static_cast<std::size_t>(i); }

// Looks for the first rule that parts break, from what is declared to what is computed.
class Checker {
 public:
  explicit Checker(const Program::Parts& parts) : p_(parts) {}

  MaybeFault fault() {
    if (auto f = name()) return f;
    if (auto f = count(p_.dims.size(), "dimensions")) return f;
    if (auto f = count(p_.tensors.size(), "tensors")) return f;
    if (auto f = count(p_.statements.size(), "statements")) return f;
    if (p_.statements.empty()) {
      return Fault{"there is no statement", "add one, such as C[i, j] += A[i, k] * B[k, j]"};
    }
    for (int i = 0; i < std::ssize(p_.dims); ++i) {
      if (auto f = dim(i)) return in_dim(i, *f);
    }
    for (int i = 0; i < std::ssize(p_.tensors); ++i) {
      if (auto f = tensor(i)) return in_tensor(i, *f);
    }
    used_.resize(p_.dims.size());
    writes_.resize(p_.tensors.size());
    reads_.resize(p_.tensors.size());
    for (int i = 0; i < std::ssize(p_.statements); ++i) {
      if (auto f = statement(i)) {
        f->statement = i;
        return f;
      }
    }
    return unused();
  }

 private:
  static MaybeFault in_dim(int i, Fault f) {
    f.dim = i;
    return f;
  }
  static MaybeFault in_tensor(int i, Fault f) {
    f.tensor = i;
    return f;
  }

  MaybeFault name() const {
    if (p_.name.empty()) return Fault{"the program's name is empty", "give it a name"};
    const std::string fault = fault_of_name(p_.name);
    if (!fault.empty()) return Fault{"the program's name " + fault, name_mend};
    return {};
  }

  static MaybeFault count(std::size_t n, const char* what) {
    if (n <= Program::most) return {};
    return Fault{fmt::format("there are more than {} {}", Program::most, what), "take some out"};
  }

  template <class Named>
  static MaybeFault identifier(const std::vector<Named>& all, int i, const char* what) {
    const std::string& name = all[at(i)].name;
    if (!is_identifier(name)) {
      // What is no name may be anything, of any length.
      return Fault{fmt::format("a {} cannot be named \"{}\"", what, name.substr(0, 32)),
                   identifier_form};
    }
    const auto end = all.begin() + i;
    if (std::find_if(all.begin(), end, [&](const Named& o) { return o.name == name; }) == end) {
      return {};
    }
    return Fault{fmt::format("there is a {} '{}' already", what, name), "give it another name"};
  }

  MaybeFault dim(int i) const {
    if (auto f = identifier(p_.dims, i, "dimension")) return f;
    const Program::Dim& d = p_.dims[at(i)];
    if (d.extent >= 1) return {};
    return Fault{fmt::format("the extent of '{}' is {}", d.name, d.extent),
                 "give an extent of at least 1"};
  }

  MaybeFault tensor(int i) const {
    if (auto f = identifier(p_.tensors, i, "tensor")) return f;
    const Program::Tensor& t = p_.tensors[at(i)];
    if (auto f = count(t.extents.size(), "axes")) return f;
    std::int64_t bytes = size_of(t.type).value();
    for (std::int64_t extent : t.extents) {
      if (extent < 1) {
        return Fault{fmt::format("tensor {} has an extent of {}", t.name, extent),
                     "give an extent of at least 1"};
      }
      if (bytes > most_of_a_number / extent) {
        return Fault{fmt::format("tensor {} has 2^62 bytes or more", t.name),
                     "use smaller extents"};
      }
      bytes *= extent;
    }
    std::vector<int> sorted = t.order;
    std::sort(sorted.begin(), sorted.end());
    if (sorted != column_major_order(t.extents.size())) {
      return Fault{fmt::format("the order of tensor {} does not name each of its {} axes once",
                               t.name, t.extents.size()),
                   "give the axes, counted from 0, from stride one outward"};
    }
    return {};
  }

  MaybeFault statement(int i) {
    const Program::Statement& s = p_.statements[at(i)];
    if (s.in.empty() || s.in.size() > 2) {
      return Fault{fmt::format("a statement reads {} tensors", s.in.size()),
                   "write out += in or out += in * in"};
    }
    for (int a = 0; a <= std::ssize(s.in); ++a) {
      const Program::Access& access = a == 0 ? s.out : s.in[at(a - 1)];
      auto f = places(access);
      if (!f) f = a == 0 ? written(i, access) : read(i, access);
      if (!f) continue;
      f->access = a;
      return f;
    }
    return {};
  }

  // Whether an access is inside its tensor.
  MaybeFault places(const Program::Access& access) {
    if (index(access.tensor) < 0 || index(access.tensor) >= std::ssize(p_.tensors)) {
      return Fault{"an access is of no tensor", "declare it"};
    }
    const Program::Tensor& t = p_.tensors[at(index(access.tensor))];
    if (access.axes.size() != t.extents.size()) {
      return Fault{fmt::format("tensor {} has {} axes and is indexed by {}", t.name,
                               t.extents.size(), access.axes.size()),
                   "give a dimension or a sum of them for each axis"};
    }
    for (int axis = 0; axis < std::ssize(access.axes); ++axis) {
      if (auto f = place(t, access.axes[at(axis)], t.extents[at(axis)])) {
        f->axis = axis;
        return f;
      }
    }
    return {};
  }

  MaybeFault place(const Program::Tensor& t, const Affine& affine, std::int64_t extent) {
    if (affine.terms.empty()) {
      return Fault{fmt::format("an axis of tensor {} has no dimension", t.name),
                   "give a dimension or a sum of them for each axis"};
    }
    std::int64_t reach = 0, left = extent - 1;
    bool inside = true, known = true;
    for (std::size_t i = 0; i < affine.terms.size(); ++i) {
      const auto [d, coefficient] = affine.terms[i];
      if (index(d) < 0 || index(d) >= std::ssize(p_.dims)) {
        return Fault{"a term is of no dimension", "declare it"};
      }
      const Program::Dim& dim = p_.dims[at(index(d))];
      if (coefficient < 1 || coefficient > most_of_a_number) {
        return Fault{fmt::format("the coefficient of '{}' is {}", dim.name, coefficient),
                     "give one from 1 to 2^62 - 1"};
      }
      for (std::size_t before = 0; before < i; ++before) {
        if (affine.terms[before].dim != d) continue;
        return Fault{fmt::format("'{}' is twice in one sum", dim.name),
                     fmt::format("write 2*{0} for {0} + {0}", dim.name)};
      }
      used_[at(index(d))] = true;
      // `left` cannot wrap, `reach` is for the message alone.
      const std::int64_t steps = dim.extent - 1;
      std::int64_t far = 0;
      known = known && !__builtin_mul_overflow(coefficient, steps, &far) &&
              !__builtin_add_overflow(reach, far, &reach);
      if (steps == 0) continue;
      inside = inside && coefficient <= left / steps;
      if (inside) left -= coefficient * steps;
    }
    if (inside) return {};
    const std::string problem =
        fmt::format("the axis of tensor {} has {} places, and its index", t.name, extent);
    if (!known || reach >= most_of_a_number) {
      return Fault{problem + " goes beyond 2^62", "use smaller extents"};
    }
    return Fault{
        fmt::format("{} goes to {}, counted from 0", problem, reach),
        fmt::format("give the axis {} places or the dimensions smaller extents", reach + 1)};
  }

  // Of statement i, whose places are right.
  MaybeFault written(int i, const Program::Access& access) {
    const int tensor = index(access.tensor);
    const Program::Tensor& t = p_.tensors[at(tensor)];
    if (t.role == Role::input) {
      return Fault{fmt::format("tensor {} is an input and is written", t.name),
                   "make it an output or an intermediate"};
    }
    for (int axis = 0; axis < std::ssize(access.axes); ++axis) {
      const Affine& affine = access.axes[at(axis)];
      const auto fault = [&](std::string problem, std::string mend) {
        return Fault{std::move(problem), std::move(mend), -1, -1, -1, -1, axis};
      };
      if (affine.terms.size() != 1 || affine.terms[0].coefficient != 1) {
        return fault(
            fmt::format("tensor {} is written, and its axis is no single dimension", t.name),
            "index what is written by dimensions alone");
      }
      const Program::Dim& dim = p_.dims[at(index(affine.terms[0].dim))];
      if (std::find(access.axes.begin(), access.axes.begin() + axis, affine) !=
          access.axes.begin() + axis) {
        return fault(
            fmt::format("tensor {} is written along a diagonal, twice '{}'", t.name, dim.name),
            "index what is written by each dimension once");
      }
      if (t.role == Role::intermediate && t.extents[at(axis)] != dim.extent) {
        return fault(
            fmt::format("intermediate {} has {} places along '{}', of which {} are written", t.name,
                        t.extents[at(axis)], dim.name, dim.extent),
            "give it as many as its statement writes");
      }
    }
    if (t.role == Role::intermediate && !writes_[at(tensor)].empty()) {
      return Fault{fmt::format("intermediate {} is written by two statements", t.name),
                   "give each its own intermediate, or make it an output"};
    }
    writes_[at(tensor)].push_back(i);
    return {};
  }

  MaybeFault read(int i, const Program::Access& access) {
    const int tensor = index(access.tensor);
    const Program::Tensor& t = p_.tensors[at(tensor)];
    if (t.role == Role::output) {
      return Fault{fmt::format("tensor {} is an output and is read", t.name),
                   "make it an intermediate"};
    }
    if (t.role == Role::intermediate) {
      if (writes_[at(tensor)].empty() || writes_[at(tensor)].front() == i) {
        return Fault{
            fmt::format("intermediate {} is read before a statement has written it", t.name),
            "put its producer first, or make it an input"};
      }
      if (!reads_[at(tensor)].empty()) {
        return Fault{fmt::format("intermediate {} is read twice", t.name),
                     "read it once; an intermediate has one consumer"};
      }
    }
    reads_[at(tensor)].push_back(i);
    return {};
  }

  // What is declared for nothing.
  MaybeFault unused() const {
    for (int i = 0; i < std::ssize(p_.tensors); ++i) {
      const Program::Tensor& t = p_.tensors[at(i)];
      const char* missing = nullptr;
      if (t.role != Role::input && writes_[at(i)].empty()) missing = "written";
      if (t.role != Role::output && reads_[at(i)].empty()) missing = "read";
      if (missing == nullptr) continue;
      return in_tensor(i, {fmt::format("{} {} is never {}", to_text(t.role), t.name, missing),
                           "use it or take it out"});
    }
    for (int i = 0; i < std::ssize(p_.dims); ++i) {
      if (used_[at(i)]) continue;
      return in_dim(i, {fmt::format("dimension '{}' is in no statement", p_.dims[at(i)].name),
                        "use it or take it out"});
    }
    return {};
  }

  const Program::Parts& p_;
  std::vector<bool> used_;                // by dimension
  std::vector<std::vector<int>> writes_;  // by tensor, the statements that do
  std::vector<std::vector<int>> reads_;
};

void sort_terms(Program::Access& access) {
  for (Affine& affine : access.axes) {
    std::sort(affine.terms.begin(), affine.terms.end(),
              [](const Affine::Term& a, const Affine::Term& b) { return a.dim < b.dim; });
  }
}

}  // namespace

std::optional<Program::Fault> Program::fault_of(const Parts& parts) {
  return Checker(parts).fault();
}

Program::Program(Parts parts) : parts_(std::move(parts)) {
  if (const auto fault = fault_of(parts_)) {
    throw UsageError(parts_.name, fault->problem, fault->mend);
  }
  for (Statement& s : parts_.statements) {
    sort_terms(s.out);
    for (Access& access : s.in) sort_terms(access);
  }
}

const char* to_text(Program::Role role) {
  return std::array{"input", "output", "intermediate"}[static_cast<std::size_t>(role)];
}

std::vector<int> column_major_order(std::size_t axes) {
  std::vector<int> order(axes);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

std::vector<int> row_major_order(std::size_t axes) {
  std::vector<int> order = column_major_order(axes);
  std::reverse(order.begin(), order.end());
  return order;
}

std::vector<Elements> strides(const Program::Tensor& tensor) {
  std::vector<Elements> found(tensor.extents.size());
  std::int64_t stride = 1;
  for (int axis : tensor.order) {
    found[at(axis)] = Elements(stride);
    stride *= tensor.extents[at(axis)];
  }
  return found;
}

Elements size(const Program::Tensor& tensor) {
  return Elements(std::accumulate(tensor.extents.begin(), tensor.extents.end(), std::int64_t{1},
                                  std::multiplies<>()));
}

Program with_type(const Program& program, ElementType type) {
  Program::Parts parts = program.parts();
  for (Program::Tensor& t : parts.tensors) t.type = type;
  return Program(std::move(parts));
}

bool is_identifier(std::string_view text) {
  // Not std::isalpha: that depends on the locale.
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || text.size() > Program::most || !letter(text[0])) return false;
  if (std::find(reserved_words.begin(), reserved_words.end(), text) != reserved_words.end()) {
    return false;
  }
  return std::all_of(text.begin(), text.end(),
                     [&](char c) { return letter(c) || (c >= '0' && c <= '9') || c == '_'; });
}

}  // namespace tcsim
