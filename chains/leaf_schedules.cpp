#include "chains/leaf_schedules.hpp"

#include <algorithm>

#include "core/optimize/optimize.hpp"
#include "core/stop.hpp"

namespace tcsim::chains {

LeafSchedules::LeafSchedules(const fusion::OperationTree& tree, const Machine& machine, int threads)
    : tree_(tree), machine_(machine), threads_(std::max(1, threads)) {
  machine_.core.cores = threads_;
}

const LeafSchedules::Of& LeafSchedules::of(const fusion::Leaf& shape, bool usual) {
  const auto known = known_.find({shape, usual});
  if (known != known_.end()) return known->second;
  StopScope::heed();
  const Contraction contraction = fusion::contraction_of(tree_, shape);
  OptimizeOptions options = for_running();
  options.soon = !usual;
  options.detail = Detail::full;
  Optimized found = optimize(contraction, machine_, options);
  const ExecutionMemory memory = execution_memory(contraction, found.schedule, threads_);
  Of of{std::move(found.schedule), found.prediction.rate, memory};
  return known_.emplace(std::pair(shape, usual), std::move(of)).first->second;
}

}  // namespace tcsim::chains
