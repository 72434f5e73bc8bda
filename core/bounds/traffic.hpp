// Parts of lower bounds that both the expression and the number are made of.
#pragma once

#include <cstddef>
#include <vector>

#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

// Indices into the problem's arrays, each once, in their order.
std::vector<int> arrays_of(const Problem::Statement& statement);
bool share_arrays(const Problem::Statement& a, const Problem::Statement& b);

// How many of the array's elements are loaded at least once: all that any statement touches, none
// where they start at zero.
Expression first_loads(const Problem& problem, int array);
// At most so many elements of the statement's arrays start at zero.
Expression most_made(const Problem& problem, const Problem::Statement& statement);
// Elements that are written and that no other statement reads: they are stored at least once.
Expression stored(const Problem& problem);

// Dimensions that are indices alone, of the same accesses: together they are as one. Places in
// dims_of(), all of them, in their order.
std::vector<std::vector<std::size_t>> groups_of(const Problem::Statement& statement);

}  // namespace tcsim::bounds
