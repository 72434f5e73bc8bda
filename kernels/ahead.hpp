// What kernels will read next of the left operand. Loops over columns read a tile of it again for
// each of their columns, so it comes from memory only once, before their first ones; asked for
// there, it would come no faster than memory has it while the kernels wait. So each kernel call of
// such a round asks for its share of what the next round reads, a line now and then.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/plan/plan.hpp"
#include "core/plan/walk.hpp"

namespace tcsim {

// The rounds of a walk: the iterations of the loop (`turn`) in which the loops over columns stand
// that are nearest to the kernel. The left operand's tile is the same throughout a round.
class Rounds {
 public:
  explicit Rounds(const Plan& plan);

  // Whether there are any: the loops over columns stand within one over rows or along k.
  bool any() const { return !loops_.empty(); }
  // The depth of `turn` in Plan::steps().
  std::size_t turn() const { return loops_.back().depth; }

  // A walk of that part of the plan begins.
  void begin(const Tile& part) { whole_ = part; }
  // An iteration of the loop at this depth begins.
  void enter(std::size_t depth, const Tile& tile);

  // How many kernel calls the round has that has begun for each `mr` rows of its tile.
  std::int64_t calls_per_panel(const Tile& round) const;
  // The rows and places along k that the round after the one that has begun reads; none after the
  // last one, nor where they are the same, nor of another batch.
  struct Panels {
    Interval rows, ks;
    bool operator==(const Panels&) const = default;
  };
  std::optional<Panels> next() const;

 private:
  struct Around {
    std::size_t depth;
    const Step* loop;
    Interval range{};  // of the present iteration
  };
  // The range that a loop runs over.
  Interval parent(std::size_t loop) const;
  Panels panels(const Tile& tile) const { return {tile[DimClass::m], tile[DimClass::k]}; }

  const Plan& plan_;
  std::vector<Around> loops_;  // outermost first, `turn` last
  std::int64_t kc_;            // of a kernel call
  Tile whole_;
};

}  // namespace tcsim
