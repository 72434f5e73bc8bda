// How the statements of fused schedules run on their tiles: schedules that the optimizer chooses,
// each once for all programs of a chain that are planned or run.
#pragma once

#include <map>
#include <utility>

#include "core/fusion/leaf.hpp"
#include "core/machine/machine.hpp"
#include "core/schedule/schedule.hpp"
#include "kernels/crew.hpp"

namespace tcsim::chains {

class LeafSchedules {
 public:
  // Of a tree that outlives it.
  LeafSchedules(const fusion::OperationTree& tree, const Machine& machine, int threads);

  struct Of {
    Schedule schedule;
    FlopsPerSecond rate;  // predicted
    ExecutionMemory memory;
  };
  // `usual`: the largest tile of a statement, for which the optimizer looks harder. Heeds
  // StopScope.
  const Of& of(const fusion::Leaf& shape, bool usual);

  const fusion::OperationTree& tree() const { return tree_; }
  int threads() const { return threads_; }

 private:
  const fusion::OperationTree& tree_;
  Machine machine_;
  int threads_;
  std::map<std::pair<fusion::Leaf, bool>, Of> known_;
};

}  // namespace tcsim::chains
