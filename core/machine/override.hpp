// What-if knobs by name: "L3.capacity=64MiB", "memory.bandwidth=100GB/s", "core.frequency=3GHz".
// LEVEL.FIELD with the level's name in the machine file, or core.FIELD; core/machine/fields.hpp
// declares the fields.
// A number may be relative: "1.2x". caches.FIELD sets the field of every cache.
#pragma once

#include <string>
#include <string_view>

#include "core/machine/machine.hpp"

namespace tcsim {

struct Overridden {
  Machine machine;
  // Not empty if the value had to give way: "L3.capacity: 4MiB is not a whole number of 20-way
  // sets of 64B lines; 4194560B is used".
  std::string note;
};

// Sets one knob; the figure's origin becomes hypothetical. Measurements of a bandwidth or of the
// peak that is another one now go; a relative value scales them, so that their spread stays.
// A cache's new capacity keeps ways and line, and
// is rounded to the nearest whole number of sets (at least one); a fully associative one (of one
// set) stays so and gets other ways. New ways or a new line keep the capacity where that is
// possible and otherwise round it in the same way. The result is not checked. Throws UsageError
// (place: the knob) on an unknown knob, listing those that exist, or a bad value.
Overridden override_knob(const Machine& machine, std::string_view knob_equals_value);

}  // namespace tcsim
