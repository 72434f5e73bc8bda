// What the sets of a level say about a schedule (sim/set_use.hpp), in sentences.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/workload/contraction.hpp"
#include "sim/set_use.hpp"

namespace tcsim {

// Why lines of a tensor in place crowd: neighbours along a dimension that meet on few sets, where a
// set is chosen by modulo (in each slice).
struct CrowdingCause {
  char dimension = 0;
  Bytes apart;                // neighbours along it
  std::int64_t falls_on = 1;  // sets (of a slice): fewer than there are neighbours
  bool a_line_more = false;   // whether they would fall on all if they were a line further apart
};

// An array whose lines crowd: over all windows they lie in less than half of the sets that they
// could lie in, and some set is asked for more of them than it has ways.
struct CrowdedArray {
  ArrayId array{};
  double lines = 0, sets = 0, room = 0;  // of a window, on average (ArraySpread)
  double conflicts = 0;                  // share of its misses
  // The dimension that falls on the fewest sets, if there is one.
  std::optional<CrowdingCause> cause = {};
};

// Those that there are, the one with the most conflict misses first, then the one with the most
// lines beyond the ways of their sets.
std::vector<CrowdedArray> crowded_arrays(const SetUse& use, const Contraction& contraction);

// How much conflicts cost, then a sentence for each crowded array, or that there is none.
std::vector<std::string> set_words(const SetUse& use, const Contraction& contraction);

}  // namespace tcsim
