// Writes a plan as one C file that needs nothing but a compiler: the schedule's loops as real
// nested loops, the packed layout of docs/design.md, a microkernel in intrinsics, and a main() that
// fills, checks and times. It is one more interpreter of the schedule's tree, beside the executor
// and the simulator, and adds no loop order of its own. docs/emit.md shows what comes out.
//
// The text depends on the plan and the options only, not on the machine that writes it, so a file
// can be written here for another machine. That is why this folder needs core alone.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct EmitOptions {
  // Put before every name that the file defines, so that several files can be linked or included
  // together. Must be empty or the beginning of a C identifier.
  std::string prefix;
  // Of the inputs that main() fills in; they are those of fill_inputs() (kernels/execute.hpp).
  std::uint64_t seed = 1;
  // Lines for the comment at the top: who wrote the file, for which machine, what is predicted.
  std::vector<std::string> remarks;
};

// The file. It is C11 with the builtins that gcc and clang share, and compiles without warnings
// under -Wall -Wextra. With -DTCSIM_NO_MAIN it has no main(), and what remains is
//
//     int contract(const double *A, const double *B, double *C);   // or float
//     void contract_release(void);
//
// Throws UnsupportedError for a kernel of more than max_kernel results, and UsageError for a prefix
// that no identifier begins with.
std::string emit_c(const Plan& plan, const EmitOptions& options = {});

inline constexpr std::int64_t max_kernel = 1 << 14;  // mr x nr; they stand on the stack

// Vector instructions of x86-64 that a microkernel is written in.
enum class VectorSet { none, sse2, avx2, avx512 };
const char* to_text(VectorSet);  // "portable", "sse2", "avx2", "avx512"

// The one that emit_c() takes for a kernel of mr x nr: the narrowest whose registers hold the
// results with a column of the left operand and one broadcast to spare, and whose length divides
// mr. none if there is none: then the kernel is a plain loop.
VectorSet vectors_for(Elements mr, Elements nr, ElementType type);

}  // namespace tcsim
