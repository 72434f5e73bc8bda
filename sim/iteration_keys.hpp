// Which iterations of a plan's loops touch the same lines, each array's moved: that is known
// without a simulation. The ranges of such iterations have the same sizes, their arrays begin at
// the same byte of a line, and every table of offsets that they read is the same relative to its
// first entry. If arrays also begin in the same sets, moving keeps lines in their sets; then the
// iterations have one key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

namespace tcsim::sim {

class IterationKeys {
 public:
  using Key = std::vector<std::uint32_t>;
  struct Piece {
    Key shape;
    ByArray<std::uint32_t> bases;  // the line where the iteration's part of an array begins
  };
  // A loop that does not just go through once, nor over ranges of a million and more.
  struct Loop {
    std::size_t depth = 0;  // in Plan::steps()
    double iterations = 0;  // in the whole walk
    double lines = 0;       // that kernels touch in one of them, each as often as they do
  };

  // Of lines of 2^line_bits bytes.
  IterationKeys(const Plan& plan, int line_bits);

  const std::vector<Loop>& loops() const { return loops_; }  // the outermost first
  Piece piece(const Iteration& iteration);
  // In caches with so many sets.
  Key key(const Piece& piece, std::span<const std::uint32_t> sets) const;

  // How many keys each of some loops has, in each of its caches; the outermost loop first. Of long
  // loops only the first iterations are looked at; new keys are then expected to go on coming as in
  // the second half of those.
  struct Wanted {
    Loop loop;
    std::vector<std::vector<std::uint32_t>> sets;  // of several caches
  };
  std::vector<std::vector<double>> count(const std::vector<Wanted>& all);

 private:
  void find_loops();
  std::uint32_t range_class(std::size_t depth, DimClass group, Interval range);
  std::uint64_t address(ArrayId a, const Iteration& iteration) const;

  const Plan& plan_;
  int line_bits_;
  std::vector<Loop> loops_;
  // Tensors that are read in place inside a loop, buffers that are filled outside it.
  struct Uses {
    ByTensor<bool> in_place{};
    ByTensor<bool> packed_outside{};
    ByGroup<std::int64_t> phase_of{1, 1, 1, 1};  // see range_class()
  };
  std::vector<Uses> uses_;  // by depth
  struct Class {
    std::map<std::vector<std::int64_t>, std::uint32_t> known;
    std::map<std::pair<std::int64_t, std::int64_t>, std::uint32_t> by_range;
  };
  std::vector<ByGroup<Class>> classes_;  // by depth and group
};

}  // namespace tcsim::sim
