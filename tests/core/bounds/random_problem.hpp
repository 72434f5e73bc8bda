// Problems for tests of bounds: from a statement, and small random ones.
#pragma once

#include <cctype>
#include <map>
#include <string>
#include <vector>

#include "core/bounds/problem.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim::bounds::test {

using tcsim::test::Random;

// Of one statement, with these extents, or with none known.
inline Problem problem(const std::string& statement,
                       std::map<std::string, std::int64_t> extents = {}) {
  std::string name;
  std::string all = " ";
  bool inside = false;
  for (char c : statement) {
    if (c == '[') inside = true;
    if (c == ']') inside = false;
    all += inside && (std::isalnum(c) || c == '_') ? c : ' ';
  }
  std::map<std::string, std::int64_t> needed;
  for (char c : all + " ") {
    if (c != ' ') {
      name += c;
    } else {
      if (!name.empty() && !std::isdigit(name[0])) {
        needed[name] = extents.contains(name) ? extents[name] : 1;
      }
      name.clear();
    }
  }
  Problem p = problem_of(parse_statement(statement, needed, ElementType::f64, "test"));
  for (Problem::Dim& d : p.dims) {
    if (!extents.contains(d.name)) d.extent.reset();
  }
  return p;
}

// A contraction or a convolution with strides: each dimension is in two or all of the accesses, or
// in a sum with another one.
inline Problem random_contraction(Random& random, std::int64_t most_extent) {
  Problem p;
  p.arrays = {{"C", random.chance(20)}, {"A", false}, {"B", false}};
  Problem::Access c{0, {}}, a{1, {}}, b{2, {}};
  const auto dim = [&] {
    const std::string name(1, static_cast<char>('a' + p.dims.size()));
    p.dims.push_back({name, "N_" + name, random.between(1, most_extent), false});
    p.name += name + "=" + std::to_string(*p.dims.back().extent) + " ";
    return DimId{static_cast<int>(p.dims.size()) - 1};
  };
  const auto add = [&](const char* in, std::vector<Problem::Access*> accesses) {
    const Affine axis{{{dim(), 1}}};
    for (Problem::Access* x : accesses) x->axes.push_back(axis);
    p.name += std::string("in ") + in + ", ";
  };
  add("CA", {&c, &a});
  add("CB", {&c, &b});
  if (random.chance(85)) add("AB", {&a, &b});
  if (random.chance(20)) add("ABC", {&c, &a, &b});
  for (std::int64_t axes = random.chance(50) ? 0 : random.between(1, 2); axes > 0; --axes) {
    const Affine::Term x{dim(), random.between(1, 2)}, h{dim(), random.between(1, 2)};
    p.name += std::to_string(x.coefficient) + "," + std::to_string(h.coefficient) + " in A; ";
    a.axes.push_back({{x, h}});
    c.axes.push_back({{{x.dim, 1}}});
    b.axes.push_back({{{h.dim, 1}}});
  }
  p.statements = {{c, {a, b}}};
  return p;
}

// "C[+1i,+1j,] A[+1i,+2k,] ", for names.
inline std::string accesses_text(const Problem& p, const Problem::Statement& s) {
  std::string text;
  for (const Problem::Access& a : accesses_of(s)) {
    text += p.arrays[static_cast<std::size_t>(a.array)].name + "[";
    for (const Affine& axis : a.axes) {
      for (const Affine::Term& t : axis.terms) {
        text += "+" + std::to_string(t.coefficient) + p.dim(t.dim).name;
      }
      text += ",";
    }
    text += "] ";
  }
  return text;
}

// C[..] += A[..] * B[..], or of A alone, over up to seven dimensions, some indices being sums with
// strides.
inline Problem random_problem(Random& random, std::int64_t most_extent = 4) {
  for (;;) {
    Problem p;
    const int dims = static_cast<int>(random.between(1, 7));
    for (int d = 0; d < dims; ++d) {
      const std::string name(1, static_cast<char>('a' + d));
      p.dims.push_back({name, "N_" + name, random.between(1, most_extent), false});
    }
    p.arrays = {{"C", random.chance(20)}, {"A", false}, {"B", false}};
    const auto some = [&](int array, bool sums) {
      Problem::Access a{array, {}};
      std::vector<int> order;
      for (int d = 0; d < dims; ++d) {
        if (random.chance(60)) order.push_back(d);
      }
      random.shuffle(order);
      for (std::size_t i = 0; i < order.size();) {
        Affine axis;
        const std::size_t terms = sums && random.chance(30) ? 2 : 1;
        for (std::size_t t = 0; t < terms && i < order.size(); ++t, ++i) {
          axis.terms.push_back({DimId{order[i]}, terms == 2 ? random.between(1, 3) : 1});
        }
        a.axes.push_back(axis);
      }
      return a;
    };
    Problem::Statement s{some(0, false), {some(1, true)}};
    if (random.chance(85)) s.in.push_back(some(random.chance(10) ? 1 : 2, random.chance(20)));
    // An array has one number of indices.
    if (s.in.size() == 2 && s.in[1].array == 1 && s.in[1].axes.size() != s.in[0].axes.size()) {
      continue;
    }
    p.statements = {s};
    if (static_cast<int>(dims_of(s).size()) != dims) continue;
    p.name += accesses_text(p, s);
    for (const Problem::Dim& d : p.dims) p.name += d.name + "=" + std::to_string(*d.extent) + " ";
    return p;
  }
}

// The indices that a run has in the access; `run` has a place for each of dims.
inline std::vector<std::int64_t> element(const Problem::Access& access,
                                         const std::vector<DimId>& dims,
                                         const std::vector<std::int64_t>& run) {
  std::vector<std::int64_t> indices{access.array};
  for (const Affine& axis : access.axes) {
    std::int64_t at = 0;
    for (const Affine::Term& t : axis.terms) {
      for (std::size_t d = 0; d < dims.size(); ++d) {
        if (dims[d] == t.dim) at += t.coefficient * run[d];
      }
    }
    indices.push_back(at);
  }
  return indices;
}

}  // namespace tcsim::bounds::test
