// Short tables of offsets and runs against tables with an entry for each place.
#include "core/plan/offsets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "tests/seed.hpp"

namespace tcsim {
namespace {

std::vector<std::int64_t> all_offsets(const std::vector<Digit>& digits) {
  std::vector<std::int64_t> table{0};
  for (const Digit& d : digits) {
    const auto inner = table;
    for (std::int64_t i = 1; i < d.extent; ++i) {
      for (const std::int64_t o : inner) table.push_back(o + i * d.stride);
    }
  }
  return table;
}

// How many places from each one on follow `goes_on(i)`: whether place i + 1 belongs to i's run.
template <class GoesOn>
std::vector<std::int64_t> runs_of(std::size_t size, GoesOn&& goes_on) {
  std::vector<std::int64_t> runs(size, 1);
  for (std::size_t i = size; i-- > 0;) {
    if (i + 1 < size && goes_on(i)) runs[i] = runs[i + 1] + 1;
  }
  return runs;
}

void expect_equal(const std::vector<Digit>& digits) {
  const Offsets offsets(digits);
  const auto table = all_offsets(digits);
  const Runs neighbours = Runs::of_neighbours(offsets), even = Runs::of_even(offsets);
  ASSERT_EQ(offsets.size(), std::ssize(table));
  const auto step = [&](std::size_t i) { return table[i + 1] - table[i]; };
  const auto next_to = runs_of(table.size(), [&](std::size_t i) { return step(i) == 1; });
  // Of steps that are equal; a run of them has a place more.
  const auto equal =
      runs_of(table.size() - 1, [&](std::size_t i) { return step(i) == step(i + 1); });
  std::int64_t longest = 1, longest_even = 1;
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto place = static_cast<std::int64_t>(i);
    ASSERT_EQ(offsets[place], table[i]) << "place " << i;
    ASSERT_EQ(neighbours[place], next_to[i]) << "place " << i;
    ASSERT_EQ(even[place], i < equal.size() ? equal[i] + 1 : 1) << "place " << i;
    longest = std::max(longest, neighbours[place]);
    longest_even = std::max(longest_even, even[place]);
  }
  EXPECT_EQ(neighbours.longest(), longest);
  EXPECT_EQ(even.longest(), longest_even);
}

// A tensor's dimensions in any order, some of them in another group; strides of an image and its
// filter, which meet; and strides that mean nothing.
TEST(Offsets, Are_those_of_long_tables) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  const auto draw = [&](std::int64_t from, std::int64_t to) {
    return std::uniform_int_distribution<std::int64_t>(from, to)(engine);
  };
  for (int round = 0; round < 1000; ++round) {
    const std::int64_t count = draw(0, 5);
    std::vector<Digit> digits;
    std::int64_t stride = 1;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t extent = draw(1, count > 3 ? 7 : 30);
      if (draw(0, 3) > 0) {
        digits.push_back({extent, draw(0, 9) > 0 ? stride : draw(0, 20)});
      }
      stride *= extent;
    }
    std::ranges::shuffle(digits, engine);
    expect_equal(digits);
    if (HasFatalFailure()) {
      for (const Digit& d : digits) ADD_FAILURE() << d.extent << " of " << d.stride;
      return;
    }
  }
}

// 11 is followed by 12 although neither of the strides 4 and 2 goes on into 12.
TEST(Offsets, A_run_may_go_on_where_a_number_ends) {
  for (const std::int64_t last : {4, 400}) {
    const std::vector<Digit> digits{{2, 1}, {3, 4}, {2, 2}, {last, 12}};
    expect_equal(digits);
    EXPECT_EQ(Runs::of_neighbours(Offsets(digits))[11], 3);
  }
}

TEST(Offsets, Tables_are_short) {
  const Offsets few(std::vector<Digit>{{8, 1}, {8, 100}});
  EXPECT_EQ(few.entries(), 64);
  EXPECT_EQ(few.table()[9], 101);
  const Offsets whole(std::vector<Digit>{{1000, 1}, {1000, 1000}});
  EXPECT_EQ(whole.entries(), 0);
  EXPECT_EQ(whole.table(), nullptr);
  EXPECT_EQ(Runs::of_neighbours(whole).entries(), 0);
  EXPECT_EQ(Runs::of_neighbours(whole)[999'000], 1000);
  const Offsets transposed(std::vector<Digit>{{40, 64000}, {40, 1600}, {40, 40}, {40, 1}});
  EXPECT_EQ(transposed.size(), 2'560'000);
  EXPECT_EQ(transposed.entries(), 2 * 1600);
  EXPECT_EQ(Offsets(std::vector<Digit>{{2, 3'000'000}, {1'000'000, 3}}).entries(), 0);
  EXPECT_EQ(transposed[1], 64000);
  EXPECT_EQ(transposed[2'559'999], 2'559'999);
}

TEST(Offsets, A_missing_group_has_one_place) {
  const Offsets none;
  EXPECT_EQ(none.size(), 1);
  EXPECT_EQ(none[0], 0);
  EXPECT_EQ(Runs::of_neighbours(none)[0], 1);
}

TEST(Offsets, All_of_a_copy_are_one_run) {
  const Runs runs = Runs::of_all(7);
  EXPECT_EQ(runs[0], 7);
  EXPECT_EQ(runs[6], 1);
  EXPECT_EQ(runs.longest(), 7);
}

TEST(Divider, Takes_any_numbers_of_32_bits_apart) {
  const std::uint64_t seed = test::new_seed();
  SCOPED_TRACE(seed);
  std::mt19937_64 engine(seed);
  const auto number = [&] {  // of any length
    return static_cast<std::int64_t>((engine() >> 32) >> (engine() % 32));
  };
  for (int round = 0; round < 200'000; ++round) {
    const std::int64_t divisor = std::max<std::int64_t>(2, number()), place = number();
    const Divider d(divisor, place + 1);
    ASSERT_EQ(d.quotient(place), place / divisor) << place << " / " << divisor;
    ASSERT_EQ(d.remainder(place), place % divisor) << place << " / " << divisor;
  }
}

}  // namespace
}  // namespace tcsim
