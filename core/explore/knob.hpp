// A number of a machine that can be turned: LEVEL.FIELD, caches.line or core.FIELD, for the fields
// that core/machine/fields.hpp declares as varied. core/machine/override.hpp sets it; here it also
// has a value, a unit, a direction and a text, so that it can be swept.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/machine/fields.hpp"
#include "core/machine/machine.hpp"

namespace tcsim {

enum class KnobUnit {
  bytes,
  count,
  bits,
  bytes_per_second,
  bytes_per_cycle,
  cycles,
  hertz,
  number
};
const char* to_text(KnobUnit);  // "bytes", "bytes_per_cycle", ...

struct Knob {
  std::string name;  // "L3.capacity"
  KnobUnit unit = KnobUnit::number;
  Sense sense = Sense::unknown;
  double base = 0;  // the machine's own value

  // Whether every value can be had, or only whole numbers of bytes, sets, ways, powers of two.
  bool continuous() const;
};

// Throws UsageError, listing the knobs, if the machine has none of that name or no value for it.
// `unit` chooses between the two units of a bandwidth; by default it is the machine file's.
Knob find_knob(const Machine& machine, std::string_view name, std::optional<KnobUnit> unit = {});
// All that the machine has a value for, from the innermost level outward, the core last; not the
// core's overhead, which no predicted time has.
std::vector<Knob> all_knobs(const Machine& machine);

double value_of(const Machine& machine, const Knob& knob);
// The machine with the knob at the nearest value that it can have (powers of two for lines and
// vector bits, whole sets for capacities). It scales what was measured, so that the spread stays.
// Not checked. Throws UsageError where there is none.
Machine with_knob(const Machine& machine, const Knob& knob, double value);
// The same, or nothing if no machine can be like that; `why` then says why not.
std::optional<Machine> possible(const Machine& machine, const Knob& knob, double value,
                                std::string& why);

// "35 MiB", "6.08B/cycle", in four significant digits.
std::string display(const Knob& knob, double value);
// Bytes in the unit in which `like` is shown, for a column of one unit: "1024 KiB" below "512 KiB".
std::string display(const Knob& knob, double value, double like);

// As override_knob() and parse_value() read it, to the last bit: "12976128", "6.08B/cycle".
std::string exact(const Knob& knob, double value);

// Reads a value in the knob's unit or another of its kind, and sets `unit` to that one: "8MiB",
// "100GB/s", or "1.5x", relative to knob.base. Throws UsageError.
double parse_value(const Knob& knob, std::string_view text, KnobUnit& unit);

}  // namespace tcsim
