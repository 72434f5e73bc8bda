// What somebody who typed a wrong word may have meant.
#pragma once

#include <string>
#include <vector>

namespace tcsim {

// Letters to insert, delete, replace or exchange with their neighbour until `a` is `b` (optimal
// string alignment).
std::size_t letters_apart(const std::string& a, const std::string& b);

// The word of `known` that `typed` is closest to, or that begins with it; "" if none is close: more
// than a third of its letters wrong.
std::string nearest(const std::string& typed, const std::vector<std::string>& known);

// "did you mean 'table'? Use one of table, json, csv", or only the second half: a mend.
std::string one_of(const std::string& typed, const std::vector<std::string>& known);

}  // namespace tcsim
