// Which kernels the vector registers hold.
#include "core/schedule/registers.hpp"

#include <gtest/gtest.h>

#include "core/optimize/tiling.hpp"
#include "tests/core/build.hpp"
#include "tests/core/machine_files.hpp"

namespace tcsim {
namespace {

Core core_of(int bits, int registers) {
  Machine m = test::machine({{1, 64}});
  m.core.vector_bits.value = bits;
  m.core.vector_registers.value = registers;
  return m.core;
}

Kernel sized(std::int64_t mr, std::int64_t nr) { return {Elements(mr), Elements(nr)}; }

// Results in vectors, the shorter of a column and a row, and one for the other. In vectors of four
// doubles 8x6 is 2 x 6: 12 + 2 + 1. The kernels are those of BLIS and OpenBLAS for these cores.
TEST(Registers, Results_the_shorter_side_and_one_for_the_other) {
  const Core avx2 = core_of(256, 16), avx512 = core_of(512, 32);
  EXPECT_EQ(registers_of(sized(8, 6), avx2, ElementType::f64), 15);
  EXPECT_EQ(registers_of(sized(12, 4), avx2, ElementType::f64), 16);
  EXPECT_EQ(registers_of(sized(16, 3), avx2, ElementType::f64), 16);
  EXPECT_EQ(registers_of(sized(5, 6), avx2, ElementType::f64), 15);  // a vector not full
  EXPECT_EQ(registers_of(sized(16, 6), avx2, ElementType::f32), 15);
  EXPECT_EQ(registers_of(sized(48, 6), avx2, ElementType::f32), 43);
  EXPECT_EQ(registers_of(sized(24, 8), avx512, ElementType::f64), 28);
  EXPECT_TRUE(fits_registers(sized(12, 4), avx2, ElementType::f64));
  EXPECT_FALSE(fits_registers(sized(12, 5), avx2, ElementType::f64));
  EXPECT_FALSE(fits_registers(sized(24, 8), avx2, ElementType::f64));
  EXPECT_TRUE(fits_registers(sized(24, 8), avx512, ElementType::f64));
  // Saves no loads, so there is nothing to hold.
  EXPECT_TRUE(fits_registers(sized(4, 1), core_of(256, 1), ElementType::f64));
}

TEST(Registers, Hold_every_kernel_that_is_chosen) {
  for (int bits : {64, 128, 256, 512}) {
    for (int registers = 1; registers <= 40; ++registers) {
      const Core core = core_of(bits, registers);
      for (ElementType type : {ElementType::f32, ElementType::f64}) {
        for (const Kernel& k : kernel_choices(core, type)) {
          EXPECT_TRUE(fits_registers(k, core, type))
              << k.mr.value() << "x" << k.nr.value() << " of " << registers;
        }
      }
    }
  }
}

TEST(Registers, What_does_not_fit_is_named_with_a_kernel_that_does) {
  const Machine m = test::machine({{1, 64}});
  const auto said = [&](const char* text, ElementType type) {
    return machine_files::error_of<UnsupportedError>(
        [&] { require_registers(test::schedule(text), type, m, "--schedule"); });
  };
  EXPECT_EQ(said("groups m=j n=i k=k for m by 48 { for n by 6 { kernel 48x6 } }", ElementType::f32),
            "--schedule: 'kernel 48x6' needs 43 vector registers of 256 bits for f32, and test has "
            "16; use kernel 16x6, with for m by 16 and for n by 6 around it");
  EXPECT_EQ(said("groups m=j n=i k=k kernel 2x40", ElementType::f64),
            "--schedule: 'kernel 2x40' needs 42 vector registers of 256 bits for f64, and test has "
            "16; use kernel 2x14, with for m by 2 and for n by 14 around it");
  EXPECT_EQ(said("groups m=j n=i k=k for n by 6 { for m by 8 { kernel 8x6 } }", ElementType::f64),
            "no error");
}

}  // namespace
}  // namespace tcsim
