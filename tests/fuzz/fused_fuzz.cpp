// Any bytes parse as a fused schedule that round-trips, and what passes check() moves in closed
// form what a replay counts; or they are reported as an InputError.
#include <cstdlib>

#include "core/error.hpp"
#include "core/fusion/fused_schedule.hpp"
#include "core/fusion/replay.hpp"
#include "tests/core/fusion/chains.hpp"
#include "tests/fuzz/fuzz.hpp"

void fuzz_one(std::string_view bytes) {
  using namespace tcsim;
  using namespace tcsim::fusion;
  static const OperationTree tree = pair_of(5, 6, 4, 3);
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
