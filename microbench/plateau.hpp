// What a curve of a rate over the working set says of the caches: where it is level, where it
// steps down, and which step is which reported cache's end. A reported size is not believed: a
// virtual machine may make it up, and neighbours may hold a part of a shared cache.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim {

// A rate (bytes per second, or loads per second of a pointer chase) at one working set.
struct RatePoint {
  Bytes working_set;
  double rate = 0;
};
using RateCurve = std::vector<RatePoint>;  // working sets ascend

// Points [first, end) of a curve between which the rate hardly changes.
struct Plateau {
  std::size_t first = 0, end = 0;
  double rate = 0;  // median
};

// The plateaus of the curve, innermost first; what lies between them is a slope. The cheapest
// division of the curve in plateaus and slopes, where a plateau's point costs its distance from the
// plateau's median, a slope's point as much as a distance of 5 %, and each plateau as much as the
// points of three quarters of an octave: shorter or more uneven stretches are slopes. Neighbours
// less than 8 % apart are one plateau, as is one that is faster than the one inside it.
std::vector<Plateau> find_plateaus(const RateCurve& curve);

// A fall of the rate between two plateaus.
struct RateStep {
  Bytes at;         // where the rate is the geometric mean of the two, interpolated
  double fall = 1;  // inner rate over outer
};
std::vector<RateStep> find_steps(const RateCurve& curve);

// For each reported capacity (ascending) the step that is its end, as an index into `steps`:
// order is kept, and the sum of the distances (in octaves) is least, where leaving out a capacity
// or a step costs as much as a distance of one octave; so a step is at most a factor of 4 away.
std::vector<std::optional<std::size_t>> match_steps(const std::vector<Bytes>& capacities,
                                                    const std::vector<RateStep>& steps);

}  // namespace tcsim
