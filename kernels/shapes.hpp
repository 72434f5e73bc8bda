// Finds the vector code of a kernel shape.
#pragma once

#include "kernels/execute.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// Whether this processor and operating system can run code for `set`.
bool can_run(InstructionSet set);

// The shape mr x nr for `type` that has vector code which this processor can run, or nullptr.
const KernelShape* runnable_shape(Elements mr, Elements nr, ElementType type);

// The code of a shape out of kernel_shapes().
template <class T>
Microkernel<T> microkernel(const KernelShape& shape);

// The transpose of the best instruction set here, or of `set`, which this processor must have.
template <class T>
Transpose<T> transpose_code(InstructionSet set = best_instruction_set());

}  // namespace tcsim
