// Register tiles that there is vector code for.
#pragma once

#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"
#include "kernels/instruction_set.hpp"

namespace tcsim {

// A register-blocked kernel: mr rows in vectors, nr columns broadcast.
struct KernelShape {
  Elements mr, nr;
  InstructionSet needs;
  ElementType type;
};
// All shapes that have vector code, the preferred one of each (instruction set, type) first.
const std::vector<KernelShape>& kernel_shapes();
// The preferred shape for vectors of `vector_bits` (128, 256, 512): the one that a schedule for
// such a core should use. core's optimizer computes the same from the machine; a test compares.
// Throws std::invalid_argument for another width.
KernelShape preferred_shape(int vector_bits, ElementType type);

// The instruction set that runs a schedule's mr x nr kernel here: the best, whose vectors hold more
// rows in fewer registers. Only rows that fill no vector of it are left to a lesser set that has a
// shape of kernel_shapes() for just them, and multiplies and adds in one instruction.
InstructionSet instruction_set_for(const Kernel& kernel, ElementType type);

}  // namespace tcsim
