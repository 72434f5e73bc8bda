// Body of the loops, included by each loops_*.cpp after it has defined
//   Vec                  a vector of doubles
//   multiply_add(x,a,b)  x * a + b
//   broadcast(s)         s in every lane
//   REGISTER             the inline assembly constraint of a vector register
// Everything is static: each instruction set keeps its own copy. No #pragma once: one inclusion
// per file, by design.

// The compiler may neither compute `v` beforehand nor find it equal to another; costs nothing.
#define OPAQUE(v) __asm__ volatile("" : "+" REGISTER(v))

#define EACH_8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define EACH_12(DO) EACH_8(DO) DO(8) DO(9) DO(10) DO(11)
#define EACH_16(DO) EACH_12(DO) DO(12) DO(13) DO(14) DO(15)

static void stream(double* x, long n, long passes) {
  constexpr long lanes = sizeof(Vec) / sizeof(double);
  const Vec a = broadcast(0.5), b = broadcast(0.5);
  for (long pass = 0; pass < passes; ++pass) {
    // Eight vectors a step, so that the loop's own instructions are few.
    for (long i = 0; i < n; i += 8 * lanes) {
      Vec* const v = reinterpret_cast<Vec*>(x + i);
#define STEP(i) v[i] = multiply_add(v[i], a, b);
      EACH_8(STEP)
#undef STEP
    }
    __asm__ volatile("" ::: "memory");  // two passes are not one
  }
}

// Twelve accumulators hide a latency of up to six cycles at two a cycle, and fit 16 registers.
static void independent(long rounds) {
  Vec a = broadcast(0.5), b = broadcast(0.5);
  OPAQUE(a);
  OPAQUE(b);
#define BEGIN(i)           \
  Vec v##i = broadcast(1); \
  OPAQUE(v##i);
  EACH_12(BEGIN)
#undef BEGIN
  for (long round = 0; round < rounds; ++round) {
#define STEP(i)                    \
  v##i = multiply_add(v##i, a, b); \
  OPAQUE(v##i);
    EACH_12(STEP)
#undef STEP
  }
}

static void dependent(long rounds) {
  Vec a = broadcast(0.5), b = broadcast(0.5), v = broadcast(1);
  OPAQUE(a);
  OPAQUE(b);
  for (long round = 0; round < rounds; ++round) {
#define STEP(i)              \
  v = multiply_add(v, a, b); \
  OPAQUE(v);
    EACH_16(STEP)
#undef STEP
  }
}
