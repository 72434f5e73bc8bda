// Whether a machine's levels can be run, and what a run did otherwise than was predicted.
#include <fmt/format.h>

#include "chains/levels/run_levels.hpp"
#include "core/error.hpp"

namespace tcsim::chains {

using fusion::OperationTree;
using levels::Counts;
using levels::Hierarchy;

void check_processes(const Hierarchy& hierarchy, int processes) {
  const std::int64_t all = hierarchy.instances(0);
  const Hierarchy::Level& shared = hierarchy.level(hierarchy.links() - 1);
  if (all != processes) {
    throw UnsupportedError(
        "--run", fmt::format("the machine has {} processes and {} were started", all, processes),
        fmt::format("start mpirun -n {} tcsim ..., or leave out what sets processes", all));
  }
  if (shared.instances > 1) {
    throw UnsupportedError("--run", "processes share no level inside the disk",
                           "take a machine with a memory between, such as gpu-cluster-node");
  }
  for (int l = 0; l + 2 < hierarchy.links(); ++l) {
    if (hierarchy.level(l).instances == 1) continue;
    throw UnsupportedError("--run", "some processes share " + hierarchy.level(l + 1).name,
                           "take a machine where " + shared.name + " alone is shared");
  }
  if (hierarchy.overlap) {
    throw UnsupportedError("--run", "transfers and arithmetic do not overlap in a run",
                           "leave out --overlap");
  }
}

std::string differences(const OperationTree& tree, const Hierarchy& hierarchy,
                        const Counts& predicted, const Counts& measured) {
  std::string text;
  const auto compare = [&](const std::string& what, std::int64_t want, std::int64_t have) {
    if (want == have) return;
    text += fmt::format("{}{}: {} instead of {}", text.empty() ? "" : "; ", what, have, want);
  };
  const auto moved = [&](const std::string& where, const levels::Moved& want,
                         const levels::Moved& have) {
    compare(where + " bytes in", want.in, have.in);
    compare(where + " bytes out", want.out, have.out);
    compare(where + " transfers in", want.ins, have.ins);
    compare(where + " transfers out", want.outs, have.outs);
    compare(where + " rows", want.rows, have.rows);
  };
  for (int l = 0; l < hierarchy.links(); ++l) {
    const Counts::OfLink& want = predicted.links[static_cast<std::size_t>(l)];
    const Counts::OfLink& have = measured.links[static_cast<std::size_t>(l)];
    for (std::size_t a = 0; a < tree.arrays.size(); ++a) {
      const std::string where = hierarchy.link(l) + " " + tree.arrays[a].name;
      moved(where, want.all[a], have.all[a]);
      moved(where + " of the busiest", want.busiest[a], have.busiest[a]);
    }
    compare(hierarchy.level(l).name + " bytes held",
            predicted.high_water[static_cast<std::size_t>(l)].value(),
            measured.high_water[static_cast<std::size_t>(l)].value());
  }
  for (std::size_t s = 0; s < tree.statements.size(); ++s) {
    const std::string& made = tree.array(tree.statements[s].out).name;
    compare(made + " runs", predicted.statements[s].runs, measured.statements[s].runs);
    compare(made + " multiply-adds of the busiest", predicted.statements[s].multiply_adds,
            measured.statements[s].multiply_adds);
    compare(made + " bytes of tiles of the busiest", predicted.statements[s].tile_bytes,
            measured.statements[s].tile_bytes);
  }
  return text;
}

}  // namespace tcsim::chains
