// Finds the vector code for this processor.
#pragma once

#include "kernels/execute.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// Whether this processor and operating system can run code for `set`.
bool can_run(InstructionSet set);

// The instruction set that runs a schedule's mr x nr kernel here. If the kernel is one of
// kernel_shapes() that this processor can run, it is the one that the shape is made for; else the
// best.
InstructionSet instruction_set_for(Elements mr, Elements nr, ElementType type);

// The register tiles of an instruction set, which this processor must have.
template <class T>
const KernelFamily<T>& kernel_family(InstructionSet set);

// The transpose of the best instruction set here, or of `set`, which this processor must have.
template <class T>
Transpose<T> transpose_code(InstructionSet set = best_instruction_set());

// Elements of a cache line of the machines that kernels run on.
template <class T>
inline constexpr std::int64_t line_elements = 64 / sizeof(T);

}  // namespace tcsim
