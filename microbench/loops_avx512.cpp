// AVX-512: compiled with -mavx512f, run only where the processor has it.
#include <immintrin.h>

#include "microbench/loops.hpp"

namespace tcsim {

namespace {
struct F32 {
  using Vec = __m512;
  using Element = float;
};
struct F64 {
  using Vec = __m512d;
  using Element = double;
};
inline __m512 multiply_add(__m512 x, __m512 a, __m512 b) { return _mm512_fmadd_ps(x, a, b); }
inline __m512d multiply_add(__m512d x, __m512d a, __m512d b) { return _mm512_fmadd_pd(x, a, b); }
#define REGISTER "v"
#include "microbench/loops_body.hpp"
}  // namespace

const InstructionSetLoops avx512_loops{"AVX-512", 512, 32, Loops<F32>::table, Loops<F64>::table};

}  // namespace tcsim
