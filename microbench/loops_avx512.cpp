// AVX-512: compiled with -mavx512f, run only where the processor has it.
#include <immintrin.h>

#include "microbench/loops.hpp"

namespace tcsim {

namespace {
using Vec = __m512d;
inline Vec multiply_add(Vec x, Vec a, Vec b) { return _mm512_fmadd_pd(x, a, b); }
inline Vec broadcast(double s) { return _mm512_set1_pd(s); }
#define REGISTER "v"
#include "microbench/loops_body.hpp"
}  // namespace

const ProbeLoops avx512_loops{"AVX-512", 512, 32, stream, independent, 12, dependent};

}  // namespace tcsim
