#include "kernels/shapes.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace tcsim {
namespace {

TEST(Kernel_shapes, Rows_are_whole_vectors_and_accumulators_fit_the_registers) {
  // 16 registers up to AVX2, 32 with AVX-512; two must be left for the operands.
  for (const KernelShape& s : kernel_shapes()) {
    const bool wide = s.needs == InstructionSet::avx512;
    const std::int64_t bytes = wide ? 64 : s.needs == InstructionSet::avx2 ? 32 : 16;
    const std::int64_t row_bytes = s.mr.value() * size_of(s.type).value();
    EXPECT_EQ(row_bytes % bytes, 0);
    EXPECT_LE(row_bytes / bytes * s.nr.value(), (wide ? 32 : 16) - 2);
  }
}

TEST(Kernel_shapes, Preferred_shape_follows_the_vector_width) {
  const auto shape = [](int bits, ElementType type) {
    const KernelShape s = preferred_shape(bits, type);
    return std::pair{s.mr.value(), s.nr.value()};
  };
  using Pair = std::pair<std::int64_t, std::int64_t>;
  EXPECT_EQ(shape(512, ElementType::f64), Pair(24, 8));
  EXPECT_EQ(shape(512, ElementType::f32), Pair(48, 8));
  EXPECT_EQ(shape(256, ElementType::f64), Pair(8, 6));
  EXPECT_EQ(shape(256, ElementType::f32), Pair(16, 6));
  EXPECT_EQ(shape(128, ElementType::f64), Pair(4, 6));
  EXPECT_EQ(shape(128, ElementType::f32), Pair(8, 6));
  EXPECT_THROW(preferred_shape(384, ElementType::f64), std::invalid_argument);
}

TEST(Kernel_shapes, Best_instruction_set_can_run_and_includes_the_lesser_ones) {
  EXPECT_TRUE(can_run(InstructionSet::plain));
  EXPECT_TRUE(can_run(best_instruction_set()));
  if (best_instruction_set() == InstructionSet::avx512) {
    EXPECT_TRUE(can_run(InstructionSet::avx2));
  }
}

TEST(Kernel_shapes, Only_known_shapes_have_vector_code) {
  EXPECT_NE(runnable_shape(Elements(4), Elements(6), ElementType::f64), nullptr);
  EXPECT_EQ(runnable_shape(Elements(4), Elements(6), ElementType::f32), nullptr);
  EXPECT_EQ(runnable_shape(Elements(5), Elements(7), ElementType::f64), nullptr);
}

}  // namespace
}  // namespace tcsim
