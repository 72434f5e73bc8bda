#include "core/bounds/footprint.hpp"

#include <algorithm>
#include <numeric>

namespace tcsim::bounds {

namespace {

// Sums of three and more terms that leave gaps are counted one by one up to this many values.
constexpr std::int64_t most_counted = 1 << 20;

double count_one_by_one(const SizedTerms& terms, std::int64_t reach) {
  std::vector<bool> reached(static_cast<std::size_t>(reach) + 1);
  reached[0] = true;
  std::int64_t last = 0;
  for (const auto& [coefficient, size] : terms) {
    // Backward, so that each earlier value is still without this term.
    std::vector<bool> next = reached;
    for (std::int64_t i = 1; i < size; ++i) {
      for (std::int64_t v = 0; v <= last; ++v) {
        if (reached[static_cast<std::size_t>(v)]) {
          next[static_cast<std::size_t>(v + i * coefficient)] = true;
        }
      }
    }
    last += coefficient * (size - 1);
    reached = std::move(next);
  }
  return static_cast<double>(std::count(reached.begin(), reached.end(), true));
}

}  // namespace

double places_along(SizedTerms terms, bool& exact) {
  std::erase_if(terms, [](const auto& t) { return t.second == 1; });
  if (terms.empty()) return 1;
  if (terms.size() == 1) return static_cast<double>(terms[0].second);
  if (terms.size() == 2) {
    return tcsim::different_values(terms[0].first, static_cast<double>(terms[0].second),
                                   terms[1].first, static_cast<double>(terms[1].second));
  }
  std::int64_t common = 0;
  for (const auto& t : terms) common = std::gcd(common, t.first);
  std::sort(terms.begin(), terms.end());
  double reach = 0, pairs = 1;
  bool gapless = true;
  for (auto& [coefficient, size] : terms) {
    coefficient /= common;
    gapless = gapless && static_cast<double>(coefficient) <= reach + 1;
    reach += static_cast<double>(coefficient) * static_cast<double>(size - 1);
    pairs *= static_cast<double>(size);
  }
  if (gapless) return reach + 1;
  if (reach < static_cast<double>(most_counted)) {
    return count_one_by_one(terms, static_cast<std::int64_t>(reach));
  }
  exact = false;
  return std::min(reach + 1, pairs);
}

bool is_counted(const SizedTerms& terms) {
  if (terms.size() <= 2) return true;
  double reach = 0;
  for (const auto& [coefficient, size] : terms) {
    reach += static_cast<double>(coefficient) * static_cast<double>(size - 1);
  }
  return reach < static_cast<double>(most_counted);
}

double footprint(const Nest::Array& array, const std::vector<std::int64_t>& sizes) {
  double elements = 1;
  for (const Affine& axis : array.axes) {
    SizedTerms terms;
    for (const Affine::Term& t : axis.terms) {
      terms.emplace_back(t.coefficient, sizes[static_cast<std::size_t>(index(t.dim))]);
    }
    bool exact = true;
    elements *= places_along(std::move(terms), exact);
  }
  return elements;
}

double footprint(const Nest& nest, const std::vector<std::int64_t>& sizes) {
  double elements = 0;
  for (const Nest::Array& array : nest.arrays) elements += footprint(array, sizes);
  return elements;
}

bool has(const Nest::Array& array, DimId d) {
  return std::any_of(array.axes.begin(), array.axes.end(), [&](const Affine& axis) {
    return std::any_of(axis.terms.begin(), axis.terms.end(),
                       [&](const Affine::Term& t) { return t.dim == d; });
  });
}

bool is_box_shaped(const Nest::Array& array) {
  std::vector<DimId> seen;
  for (const Affine& axis : array.axes) {
    for (const Affine::Term& t : axis.terms) seen.push_back(t.dim);
  }
  std::sort(seen.begin(), seen.end());
  return std::adjacent_find(seen.begin(), seen.end()) == seen.end();
}

}  // namespace tcsim::bounds
