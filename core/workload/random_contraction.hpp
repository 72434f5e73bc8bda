// Contractions drawn at random that are in no suite: to ask how near the model is on work that
// nobody tuned it for.
#pragma once

#include <cstdint>
#include <vector>

#include "core/workload/contraction.hpp"

namespace tcsim {

// Of 3 to 8 indices of any classes, in any order within each tensor, with extents from 5 to 200,
// about as many prime ones as odd and even ones that are not; of either layout and either type, and
// of 1 to 100 million multiply-adds, so that simulating it is quick. Equal seeds give equal
// contractions everywhere.
Contraction random_contraction(std::uint64_t seed);

// So many, all by one seed; the first ones are those of a shorter draw.
std::vector<Contraction> random_contractions(std::uint64_t seed, std::uint64_t count);

}  // namespace tcsim
