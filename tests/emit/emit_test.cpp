// The emitted text. What it computes is in compiled_test.cpp.
#include "emit/emit.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "core/error.hpp"
#include "kernels/shapes.hpp"
#include "tests/kernels/build.hpp"

namespace tcsim {
namespace {

Plan plan_of(const Contraction& c, const std::string& schedule) {
  const Schedule s = parse_schedule(schedule, c, "test");
  check(s, c, {"L1", "L2", "L3"}, "test");
  return Plan(c, s);
}

// C[a,b,c] = sum over k of A[a,k,b] B[k,c].
Plan product() {
  return plan_of(contraction("abc", "akb", "kc", {{'a', 72}, {'b', 10}, {'c', 20}, {'k', 100}}),
                 "groups m=ab n=c k=k for k by 50 { pack B in L3 { for m by 240 { pack A in L2 {"
                 " for n by 8 { for m by 24 { kernel 24x8 } } } } } }");
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// 50 divides k and 240 m; 8 does not divide n.
TEST(Emit, Loops_are_those_of_the_schedule) {
  EXPECT_TRUE(contains(emit_c(product()), R"(
  for (size_t k0 = 0; k0 < 100; k0 += 50) {
    /* 20 x 50 of B, 9.375 KiB, to stay in L3 */
    pack_B(B, 0, 20, k0, k0 + 50, packed_B);
    for (size_t m0 = 0; m0 < 720; m0 += 240) {
      /* 240 x 50 of A, 93.75 KiB, to stay in L2 */
      pack_A(A, m0, m0 + 240, k0, k0 + 50, packed_A);
      for (size_t n0 = 0; n0 < 20; n0 += 8) {
        const size_t n0_end = least(n0 + 8, 20);
        const double *const B_n0 = packed_B + n0 * 50;
        size_t columns[8]; /* of C */
        for (size_t j = 0; j < 8; ++j) columns[j] = C_of_n(n0 + j);
        for (size_t m1 = m0; m1 < m0 + 240; m1 += 24) {
          const double *const A_m1 = packed_A + (m1 - m0) * 50;
          block(multiply, 50, A_m1, B_n0, C, m1, 24, columns, n0_end - n0, k0 == 0, tile);
        }
      }
    }
  }
  return 0;
}
)")) << emit_c(product());
}

// In C a and b are one run of 720; in A k (stride 72) lies between them.
TEST(Emit, Offsets_are_sums_over_the_groups_dimensions) {
  const std::string text = emit_c(product());
  for (const char* line :
       {"size_t A_of_m(size_t m) { return m % 72 + m / 72 * 7200; }",
        "size_t A_of_k(size_t k) { return k * 72; }", "size_t B_of_n(size_t n) { return n * 100; }",
        "size_t B_of_k(size_t k) { return k; }", "size_t C_of_m(size_t m) { return m; }",
        "size_t C_of_n(size_t n) { return n * 720; }"}) {
    EXPECT_TRUE(contains(text, line)) << line;
  }
}

TEST(Emit, The_microkernel_is_in_the_instructions_that_the_shape_is_for) {
  const std::string text = emit_c(product());
  EXPECT_TRUE(contains(text, "__attribute__((target(\"avx512f\")))"));
  EXPECT_TRUE(contains(text, "c7_2 = _mm512_fmadd_pd(a2, b7, c7_2);"));
  EXPECT_FALSE(contains(text, "c8_0"));
  EXPECT_FALSE(contains(text, "a3"));
}

TEST(Emit, Takes_the_vectors_that_the_executor_takes) {
  for (const KernelShape& s : kernel_shapes()) {
    const VectorSet wanted = s.needs == InstructionSet::avx512 ? VectorSet::avx512
                             : s.needs == InstructionSet::avx2 ? VectorSet::avx2
                                                               : VectorSet::sse2;
    EXPECT_EQ(vectors_for(s.mr, s.nr, s.type), wanted)
        << s.mr.value() << "x" << s.nr.value() << " " << to_text(s.type);
  }
  const auto of = [](std::int64_t mr, std::int64_t nr) {
    return vectors_for(Elements(mr), Elements(nr), ElementType::f64);
  };
  EXPECT_EQ(of(5, 7), VectorSet::none) << "5 is no whole vector";
  EXPECT_EQ(of(24, 10), VectorSet::none) << "30 sums, and 4 registers for the operands";
  EXPECT_EQ(of(24, 9), VectorSet::avx512);
  EXPECT_EQ(of(2, 1 << 13), VectorSet::none);
}

TEST(Emit, Every_name_takes_the_prefix) {
  const std::string text = emit_c(product(), {"mine_", 1, {}});
  EXPECT_TRUE(contains(text, "int mine_contract(const double *A, const double *B, double *C);"));
  for (const char* bare : {" contract(", "*contract(", " least(", " pack_A(", " A_of_m(", "@"}) {
    EXPECT_FALSE(contains(text, bare)) << bare;
  }
  EXPECT_THROW(emit_c(product(), {"1st", 1, {}}), UsageError);
  EXPECT_THROW(emit_c(product(), {"a-b", 1, {}}), UsageError);
}

TEST(Emit, A_remark_cannot_end_the_comment) {
  const std::string text = emit_c(product(), {"", 1, {"a */ b /* c @ 2.6GHz ?\?/\n\\"}});
  EXPECT_TRUE(contains(text, " * a * / b / * c @ 2.6GHz ? ?/\\n\n")) << text.substr(0, 1000);
  EXPECT_EQ(text.find("*/"), text.find("\n */\n") + 2);
}

TEST(Emit, A_kernel_beyond_any_stack_is_refused) {
  const Contraction c = contraction("mn", "mk", "kn", {{'m', 500}, {'n', 500}, {'k', 2}});
  EXPECT_THROW(emit_c(plan_of(c, "groups m=m n=n k=k kernel 500x500")), UnsupportedError);
}

}  // namespace
}  // namespace tcsim
