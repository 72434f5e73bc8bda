// Which sets of a level the lines of each array fall into, and what that costs: how often a set is
// asked, what it misses and why (sim/attribution.hpp), how many lines of each array it holds, and
// how many lines it would have to hold. The last is where a bad leading dimension shows. What a set
// holds does not show it: sets that nobody uses any more keep old lines, and over a whole run every
// large tensor goes through all sets alike.
//
// So the run is cut into windows, one behind the other: a window ends with the request that makes
// the different lines of it as many as the level has places (sets times ways). The last may be
// shorter. A fully associative cache holds all lines of a window. The level can as well if they
// spread evenly; a set of which a window wants more lines than it has ways cannot. Requests and
// write-backs that arrive count, as in sim/attribution.hpp.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/plan/plan.hpp"
#include "sim/attribution.hpp"
#include "sim/simulate.hpp"

namespace tcsim {

// Of one array in one set, or summed over some.
struct SetTally {
  Lines requests;  // from inside, as LevelCounts::hits and misses
  MissCauses misses;
  Lines fills;     // lines that came into the set
  Lines wanted;    // different lines that a window asks for, summed over the windows
  Lines resident;  // lines that are there after a touch of the core, summed over the touches
  SetTally& operator+=(const SetTally& o);
  bool operator==(const SetTally&) const = default;
};

// What windows want of one set, of all arrays together.
struct SetDemand {
  Lines most;    // of any window
  Lines beyond;  // lines that have no way to go to: more than the ways, summed over the windows
  bool operator==(const SetDemand&) const = default;
};

// How an array spreads, summed over the windows.
struct ArraySpread {
  Lines lines;            // different lines that a window asks for
  std::int64_t sets = 0;  // sets that they lie in
  std::int64_t room = 0;  // sets that they could lie in: all, or as many as there are lines
  Lines beyond;           // of these lines, more than the ways of their set: by this array alone
  bool operator==(const ArraySpread&) const = default;
};

// One window, set by set. Entry a * sets + s of a vector is of array a and set s.
struct SetWindow {
  std::int64_t number = 0;                       // among all windows, from 0 on
  Lines touch;                                   // of the core with which it begins, from 0 on
  std::vector<std::uint32_t> wanted, conflicts;  // lines
  bool operator==(const SetWindow&) const = default;
};

struct SetUse {
  sim::LevelConfig level;
  Arrays arrays;
  Lines touches;                              // of the core
  std::int64_t windows = 0;                   // at least 1
  std::vector<std::vector<SetTally>> counts;  // by array and set
  std::vector<SetDemand> demand;              // by set
  std::vector<ArraySpread> spread;            // by array
  // Windows 0, step, 2 step, ...: as many as set_film_cells allows, all where step is 1.
  std::vector<SetWindow> film;
  std::int64_t step = 1;

  std::int64_t sets() const { return level.sets; }
  const std::vector<SetTally>& of(ArrayId a) const {
    return counts[static_cast<std::size_t>(index(a))];
  }
  const ArraySpread& spread_of(ArrayId a) const {
    return spread[static_cast<std::size_t>(index(a))];
  }
  // Of an array, of a set, of everything.
  SetTally total(ArrayId a) const;
  SetTally total(std::int64_t set) const;
  SetTally total() const;
  // Averages: of a sum over windows, and of one over touches.
  double a_window(Lines sum) const {
    return static_cast<double>(sum.value()) / static_cast<double>(windows);
  }
  double a_touch(Lines sum) const {
    return static_cast<double>(sum.value()) /
           static_cast<double>(std::max<std::int64_t>(1, touches.value()));
  }
};

// The film has at most so many windows, and fewer where windows times arrays times sets would be
// more than so many cells; but two at least.
inline constexpr std::int64_t most_set_windows = 128;
inline constexpr std::int64_t set_film_cells = std::int64_t{1} << 21;

// The place of a level among the caches. Throws UsageError with `place`, naming all, if none has
// that name.
std::size_t cache_named(const sim::SystemConfig& config, std::string_view name,
                        const std::string& place);

// Simulates the plan on the level and those inside it, access by access on one thread, as
// attribute() does, and on those outside it up to the last that is inclusive or exclusive. Memory
// grows with the number of lines that are touched. Throws as simulate().
SetUse set_use(const Plan& plan, const sim::SystemConfig& config, std::size_t level,
               const SimulationOptions& options = {});

}  // namespace tcsim
