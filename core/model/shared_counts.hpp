// What predictions count of schedules, remembered. Machines that differ in an outer
// cache have the same pieces of the walk through the innermost one, and a study, a map or a window
// asks for the same few schedules on many machines.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "core/model/copies.hpp"
#include "core/model/counted_cache.hpp"
#include "core/model/leaves.hpp"
#include "core/model/nest.hpp"
#include "core/model/occupancy.hpp"
#include "core/model/pieces.hpp"
#include "core/model/set_counts.hpp"
#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// Not for several threads at a time. What is returned is there until the next call.
class SharedCounts {
 public:
  // As SetCounter has it.
  explicit SharedCounts(double max_lines = SetCounter::usual_lines) : sets_(max_lines) {}

  SetCounter& sets() { return sets_; }

  // As count_pieces(), count_leaves() and copied_again() count them.
  const std::optional<CountedPieces>& pieces(const Contraction& contraction,
                                             const Schedule& schedule, const Nest& nest,
                                             const SetAssociative& cache, Bytes line);
  const std::optional<CountedLines>& leaves(const Contraction& contraction,
                                            const Schedule& schedule, const Nest& nest, int leaf,
                                            const LeafCaches& caches, Bytes line);
  const CopiedAgain& copied(const Contraction& contraction, const Schedule& schedule,
                            const Nest& nest, int depth, const std::vector<SetAssociative>& caches,
                            Bytes line);

 private:
  template <class T>
  using Known = std::unordered_map<std::string, T>;  // by all that it depends on, as text

  SetCounter sets_;
  Known<std::optional<CountedPieces>> pieces_;
  Known<std::optional<CountedLines>> leaves_;
  Known<CopiedAgain> copied_;
};

}  // namespace tcsim
