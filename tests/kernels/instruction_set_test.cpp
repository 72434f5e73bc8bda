// TCSIM_ISA: as if the processor had no wider vectors.
#include "kernels/instruction_set.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <tuple>

#include "core/error.hpp"
#include "kernels/contract.hpp"
#include "kernels/shapes.hpp"
#include "tests/environment.hpp"

namespace tcsim {
namespace {

class Instruction_limit : public ::testing::Test {
 protected:
  void limit(const char* to) { limit_.emplace("TCSIM_ISA", to); }

 private:
  std::optional<test::Variable> limit_;
};

TEST_F(Instruction_limit, Wider_vectors_are_not_there) {
  for (const auto& [to, set, bits] : {std::tuple{"plain", InstructionSet::plain, 128},
                                      {"avx2", InstructionSet::avx2, 256},
                                      {"avx512", InstructionSet::avx512, 512},
                                      {"", InstructionSet::avx512, 512}}) {
    limit(to);
    EXPECT_LE(best_instruction_set(), set) << to;
    EXPECT_LE(assumed_machine().core.vector_bits.value, bits) << to;
    // A kernel of wider vectors is covered by others.
    EXPECT_LE(instruction_set_for({Elements(24), Elements(8)}, ElementType::f64), set) << to;
  }
  limit("avx2");
  EXPECT_FALSE(can_run(InstructionSet::avx512));
}

TEST_F(Instruction_limit, What_is_no_instruction_set_is_told) {
  limit("sse");
  try {
    best_instruction_set();
    FAIL();
  } catch (const UsageError& e) {
    EXPECT_STREQ(e.what(),
                 "TCSIM_ISA: 'sse' is no instruction set of kernels; use avx512, avx2 or plain");
  }
}

}  // namespace
}  // namespace tcsim
