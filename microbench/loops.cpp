#include "microbench/loops.hpp"

#include "core/machine/instruction_limit.hpp"

namespace tcsim {

namespace {

struct Here {
  const InstructionSetLoops* list[4] = {};

  Here() {
    int n = 0;
#if defined(__x86_64__)
    // These also ask whether the kernel saves the registers.
    __builtin_cpu_init();
    const int bits = most_vector_bits();
    if (bits >= 512 && __builtin_cpu_supports("avx512f")) list[n++] = &avx512_loops;
    if (bits >= 256 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
      list[n++] = &avx2_loops;
    }
#endif
    list[n] = &plain_loops;
  }
};

}  // namespace

const InstructionSetLoops* const* loops_here() {
  static const Here here;
  return here.list;
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

void* chase(void* node, long loads) {
#define NEXT node = *static_cast<void**>(node);
#define NEXT_4 NEXT NEXT NEXT NEXT
  for (long load = 0; load < loads; load += chase_step) {
    NEXT_4 NEXT_4 NEXT_4 NEXT_4 __asm__ volatile(
        ""
        : "+r"(node));  // the caller may ignore the result; the loads stay
  }
#undef NEXT_4
#undef NEXT
  return node;
}

}  // namespace tcsim
