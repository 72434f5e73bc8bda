#include "core/bounds/permutations.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "core/bounds/footprint.hpp"

namespace tcsim::bounds {

namespace {

// How much shorter a dimension of a sum is than the other one to be called small. Source: ioopt
// calls those small that are "orders of magnitude" shorter.
constexpr std::int64_t much_shorter = 10;

// Of n dimensions with the same reuse there are n! orders. Nests of contractions and of
// convolutions in three dimensions have fewer than these.
constexpr std::size_t most_permutations = 120;

struct Choice {
  DimId dim;
  std::uint64_t arrays;  // with reuse along it
};

// genPerm(): all orders of the dimensions that are left, outermost first, with `inner` behind them.
void generate(const std::vector<Choice>& left, const std::vector<DimId>& inner,
              std::set<std::vector<DimId>>& found) {
  if (found.size() >= most_permutations) return;
  const bool none = std::all_of(left.begin(), left.end(), [](auto& c) { return c.arrays == 0; });
  if (none) {
    std::vector<DimId> permutation;
    for (const Choice& c : left) permutation.push_back(c.dim);
    permutation.insert(permutation.end(), inner.begin(), inner.end());
    found.insert(permutation);
    return;
  }
  for (const Choice& chosen : left) {
    const bool dominated = std::any_of(left.begin(), left.end(), [&](const Choice& other) {
      return other.arrays != chosen.arrays && (chosen.arrays & ~other.arrays) == 0;
    });
    if (dominated) continue;
    std::vector<Choice> rest;
    for (const Choice& c : left) {
      if (c.dim != chosen.dim) rest.push_back({c.dim, c.arrays & chosen.arrays});
    }
    std::vector<DimId> next{chosen.dim};
    next.insert(next.end(), inner.begin(), inner.end());
    generate(rest, next, found);
  }
}

// Calls visit(term, others) for each term of a sum.
template <class Visit>
void for_each_shared(const Nest::Array& array, Visit&& visit) {
  for (const Affine& axis : array.axes) {
    for (const Affine::Term& term : axis.terms) {
      for (const Affine::Term& other : axis.terms) {
        if (term.dim != other.dim) visit(term.dim, other.dim);
      }
    }
  }
}

}  // namespace

Reuse reuse_of(const Nest& nest, const std::vector<bool>& small) {
  Reuse reuse(nest.extents.size());
  for (std::size_t a = 0; a < nest.arrays.size(); ++a) {
    const std::uint64_t bit = std::uint64_t{1} << a;
    for (std::size_t d = 0; d < reuse.size(); ++d) {
      if (!has(nest.arrays[a], DimId{static_cast<int>(d)})) reuse[d] |= bit;
    }
    for_each_shared(nest.arrays[a], [&](DimId d, DimId other) {
      if (small[place(d)] && !small[place(other)]) reuse[place(d)] |= bit;
    });
  }
  return reuse;
}

std::vector<bool> small_dims(const Nest& nest) {
  std::vector<bool> small(nest.extents.size());
  for (const Nest::Array& array : nest.arrays) {
    for_each_shared(array, [&](DimId d, DimId other) {
      if (nest.extents[place(d)] <= nest.extents[place(other)] / much_shorter)
        small[place(d)] = true;
    });
  }
  return small;
}

std::vector<std::vector<DimId>> permutations(const Reuse& reuse) {
  std::vector<Choice> all;
  for (std::size_t d = 0; d < reuse.size(); ++d) {
    all.push_back({DimId{static_cast<int>(d)}, reuse[d]});
  }
  std::set<std::vector<DimId>> found;
  generate(all, {}, found);
  return {found.begin(), found.end()};
}

}  // namespace tcsim::bounds
