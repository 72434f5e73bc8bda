// Tiny nests for the slow twin of core/bounds: matrix products, contractions and convolutions.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/bounds/nest.hpp"
#include "tests/core/bounds/least_loads.hpp"
#include "tests/core/random_schedule.hpp"

namespace tcsim::test {

// C[i, j] += A[i, k] * B[k, j], with i, j and k the dimensions 0, 1 and 2.
inline TinyNest matrix_product(int i, int j, int k) {
  return {{i, j, k}, {{{{0, 1}}, {{1, 1}}}, {{{0, 1}}, {{2, 1}}}, {{{2, 1}}, {{1, 1}}}}};
}

// Up to seven dimensions of extents 1 to `longest`, at most `most` iterations. Each dimension
// indexes two arrays or, of a batch, three; pairs of dimensions become a sum in an input, with
// strides. With `reuse` the first three have extents above 1 and each lacks another array, so that
// all are used again.
inline TinyNest random_tiny_nest(Random& random, std::int64_t most, bool reuse = false,
                                 std::int64_t longest = 4) {
  TinyNest nest;
  nest.arrays.resize(3);
  const std::int64_t dims = random.between(reuse ? 3 : 1, 7);
  std::vector<std::vector<int>> of(4);  // by the array that lacks them; 3 for none
  for (int d = 0; d < dims; ++d) {
    const bool used_again = reuse && d < 3;
    std::int64_t room = most / nest.iterations();
    for (int later = d + 1; used_again && later < 3; ++later) room /= 2;
    const std::int64_t least = used_again ? 2 : 1;
    nest.extents.push_back(
        static_cast<int>(random.between(least, std::max(least, std::min(longest, room)))));
    const std::int64_t lacks = used_again ? d : random.chance(10) ? 3 : random.between(0, 2);
    of[static_cast<std::size_t>(lacks)].push_back(d);
  }
  // A convolution: a dimension of the output and the image with one of the image and the filter.
  // Reduced dimensions lack array 0, those of the output and the image (array 1) lack array 2.
  while (random.chance(60) && !of[0].empty() && !of[2].empty()) {
    const int r = of[0].back(), x = of[2].back();
    of[0].pop_back(), of[2].pop_back();
    nest.arrays[0].push_back({{x, 1}});
    nest.arrays[1].push_back(
        {{x, static_cast<int>(random.between(1, 3))}, {r, static_cast<int>(random.between(1, 2))}});
    nest.arrays[2].push_back({{r, 1}});
  }
  for (std::size_t lacks = 0; lacks < 4; ++lacks) {
    for (int d : of[lacks]) {
      for (std::size_t a = 0; a < 3; ++a) {
        if (a != lacks) nest.arrays[a].push_back({{d, 1}});
      }
    }
  }
  return nest;
}

inline bounds::Nest to_nest(const TinyNest& tiny, const OutputCost& output) {
  bounds::Nest nest;
  nest.extents.assign(tiny.extents.begin(), tiny.extents.end());
  for (const TinyNest::Array& array : tiny.arrays) {
    bounds::Nest::Array to;
    to.name = std::string(1, "CAB"[nest.arrays.size()]);
    for (const TinyNest::Axis& axis : array) {
      Affine affine;
      for (const auto& [dim, coefficient] : axis) affine.terms.push_back({DimId{dim}, coefficient});
      to.axes.push_back(affine);
    }
    if (nest.arrays.empty())
      to.weight = output.again, to.starts_at_zero = output.first != output.again;
    nest.arrays.push_back(to);
  }
  return nest;
}

inline TinyNest to_tiny(const bounds::Nest& nest) {
  TinyNest tiny;
  for (std::int64_t extent : nest.extents) tiny.extents.push_back(static_cast<int>(extent));
  for (const bounds::Nest::Array& array : nest.arrays) {
    tiny.arrays.emplace_back();
    for (const Affine& affine : array.axes) {
      tiny.arrays.back().emplace_back();
      for (const Affine::Term& term : affine.terms) {
        tiny.arrays.back().back().emplace_back(index(term.dim), static_cast<int>(term.coefficient));
      }
    }
  }
  return tiny;
}

inline bounds::Problem to_problem(const TinyNest& tiny, bool starts_at_zero) {
  bounds::Problem problem;
  problem.name = "tiny";
  for (std::size_t d = 0; d < tiny.extents.size(); ++d) {
    const std::string name = "d" + std::to_string(d);
    problem.dims.push_back({name, "N_" + name, tiny.extents[d], false});
  }
  bounds::Problem::Statement statement;
  for (std::size_t a = 0; a < tiny.arrays.size(); ++a) {
    problem.arrays.push_back({std::string(1, "CAB"[a]), starts_at_zero && a == 0});
    bounds::Problem::Access access{static_cast<int>(a), {}};
    for (const TinyNest::Axis& axis : tiny.arrays[a]) {
      access.axes.emplace_back();
      for (const auto& [dim, coefficient] : axis) {
        access.axes.back().terms.push_back({DimId{dim}, coefficient});
      }
    }
    if (a == 0) statement.out = access;
    if (a > 0) statement.in.push_back(access);
  }
  problem.statements.push_back(statement);
  return problem;
}

inline std::string describe(const TinyNest& nest) {
  std::string text = "extents";
  for (int extent : nest.extents) text += " " + std::to_string(extent);
  for (const TinyNest::Array& array : nest.arrays) {
    text += " [";
    for (const TinyNest::Axis& axis : array) {
      for (const auto& [dim, coefficient] : axis) {
        text += " " + std::to_string(coefficient) + "*d" + std::to_string(dim);
      }
      text += ",";
    }
    text += "]";
  }
  return text;
}

}  // namespace tcsim::test
