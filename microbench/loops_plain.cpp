// Whatever the baseline of the target offers: on x86-64 SSE2, a multiplication and an addition in
// place of a multiply-add; on AArch64 a fused one.
#include "microbench/loops.hpp"

namespace tcsim {

namespace {
struct F32 {
  using Vec = float __attribute__((vector_size(16), may_alias));
  using Element = float;
};
struct F64 {
  using Vec = double __attribute__((vector_size(16), may_alias));
  using Element = double;
};
inline F32::Vec multiply_add(F32::Vec x, F32::Vec a, F32::Vec b) { return x * a + b; }
inline F64::Vec multiply_add(F64::Vec x, F64::Vec a, F64::Vec b) { return x * a + b; }
#if defined(__x86_64__)
#define REGISTER "x"
constexpr const char* name = "SSE";
constexpr int vector_registers = 16;
#else
#define REGISTER "w"
constexpr const char* name = "plain";
constexpr int vector_registers = 32;
#endif
#include "microbench/loops_body.hpp"
}  // namespace

const InstructionSetLoops plain_loops{name, 128, vector_registers, Loops<F32>::table,
                                      Loops<F64>::table};

}  // namespace tcsim
