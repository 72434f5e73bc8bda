// AVX2 with FMA: compiled with -mavx2 -mfma, run only where the processor has both.
#include <immintrin.h>

#include "microbench/loops.hpp"

namespace tcsim {

namespace {
using Vec = __m256d;
inline Vec multiply_add(Vec x, Vec a, Vec b) { return _mm256_fmadd_pd(x, a, b); }
inline Vec broadcast(double s) { return _mm256_set1_pd(s); }
#define REGISTER "x"
#include "microbench/loops_body.hpp"
}  // namespace

const ProbeLoops avx2_loops{"AVX2", 256, 16, stream, independent, 12, dependent};

}  // namespace tcsim
