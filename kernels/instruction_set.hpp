// What a processor's vectors can do, as far as kernels ask.
#pragma once

namespace tcsim {

// Instruction sets that microkernels exist for, from plain C++ up.
enum class InstructionSet { plain, avx2, avx512 };
const char* to_text(InstructionSet);
// The best that this processor (and operating system) can run.
InstructionSet best_instruction_set();
// Whether this processor and operating system can run code for `set`.
bool can_run(InstructionSet set);

}  // namespace tcsim
