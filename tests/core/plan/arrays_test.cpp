#include "core/plan/arrays.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "tests/arrays.hpp"

namespace tcsim {
namespace {

using test::move_of;

std::vector<std::string> names_of(const Arrays& arrays) {
  std::vector<std::string> names;
  for (ArrayId a : arrays.ids()) names.push_back(to_text(arrays[a]));
  return names;
}

using Names = std::vector<std::string>;

TEST(Arrays, A_path_without_moves_has_the_tensors) {
  EXPECT_EQ(names_of(Arrays()), (Names{"A", "B", "C"}));
  EXPECT_EQ(names_of(Arrays(std::vector<Step>(3))), (Names{"A", "B", "C"}));
}

TEST(Arrays, Buffers_follow_the_tensors_in_their_order_and_then_from_the_outside_in) {
  Step loop;
  const std::vector<Step> steps{
      loop, move_of(TensorId::C, Move::Kind::store), move_of(TensorId::B),
      loop, move_of(TensorId::A, Move::Kind::load),  move_of(TensorId::A)};
  const Arrays arrays(steps);
  EXPECT_EQ(names_of(arrays),
            (Names{"A", "B", "C", "loaded A", "packed A", "packed B", "stored C"}));
  const int depths[] = {-1, -1, -1, 4, 5, 2, 1};
  for (ArrayId a : arrays.ids()) {
    SCOPED_TRACE(index(a));
    EXPECT_EQ(arrays.depth_of(a), depths[index(a)]);
    EXPECT_EQ(arrays.is_buffer(a), index(a) >= 3);
    if (arrays.is_buffer(a)) {
      EXPECT_EQ(arrays.made_at(arrays.depth_of(a)), a);
    } else {
      EXPECT_EQ(array_of(arrays.tensor_of(a)), a);
    }
  }
}

TEST(Arrays, As_many_moves_as_check_lets_through_fit) {
  const Arrays arrays(std::vector<Step>(13, move_of(TensorId::A, Move::Kind::load)));
  EXPECT_EQ(arrays.size(), static_cast<int>(max_arrays));
}

// Twin: a vector.
TEST(By_array, Copies_have_the_rows_that_exist) {
  for (int rows = 0; rows <= static_cast<int>(max_arrays); ++rows) {
    ByArray<std::int64_t> table(rows);
    std::vector<std::int64_t> twin;
    for (ArrayId a : table.ids()) {
      table[a] = 100 + index(a);
      twin.push_back(100 + index(a));
    }
    const ByArray<std::int64_t> copy = table;
    ByArray<std::int64_t> assigned(16, -1);
    assigned = table;
    for (const auto& t : {copy, assigned}) {
      EXPECT_EQ(t, table);
      EXPECT_EQ(std::vector<std::int64_t>(t.begin(), t.end()), twin);
    }
    if (rows == 0) continue;
    ++assigned[ArrayId{rows - 1}];
    EXPECT_NE(assigned, table);
    EXPECT_NE(ByArray<std::int64_t>(rows - 1), ByArray<std::int64_t>(rows));
  }
}

TEST(Arrays, What_is_printed_of_an_array_is_the_sum_of_its_rows) {
  const Arrays twice(std::vector{move_of(TensorId::A), move_of(TensorId::A)});
  ByArray<int> values;
  for (int i : {1, 2, 4, 8, 16}) values.push_back(i);
  std::vector<int> printed;
  for (const Array& a : printed_arrays) printed.push_back(sum_of(twice, values, a));
  EXPECT_EQ(printed, (std::vector{1, 2, 4, 24, 0}));  // nothing packs B
}

}  // namespace
}  // namespace tcsim
