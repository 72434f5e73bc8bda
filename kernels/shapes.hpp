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

}  // namespace tcsim
