// Whatever the baseline of the target offers: on x86-64 a multiplication and an addition on two
// doubles (SSE2), on AArch64 a fused one.
#include "microbench/loops.hpp"

namespace tcsim {

namespace {
using Vec = double __attribute__((vector_size(16), may_alias));
inline Vec multiply_add(Vec x, Vec a, Vec b) { return x * a + b; }
inline Vec broadcast(double s) { return Vec{s, s}; }
#if defined(__x86_64__)
#define REGISTER "x"
constexpr int vector_registers = 16;
#else
#define REGISTER "w"
constexpr int vector_registers = 32;
#endif
#include "microbench/loops_body.hpp"
}  // namespace

const ProbeLoops plain_loops{"plain", 128, vector_registers, stream, independent, 12, dependent};

}  // namespace tcsim
