// Chains for tests: pairs of products, those of Gao et al., section 6, and random ones.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/fusion/operation_tree.hpp"
#include "core/fusion/walk.hpp"
#include "core/workload/program.hpp"

namespace tcsim::fusion {

inline OperationTree pair_of(std::int64_t a, std::int64_t b, std::int64_t p, std::int64_t q) {
  return operation_tree(parse_program(fmt::format(R"(
program pair
dims a={} b={} p={} q={}
f64 input A[p, q]  f64 input C[a, p]  f64 input D[b, q]
f64 intermediate T[a, q]
f64 output B[a, b]
T[a, q] += C[a, p] * A[p, q]
B[a, b] += T[a, q] * D[b, q]
)",
                                                  a, b, p, q),
                                      "test"));
}
inline OperationTree pair_of(std::int64_t all) { return pair_of(all, all, all, all); }

// `sizes`: "i=8 j=16 k=4 l=8".
inline OperationTree two_products(const std::string& sizes) {
  return operation_tree(parse_program("program two\ndims " + sizes + R"(
f64 input A[i, k]  f64 input B[k, j]  f64 input D[j, l]
f64 intermediate T[i, j]
f64 output C[i, l]
T[i, j] += A[i, k] * B[k, j]
C[i, l] += T[i, j] * D[j, l]
)",
                                      "test"));
}

inline OperationTree four_index(int n, int v) {
  return operation_tree(parse_program(fmt::format(R"(
program fourindex
dims p={0} q={0} r={0} s={0} a={1} b={1} c={1} d={1}
f64 input A[p, q, r, s]
f64 input C4[a, p]
f64 input C3[b, q]
f64 input C2[c, r]
f64 input C1[d, s]
f64 intermediate T1[a, q, r, s]
f64 intermediate T2[a, b, r, s]
f64 intermediate T3[a, b, c, s]
f64 output B[a, b, c, d]
T1[a, q, r, s] += C4[a, p] * A[p, q, r, s]
T2[a, b, r, s] += C3[b, q] * T1[a, q, r, s]
T3[a, b, c, s] += C2[c, r] * T2[a, b, r, s]
B[a, b, c, d] += C1[d, s] * T3[a, b, c, s]
)",
                                                  n, v),
                                      "test"));
}

inline OperationTree ccsd(int o, int v) {
  return operation_tree(parse_program(fmt::format(R"(
program ccsd
dims i={0} j={0} k={0} l={0} a={1} b={1} c={1} d={1}
f64 input A[l, k, b, a]
f64 input B[d, c, l, k]
f64 input C[i, c]
f64 input D[j, d]
f64 intermediate T1[d, l, k, i]
f64 intermediate T2[l, k, i, j]
f64 output S[j, i, b, a]
T1[d, l, k, i] += B[d, c, l, k] * C[i, c]
T2[l, k, i, j] += T1[d, l, k, i] * D[j, d]
S[j, i, b, a] += A[l, k, b, a] * T2[l, k, i, j]
)",
                                                  o, v),
                                      "test"));
}

inline OperationTree ccsdt(int o, int v) {
  return operation_tree(parse_program(fmt::format(R"(
program ccsdt
dims h3={0} h4={0} h6={0} h8={0} h10={0} p1={1} p2={1} p5={1} p7={1} p9={1}
f64 input v_oovv[h10, h3, p7, p5]
f64 input t_vo5[p5, h6]
f64 input t_vo7[p7, h8]
f64 input t_vo9[p9, h10]
f64 input y_ooovvv[h8, h6, h4, p9, p1, p2]
f64 intermediate T1[h6, h10, h3, p7]
f64 intermediate T2[h8, h6, h10, h3]
f64 intermediate T3[p9, h8, h6, h3]
f64 output S[h3, h4, p1, p2]
T1[h6, h10, h3, p7] += t_vo5[p5, h6] * v_oovv[h10, h3, p7, p5]
T2[h8, h6, h10, h3] += t_vo7[p7, h8] * T1[h6, h10, h3, p7]
T3[p9, h8, h6, h3] += t_vo9[p9, h10] * T2[h8, h6, h10, h3]
S[h3, h4, p1, p2] += y_ooovvv[h8, h6, h4, p9, p1, p2] * T3[p9, h8, h6, h3]
)",
                                                  o, v),
                                      "test"));
}

// The statements in program order where each reads the one before.
inline std::vector<int> whole_chain(const OperationTree& tree) {
  std::vector<int> chain(tree.statements.size());
  for (std::size_t i = 0; i < chain.size(); ++i) chain[i] = static_cast<int>(i);
  return chain;
}

// A tree of random contractions: each reads an earlier intermediate or two, with some of their
// indices summed, some kept and some new ones.
inline Program random_chain_program(std::mt19937_64& random, int statements, int longest,
                                    bool joins = true) {
  const auto pick = [&](int most) { return std::uniform_int_distribution<int>(0, most)(random); };
  Program::Parts parts{"chain", {}, {}, {}};
  const auto new_dim = [&] {
    parts.dims.push_back({fmt::format("i{}", parts.dims.size()), 1 + pick(longest - 1)});
    return DimId{static_cast<int>(parts.dims.size()) - 1};
  };
  const auto access = [&](const std::string& name, std::vector<DimId> dims, Program::Role role) {
    std::ranges::shuffle(dims, random);
    Program::Tensor t{name, {}, {}, ElementType::f64, role};
    Program::Access a;
    for (DimId d : dims) {
      t.extents.push_back(parts.dims[static_cast<std::size_t>(index(d))].extent);
      a.axes.push_back({{{d, 1}}});
    }
    t.order = row_major_order(t.extents.size());
    a.tensor = TensorIndex{static_cast<int>(parts.tensors.size())};
    parts.tensors.push_back(std::move(t));
    return a;
  };
  const auto dims_of = [](const Program::Access& a) {
    std::vector<DimId> dims;
    for (const Affine& axis : a.axes) dims.push_back(axis.terms[0].dim);
    return dims;
  };
  std::vector<Program::Access> open;  // made and not read yet
  for (int s = 0; s < statements; ++s) {
    const bool last = s + 1 == statements;
    // What is open has to be read by the statements that are left.
    const auto room = static_cast<std::size_t>(statements - s);
    const bool join = open.size() > room || (open.size() > 1 && pick(2) == 0);
    const bool fresh = open.empty() || (joins && !join && open.size() < room && pick(2) == 0);
    std::vector<DimId> left, right, out;
    std::vector<Program::Access> in;
    if (fresh) {
      for (int i = 0; i < 2 + pick(1); ++i) left.push_back(new_dim());
    } else {
      in.push_back(open.back());
      open.pop_back();
      left = dims_of(in[0]);
    }
    if (join) {
      in.push_back(open.back());
      open.pop_back();
      right = dims_of(in[1]);
    }
    for (DimId d : left) {
      const int what = pick(2);  // 0 summed, 1 kept, 2 a batch
      if (join || what == 1) {
        out.push_back(d);
      } else {
        right.push_back(d);
        if (what == 2) out.push_back(d);
      }
    }
    if (join) {
      out.insert(out.end(), right.begin(), right.end());
    } else {
      for (int i = 0; i < pick(1) + (out.empty() ? 1 : 0); ++i) {
        right.push_back(new_dim());
        out.push_back(right.back());
      }
    }
    while (in.size() < 2) {
      in.push_back(access(fmt::format("X{}_{}", s, in.size()), in.empty() ? left : right,
                          Program::Role::input));
    }
    Program::Statement statement;
    statement.out = access(fmt::format("T{}", s), out,
                           last ? Program::Role::output : Program::Role::intermediate);
    statement.in = in;
    parts.statements.push_back(statement);
    if (!last) open.push_back(statement.out);
  }
  return Program(std::move(parts));
}

}  // namespace tcsim::fusion
