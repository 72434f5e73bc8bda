// The loops that are timed, once for each instruction set and element type. This header and the
// loops_*.cpp that include it pull in no standard library: an inline function of it, compiled for
// AVX-512 and kept by the linker, would stop the whole program on a lesser processor.
#pragma once

namespace tcsim {

// Loops over one element type. Blocks are aligned to 64 bytes, `bytes` is a multiple of
// loop_step and is what one block holds; each loop goes `passes` times over it. Values that start
// as 1 stay near 1.
struct ElementLoops {
  int element;  // bytes: 4 or 8

  void (*load_fma_store)(void* x, long bytes, long passes);           // x = x * 0.5 + 0.5
  void (*load)(const void* x, long bytes, long passes);               // x into registers
  void (*copy)(void* to, const void* from, long bytes, long passes);  // to = from
  void (*triad)(void* a, const void* b, const void* c, long bytes,    // a = b + c * 1e-9
                long passes);

  // `rounds` times a block of `accumulators` independent vector multiply-adds, in registers.
  void (*independent)(long rounds);
  // `rounds` times a chain of chain_length vector multiply-adds, each waiting for the one before.
  void (*dependent)(long rounds);
};

// Twelve hide a latency of up to six cycles at two a cycle, and fit 16 registers.
inline constexpr int accumulators = 12;
inline constexpr int chain_length = 16;
inline constexpr long loop_step = 512;  // bytes: eight of the widest vectors

struct InstructionSetLoops {
  const char* name;  // "AVX-512", "AVX2"; of the baseline "SSE" on x86-64 and "plain" elsewhere
  int vector_bits;
  int vector_registers;
  ElementLoops f32, f64;
};

extern const InstructionSetLoops plain_loops;
#if defined(__x86_64__)
extern const InstructionSetLoops avx2_loops;
extern const InstructionSetLoops avx512_loops;
#endif

// Those that this processor and its kernel offer, widest first, ended by a null pointer.
const InstructionSetLoops* const* loops_here();

// `rounds` times a chain of add_chain_length integer additions of one cycle each.
void add_chain(long rounds);
inline constexpr int add_chain_length = 64;

// Follows `loads` pointers, each to be found in the node before (a multiple of chase_step), and
// returns the last.
void* chase(void* node, long loads);
inline constexpr long chase_step = 16;

}  // namespace tcsim
