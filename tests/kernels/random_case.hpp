// Random contractions and random legal schedules for them, and the slow obvious evaluation.
#pragma once

#include <random>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

using Random = std::mt19937_64;

std::int64_t between(Random& random, std::int64_t low, std::int64_t high);

// 2 to 8 indices of any class, extents from 1 on, at most about `work` multiply-adds.
Contraction random_contraction(Random& random, ElementType type, std::int64_t work);
// One of those without sums.
Contraction random_product(Random& random, ElementType type, std::int64_t work);

// Any number of loops in any order, packs anywhere or nowhere, m and n exchanged or not.
Schedule random_schedule(Random& random, const Contraction& c, std::int64_t mr, std::int64_t nr);

// C by the definition: every combination of all indices, offsets from the written order.
std::vector<long double> evaluate(const Contraction& c, const std::vector<long double>& a,
                                  const std::vector<long double>& b);

}  // namespace tcsim
