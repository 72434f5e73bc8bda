#include "microbench/loops.hpp"

namespace tcsim {

const ProbeLoops& best_loops() {
#if defined(__x86_64__)
  // These also ask whether the kernel saves the registers.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) return avx512_loops;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return avx2_loops;
#endif
  return plain_loops;
}

void add_chain(long rounds) {
  // Register to register: some processors drop additions of a constant when they rename.
  long sum = 0, step = 1;
  __asm__ volatile("" : "+r"(step));
#define ADD    \
  sum += step; \
  __asm__ volatile("" : "+r"(sum));
#define ADD_8 ADD ADD ADD ADD ADD ADD ADD ADD
  for (long round = 0; round < rounds; ++round) {
    ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8 ADD_8
  }
#undef ADD_8
#undef ADD
}

}  // namespace tcsim
