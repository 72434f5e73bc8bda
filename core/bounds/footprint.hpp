// How many elements of an array a box of iterations uses: ioopt's footprint, section 4.1.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/bounds/nest.hpp"

namespace tcsim::bounds {

// An index with the sizes of the box along its dimensions: coefficient, size.
using SizedTerms = std::vector<std::pair<std::int64_t, std::int64_t>>;

// How many different values the sum takes. `exact` becomes false where it is not known; the result
// is then not below it. In floating point, exact up to 2^53.
double places_along(SizedTerms terms, bool& exact);

// Whether places_along() is exact for any sizes up to these.
bool is_counted(const SizedTerms& terms);

// Elements of the array in a box of these sizes (by dimension); not below what is used, and exact
// where the array is box-shaped and places_along() are.
double footprint(const Nest::Array& array, const std::vector<std::int64_t>& sizes);
// Of all arrays.
double footprint(const Nest& nest, const std::vector<std::int64_t>& sizes);

// Whether no dimension is in two axes: then a box of iterations uses a product of axes.
bool is_box_shaped(const Nest::Array& array);

// Whether the dimension is in any axis.
bool has(const Nest::Array& array, DimId d);

}  // namespace tcsim::bounds
