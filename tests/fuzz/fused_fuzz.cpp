// Any bytes parse as a fused schedule that round-trips, and what passes check() moves in closed
// form what a replay counts; or they are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/replay.hpp"
#include "core/workload/program.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  using namespace tcsim::fusion;
  static const OperationTree tree = operation_tree(parse_program(R"(
program pair
dims a=5 b=6 p=4 q=3
f64 input A[p, q]  f64 input C[a, p]  f64 input D[b, q]
f64 intermediate T[a, q]
f64 output B[a, b]
T[a, q] += C[a, p] * A[p, q]
B[a, b] += T[a, q] * D[b, q]
)",
                                                                 "pair"));
  try {
    const FusedNode node = parse_fused(bytes, tree, "fuzz");
    if (parse_fused(to_text(tree, node), tree, "again") != node) std::abort();
    check(tree, node, "fuzz");
    for (Buffering b : {Buffering::single, Buffering::twofold}) {
      if (traffic(tree, node, b) != replay(tree, node, b)) std::abort();
    }
  } catch (const InputError&) {
  }
}
