// The loops that are timed, once for each instruction set. This header and the loops_*.cpp that
// include it pull in no standard library: an inline function of it, compiled for AVX-512 and kept
// by the linker, would stop the whole program on a lesser processor.
#pragma once

namespace tcsim {

struct ProbeLoops {
  const char* name;  // "AVX-512", "AVX2", "plain"
  int vector_bits;
  int vector_registers;

  // x[i] = x[i] * 0.5 + 0.5 over doubles [0, n), `passes` times; n is a multiple of 64 and x
  // aligned to 64 bytes. Values stay where they are if they start as 1.
  void (*stream)(double* x, long n, long passes);

  // `rounds` times a block of independent vector multiply-adds, accumulators of them.
  void (*independent)(long rounds);
  int accumulators;

  // `rounds` times a chain of 16 vector multiply-adds, each waiting for the one before.
  void (*dependent)(long rounds);
};

inline constexpr int chain_length = 16;

extern const ProbeLoops plain_loops;
#if defined(__x86_64__)
extern const ProbeLoops avx2_loops;
extern const ProbeLoops avx512_loops;
#endif

// The loops for the widest vectors that this processor and its kernel offer.
const ProbeLoops& best_loops();

// `rounds` times a chain of 64 integer additions of one cycle each.
void add_chain(long rounds);
inline constexpr int add_chain_length = 64;

}  // namespace tcsim
