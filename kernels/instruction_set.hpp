// What a processor's vectors can do, as far as kernels ask.
#pragma once

namespace tcsim {

// Instruction sets that microkernels exist for, from plain C++ up.
enum class InstructionSet { plain, avx2, avx512 };
const char* to_text(InstructionSet);
// The best that this processor (and operating system) can run, and TCSIM_ISA allows
// (core/machine/instruction_limit.hpp).
InstructionSet best_instruction_set();
// Whether code for `set` can and may run here.
bool can_run(InstructionSet set);

}  // namespace tcsim
