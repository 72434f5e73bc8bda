#include "core/units/enum_array.hpp"

#include <gtest/gtest.h>

namespace tcsim {
namespace {

enum class Side : int { left, right };

TEST(Enum_array, Has_an_entry_for_each_value) {
  EnumArray<Side, int, 2> a{3, 4};
  EXPECT_EQ(a[Side::left], 3);
  a[Side::right] = 5;
  int sum = 0;
  for (int x : a) sum += x;
  EXPECT_EQ(sum, 8);
  EXPECT_EQ(a.size(), 2);
  EXPECT_EQ(a, (EnumArray<Side, int, 2>{3, 5}));
}

TEST(Enum_array, Is_known_to_the_compiler) {
  constexpr EnumArray<Side, int, 2> a{1, 2};
  static_assert(a[Side::right] == 2);
  static_assert(EnumArray<Side, int, 2>{}[Side::left] == 0);
}

}  // namespace
}  // namespace tcsim
