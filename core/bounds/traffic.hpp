// Parts of lower bounds that both the expression and the number are made of.
#pragma once

#include <vector>

#include "core/bounds/problem.hpp"

namespace tcsim::bounds {

// Indices into the problem's arrays, each once, in their order.
std::vector<int> arrays_of(const Problem::Statement& statement);

// How many of the array's elements are loaded at least once: all that any statement touches, none
// where they start at zero.
Expression first_loads(const Problem& problem, int array);
// At most so many elements of the array start at zero.
Expression most_made(const Problem& problem, int array);
// Elements that are written and that no other statement reads: they are stored at least once.
Expression stored(const Problem& problem);

}  // namespace tcsim::bounds
