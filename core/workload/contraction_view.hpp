// A contraction as a program, and the programs that are contractions.
#pragma once

#include "core/workload/contraction.hpp"
#include "core/workload/program.hpp"

namespace tcsim {

// The contraction that the program's one statement is, out being C and the inputs A and B in their
// order. Its dimensions are in alphabetical order, as those of a label are, and its name is the
// program's.
//
// Throws UnsupportedError, which names what a contraction cannot be: several statements or one
// input, one tensor twice, elements of two types, an output with places that are not written, a sum
// of three dimensions as an index, a dimension twice in a tensor or in one tensor only, an input
// without axes, a name of several letters.
Contraction contraction_of(const Program& program);

// The contraction's program; contraction_of() gives it back. Throws
// UsageError where its name can be none of a program's.
Program program_of(const Contraction& contraction);

}  // namespace tcsim
