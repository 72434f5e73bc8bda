// AVX2 with FMA: compiled with -mavx2 -mfma, run only where the processor has both.
#include <immintrin.h>

#include "microbench/loops.hpp"

namespace tcsim {

namespace {
struct F32 {
  using Vec = __m256;
  using Element = float;
};
struct F64 {
  using Vec = __m256d;
  using Element = double;
};
inline __m256 multiply_add(__m256 x, __m256 a, __m256 b) { return _mm256_fmadd_ps(x, a, b); }
inline __m256d multiply_add(__m256d x, __m256d a, __m256d b) { return _mm256_fmadd_pd(x, a, b); }
#define REGISTER "x"
#include "microbench/loops_body.hpp"
}  // namespace

const InstructionSetLoops avx2_loops{"AVX2", 256, 16, Loops<F32>::table, Loops<F64>::table};

}  // namespace tcsim
