// A contraction as a program, and the programs that are contractions.
#pragma once

#include "core/workload/contraction.hpp"
#include "core/workload/program.hpp"

namespace tcsim {

// The contraction that the program's one statement is, out being C and the inputs A and B in their
// order. Its dimensions are in alphabetical order, as those of a label are, and its name is the
// program's. Its layout is row-major where no tensor has two axes to tell by.
//
// Throws UnsupportedError, which names what a contraction cannot be: several statements or one
// input, one tensor twice, elements of two types, an axis that is no single dimension with the
// coefficient 1 or longer than its dimension, a dimension twice in a tensor or in one tensor only,
// an input without axes, a name of several letters, a memory order that is not row- or column-major
// throughout.
Contraction contraction_of(const Program& program);

// The contraction's program, whose tensors are A, B and C; contraction_of() gives it back. Throws
// UsageError where its name can be none of a program's.
Program program_of(const Contraction& contraction);

}  // namespace tcsim
