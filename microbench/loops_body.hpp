// Body of the loops, included by each loops_*.cpp, in an unnamed namespace, after it has defined
//   F32, F64             with the types Vec, a vector, and Element, float or double
//   multiply_add(x,a,b)  x * a + b, of both vectors
//   REGISTER             the inline assembly constraint of a vector register
// Each instruction set keeps its own copy. No #pragma once: one inclusion per file, by design.

// The compiler may neither compute `v` beforehand nor find it equal to another; costs nothing.
#define OPAQUE(v) __asm__ volatile("" : "+" REGISTER(v))
// What was stored before is stored, and is not known any more: two passes are not one.
#define END_OF_PASS() __asm__ volatile("" ::: "memory")

#define EACH_8(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7)
#define EACH_12(DO) EACH_8(DO) DO(8) DO(9) DO(10) DO(11)
#define EACH_16(DO) EACH_12(DO) DO(12) DO(13) DO(14) DO(15)

template <class Type>
struct Loops {
  using Vec = typename Type::Vec;
  using Element = typename Type::Element;

  static Vec broadcast(Element s) { return s - Vec{}; }

  // Eight vectors a step, so that the loop's own instructions are few.
  static constexpr long step = 8;

  static void load_fma_store(void* x, long bytes, long passes) {
    Vec a = broadcast(Element(0.5)), b = a;
    OPAQUE(a);
    OPAQUE(b);
    Vec* const begin = static_cast<Vec*>(x);
    Vec* const end = begin + bytes / static_cast<long>(sizeof(Vec));
    for (long pass = 0; pass < passes; ++pass) {
      for (Vec* v = begin; v < end; v += step) {
        // Loaded into a register of its own, so that the multiply-add overwrites what was loaded
        // and not a copy of `a`.
#define STEP(i)                    \
  {                                \
    Vec in = v[i];                 \
    OPAQUE(in);                    \
    v[i] = multiply_add(in, a, b); \
  }
        EACH_8(STEP)
#undef STEP
      }
      END_OF_PASS();
    }
  }

  static void load(const void* x, long bytes, long passes) {
    const Vec* const begin = static_cast<const Vec*>(x);
    const Vec* const end = begin + bytes / static_cast<long>(sizeof(Vec));
    for (long pass = 0; pass < passes; ++pass) {
      for (const Vec* v = begin; v < end; v += step) {
#define STEP(i)    \
  {                \
    Vec in = v[i]; \
    OPAQUE(in);    \
  }
        EACH_8(STEP)
#undef STEP
      }
      END_OF_PASS();
    }
  }

  static void copy(void* to, const void* from, long bytes, long passes) {
    Vec* const begin = static_cast<Vec*>(to);
    const Vec* const source = static_cast<const Vec*>(from);
    const long n = bytes / static_cast<long>(sizeof(Vec));
    for (long pass = 0; pass < passes; ++pass) {
      for (long k = 0; k < n; k += step) {
        // Opaque, so that the compiler does not call memcpy, which chooses an instruction set.
#define STEP(i)               \
  {                           \
    Vec in = source[k + (i)]; \
    OPAQUE(in);               \
    begin[k + (i)] = in;      \
  }
        EACH_8(STEP)
#undef STEP
      }
      END_OF_PASS();
    }
  }

  static void triad(void* a, const void* b, const void* c, long bytes, long passes) {
    Vec tiny = broadcast(Element(1e-9));
    OPAQUE(tiny);
    Vec* const to = static_cast<Vec*>(a);
    const Vec* const x = static_cast<const Vec*>(b);
    const Vec* const y = static_cast<const Vec*>(c);
    const long n = bytes / static_cast<long>(sizeof(Vec));
    for (long pass = 0; pass < passes; ++pass) {
      for (long k = 0; k < n; k += step) {
#define STEP(i) to[k + (i)] = multiply_add(y[k + (i)], tiny, x[k + (i)]);
        EACH_8(STEP)
#undef STEP
      }
      END_OF_PASS();
    }
  }

  static void independent(long rounds) {
    Vec a = broadcast(Element(0.5)), b = a;
    OPAQUE(a);
    OPAQUE(b);
#define BEGIN(i)                    \
  Vec v##i = broadcast(Element(1)); \
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
    Vec a = broadcast(Element(0.5)), b = a, v = broadcast(Element(1));
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

  static constexpr ElementLoops table{sizeof(Element), load_fma_store, load,     copy,
                                      triad,           independent,    dependent};
};
