// The front that grows against the obvious one.
#include "core/explore/pareto.hpp"

#include <gtest/gtest.h>

#include <random>

namespace tcsim {
namespace {

using Values = ParetoFront::Values;

bool as_good(const Values& a, const Values& b) {
  return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2];
}

std::vector<std::int64_t> by_all_pairs(const std::vector<Values>& all) {
  std::vector<std::int64_t> front;
  for (std::size_t i = 0; i < all.size(); ++i) {
    bool covered = false;
    for (std::size_t j = 0; j < all.size(); ++j) {
      if (j != i && as_good(all[j], all[i]) && (all[j] != all[i] || j < i)) covered = true;
    }
    if (!covered) front.push_back(static_cast<std::int64_t>(i));
  }
  return front;
}

TEST(Pareto, Is_what_all_pairs_say) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    std::vector<Values> all(1 + random() % 60);
    const std::uint_fast32_t range = 2 + random() % 12;  // few values: many are equal
    for (Values& v : all) {
      for (double& x : v) x = static_cast<double>(random() % range);
      if (round % 3 == 0) v[2] = 0;
    }
    ParetoFront front;
    for (std::size_t i = 0; i < all.size(); ++i) front.add(static_cast<std::int64_t>(i), all[i]);
    std::vector<std::int64_t> found;
    for (const auto& e : front.entries()) found.push_back(e.design);
    EXPECT_EQ(found, by_all_pairs(all)) << "seed 5, round " << round;
  }
}

}  // namespace
}  // namespace tcsim
