// Data moved over every link of a machine, by array, direction and phase: what the model predicts
// and the simulator counts, in one form so that they can be laid side by side. What of it a
// printed figure contains is the accounting's choice.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "core/machine/machine.hpp"
#include "core/plan/plan.hpp"
#include "core/units/quantity.hpp"

namespace tcsim {

// Bytes towards the core (loads, fills of the inner level) and away from it (stores, write-backs).
struct Moved {
  Bytes in, out;
  Moved& operator+=(const Moved& o) { return in += o.in, out += o.out, *this; }
  bool operator==(const Moved&) const = default;
};

// What moves while kernels run and while operands are packed.
enum class Phase : int { compute, packing };
inline constexpr std::array all_phases{Phase::compute, Phase::packing};
template <class T>
using ByPhase = EnumArray<Phase, T, 2>;

struct LinkTraffic {
  LinkTraffic() : LinkTraffic(Arrays()) {}
  explicit LinkTraffic(const Arrays& of)
      : arrays(of), moved{ByArray<Moved>(of.size()), ByArray<Moved>(of.size())} {}

  Arrays arrays;
  ByPhase<ByArray<Moved>> moved;

  Moved& at(Phase p, ArrayId a) { return moved[p][a]; }
  const Moved& at(Phase p, ArrayId a) const { return moved[p][a]; }

  // Bytes that count under `accounting`: of one array, of those that are such an array, or of all.
  // Where packing does not count, what kernels read of a buffer is at least what its packing read
  // of the tensor.
  Bytes counted(const Accounting& accounting, ArrayId a) const;
  Moved counted_moves(const Accounting& accounting, ArrayId a) const;
  Bytes counted(const Accounting& accounting, const Array& array) const;
  Bytes counted(const Accounting& accounting) const;
  bool operator==(const LinkTraffic&) const = default;
};

// links[l] lies between machine.levels[l] and the level inside it; links[0] leads to the
// registers and counts element bytes, the others whole cache lines.
struct Traffic {
  std::vector<LinkTraffic> links;
  bool operator==(const Traffic&) const = default;
};

// Time of a schedule by acmtc-sc19, Eq. 2 and 3: each link's bytes over its bandwidth, the slowest
// link decides; computing joins if the accounting says so.
struct Timing {
  std::vector<Seconds> links;
  Seconds compute;  // 0 if the accounting leaves it out
  Seconds total;
  // Index of the deciding link, or links.size() if compute decides.
  int bottleneck = 0;
};

// `compute`: what computing takes, kernel_time() or peak_time() (core/model/kernel_time.hpp).
Timing timing(const Traffic& traffic, Seconds compute, const Machine& machine);

Seconds slowest_link(const Timing& timing);

// What moving all bytes that count takes; empty unless the machine says so for every link.
std::optional<Joules> energy(const Traffic& traffic, const Machine& machine);

// "L3-memory", or "compute".
std::string bottleneck_name(const Timing& timing, const Machine& machine);

}  // namespace tcsim
