// Values of a knob to look at: "L3.capacity=8MiB..128MiB", "memory.bandwidth=1x..1.5x:11:linear",
// "L2.ways=4,8,16".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/explore/knob.hpp"
#include "core/machine/machine.hpp"

namespace tcsim {

struct KnobRange {
  Knob knob;
  std::vector<double> values;  // ascending, different; each of a machine that can be (Ends)
  std::string remark;          // where the range had to end, and why; may be empty
};

inline constexpr int most_points = 10000;

// A range may leave what a machine can be: an outer level faster than the one inside it, a capacity
// below the inner level's. It ends there, or is kept as given, to be judged together with another
// knob.
enum class Ends { where_no_machine_is, as_given };

// KNOB=LOW..HIGH[:POINTS][:log|linear], or KNOB=VALUE,VALUE,... Each value is absolute, in any unit
// of the knob ("8MiB", "100GB/s"), or relative to `machine` ("1.5x"). Without POINTS there are
// `points` of them, evenly on a logarithmic scale unless it is linear.
//
// A capacity whose text says neither how many nor which scale goes by powers of two and their
// quarters (8, 10, 12, 14, 16 MiB), and by the machine's own capacity. Where those are many more
// than `points`, it goes by halves or by whole powers.
//
// Values move to the nearest that the machine can have. Throws UsageError with the knob as the
// place.
KnobRange parse_knob_range(const Machine& machine, std::string_view text, int points = 17,
                           Ends ends = Ends::where_no_machine_is);

}  // namespace tcsim
