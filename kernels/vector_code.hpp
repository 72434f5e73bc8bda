// Finds the vector code for this processor.
#pragma once

#include "kernels/instruction_set.hpp"
#include "kernels/lines.hpp"
#include "kernels/microkernel.hpp"

namespace tcsim {

// The register tiles of an instruction set, which this processor must have.
template <class T>
const KernelFamily<T>& kernel_family(InstructionSet set);

// The transpose of the best instruction set here, or of `set`, which this processor must have.
template <class T>
Transpose<T> transpose_code(InstructionSet set = best_instruction_set());

// The gather, likewise.
template <class T>
Gather<T> gather_code(InstructionSet set = best_instruction_set());

// Products without sums, likewise.
template <class T>
MultiplyLines<T> lines_code(InstructionSet set = best_instruction_set());

// Those that there are.
template <>
const KernelFamily<float>& kernel_family<float>(InstructionSet set);
template <>
const KernelFamily<double>& kernel_family<double>(InstructionSet set);
template <>
Transpose<float> transpose_code<float>(InstructionSet set);
template <>
Transpose<double> transpose_code<double>(InstructionSet set);
template <>
Gather<float> gather_code<float>(InstructionSet set);
template <>
Gather<double> gather_code<double>(InstructionSet set);
template <>
MultiplyLines<float> lines_code<float>(InstructionSet set);
template <>
MultiplyLines<double> lines_code<double>(InstructionSet set);

// Elements of a cache line of the machines that kernels run on.
template <class T>
inline constexpr std::int64_t line_elements = 64 / sizeof(T);

// Elements that a pack asks for before it reads them: 256 lines. Source: chosen (docs/kernels.md).
template <class T>
inline constexpr std::int64_t elements_ahead = 256 * line_elements<T>;

}  // namespace tcsim
