// The timed loops compute what they say: a stream that skipped elements would measure nonsense.
#include "microbench/loops.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "microbench/chase.hpp"
#include "microbench/memory.hpp"

namespace tcsim {
namespace {

std::vector<const InstructionSetLoops*> all_here() {
  std::vector<const InstructionSetLoops*> loops;
  for (const auto* const* s = loops_here(); *s != nullptr; ++s) loops.push_back(*s);
  return loops;
}

// Calls test(loops, zero of the element type, name) for every instruction set and element type.
template <class Test>
void for_each_loops(Test test) {
  for (const InstructionSetLoops* set : all_here()) {
    test(set->f64, double{}, std::string(set->name) + " f64");
    test(set->f32, float{}, std::string(set->name) + " f32");
  }
}

constexpr long tested = 3 * loop_step, beyond = 4096;

template <class T>
T* ramp(const Block& block, T first) {
  T* const x = reinterpret_cast<T*>(block.data());
  for (long i = 0; i < beyond / static_cast<long>(sizeof(T)); ++i) x[i] = first + static_cast<T>(i);
  return x;
}

TEST(Loops, Load_fma_store_touches_every_element_once_a_pass_and_nothing_else) {
  for_each_loops([](const ElementLoops& loops, auto zero, const std::string& name) {
    using T = decltype(zero);
    const Block block{Bytes(beyond)};
    T* const x = ramp(block, T(0));
    const long n = tested / static_cast<long>(sizeof(T));
    loops.load_fma_store(x, tested, 2);
    // Two passes of x/2 + 1/2: x/4 + 3/4, exact in binary.
    for (long i = 0; i < n; ++i) ASSERT_EQ(x[i], static_cast<T>(i) / 4 + T(0.75)) << name << i;
    ASSERT_EQ(x[n], static_cast<T>(n)) << name;
  });
}

TEST(Loops, Load_changes_nothing) {
  for_each_loops([](const ElementLoops& loops, auto zero, const std::string& name) {
    using T = decltype(zero);
    const Block block{Bytes(beyond)};
    const T* const x = ramp(block, T(0));
    loops.load(x, tested, 2);
    for (long i = 0; i < beyond / static_cast<long>(sizeof(T)); ++i) {
      ASSERT_EQ(x[i], static_cast<T>(i)) << name;
    }
  });
}

TEST(Loops, Copy_copies_every_element_and_nothing_else) {
  for_each_loops([](const ElementLoops& loops, auto zero, const std::string& name) {
    using T = decltype(zero);
    const Block from{Bytes(beyond)}, to{Bytes(beyond)};
    const T* const x = ramp(from, T(0));
    const T* const y = ramp(to, T(-2000));
    loops.copy(to.data(), x, tested, 1);
    const long n = tested / static_cast<long>(sizeof(T));
    for (long i = 0; i < n; ++i) ASSERT_EQ(y[i], static_cast<T>(i)) << name;
    ASSERT_EQ(y[n], T(-2000) + static_cast<T>(n)) << name;
  });
}

TEST(Loops, Triad_adds_a_tiny_multiple_of_the_third_array_to_the_second) {
  for_each_loops([](const ElementLoops& loops, auto zero, const std::string& name) {
    using T = decltype(zero);
    const Block a{Bytes(beyond)}, b{Bytes(beyond)}, c{Bytes(beyond)};
    const T* const result = ramp(a, T(-2000));
    ramp(b, T(1));
    // A billion times as large, so that the sum is b + i.
    T* const x = ramp(c, T(0));
    const long n = tested / static_cast<long>(sizeof(T));
    for (long i = 0; i < n; ++i) x[i] *= T(1e9);
    loops.triad(a.data(), b.data(), c.data(), tested, 1);
    for (long i = 0; i < n; ++i) {
      ASSERT_NEAR(result[i], 1 + 2 * static_cast<double>(i), 1e-3) << name;
    }
    ASSERT_EQ(result[n], T(-2000) + static_cast<T>(n)) << name;
  });
}

TEST(Loops, Those_that_run_here_come_widest_first_and_end_with_the_baseline) {
  const auto loops = all_here();
  ASSERT_FALSE(loops.empty());
  EXPECT_EQ(loops.back(), &plain_loops);
  for (std::size_t i = 1; i < loops.size(); ++i) {
    EXPECT_GT(loops[i - 1]->vector_bits, loops[i]->vector_bits);
  }
  for (const InstructionSetLoops* set : loops) {
    EXPECT_EQ(set->f32.element, 4);
    EXPECT_EQ(set->f64.element, 8);
    EXPECT_LT(accumulators, set->vector_registers - 2);  // and the two constants
    EXPECT_EQ(loop_step % (set->vector_bits / 8 * 8), 0) << set->name;
  }
}

TEST(Chase, The_cycle_visits_every_line_once_before_it_comes_back) {
  const Bytes line(64);
  for (std::int64_t lines : {2, 3, 16, 64, 1000}) {
    const Block block(line * lines);
    void* const begin = make_cycle(block.data(), line * lines, line, 7);
    std::set<void*> seen;
    void* at = begin;
    for (std::int64_t i = 0; i < lines; ++i) {
      EXPECT_EQ((static_cast<std::byte*>(at) - block.data()) % line.value(), 0);
      seen.insert(at);
      at = *static_cast<void**>(at);
    }
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(lines));
    EXPECT_EQ(at, begin);
  }
}

TEST(Chase, It_follows_as_many_pointers_as_it_is_told) {
  const Bytes line(64);
  const Block block(line * 100);
  void* const begin = make_cycle(block.data(), line * 100, line, 7);
  void* at = begin;
  for (int i = 0; i < 48; ++i) at = *static_cast<void**>(at);
  EXPECT_EQ(chase(begin, 48), at);
  EXPECT_EQ(chase(begin, 400), begin);  // four times round
}

TEST(Memory, A_block_is_aligned_filled_and_says_how_much_lies_on_huge_pages) {
  const Block block(Bytes(3 << 20));
  EXPECT_EQ(block.size(), Bytes(4 << 20));  // whole pages of 2 MiB
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.data()) % (1u << 21), 0u);
  const double* const x = reinterpret_cast<const double*>(block.data());
  EXPECT_TRUE(std::all_of(x, x + (4 << 20) / 8, [](double v) { return v == 1; }));
  EXPECT_LE(block.on_huge_pages(), block.size());
  Block moved(Bytes(1));
  moved = Block(Bytes(1));
  EXPECT_EQ(*reinterpret_cast<double*>(moved.data()), 1);
}

}  // namespace
}  // namespace tcsim
