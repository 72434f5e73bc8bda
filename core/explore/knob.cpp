#include "core/explore/knob.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>

#include "core/error.hpp"
#include "core/machine/fields.hpp"
#include "core/machine/override.hpp"
#include "core/machine/spread.hpp"
#include "core/units/text.hpp"

namespace tcsim {

namespace {

constexpr std::string_view every_cache = "caches";

struct Parts {
  std::string_view owner, field;
};
Parts split(std::string_view name) {
  const auto dot = name.find('.');
  return {name.substr(0, dot), dot == name.npos ? std::string_view{} : name.substr(dot + 1)};
}

// In the unit of the file, but for a bandwidth.
double raw_value(const Level& l, std::string_view field, KnobUnit unit, Hertz frequency) {
  if (field != "bandwidth") return number_of(l, field).value_or(0);
  const Bandwidth& b = l.bandwidth.value;
  const bool as_wanted =
      (b.unit == Bandwidth::Unit::bytes_per_cycle) == (unit == KnobUnit::bytes_per_cycle);
  if (as_wanted) return b.value;
  const double rate = b.at(frequency).value();
  return unit == KnobUnit::bytes_per_cycle ? rate / frequency.value() : rate;
}

// The level that a knob's name names; for all caches together, the innermost of them.
const Level* level_of(const Machine& machine, std::string_view owner) {
  const auto found = std::ranges::find_if(machine.levels, [&](const Level& l) {
    return owner == every_cache ? l.kind == LevelKind::cache : l.name == owner;
  });
  return found == machine.levels.end() ? nullptr : &*found;
}

// A field as a knob: of a bandwidth the unit is that of the machine's value.
struct Varied {
  KnobUnit unit = KnobUnit::number;
  Sense sense = Sense::unknown;
};

template <class Owner, class Member>
KnobUnit unit_of(const Field<Owner, Member>& field) {
  using Value = typename Held<Member>::Value;
  if (std::is_same_v<Value, Bytes>) return KnobUnit::bytes;
  if (std::is_same_v<Value, Bandwidth>) return KnobUnit::bytes_per_cycle;
  if (std::is_same_v<Value, Cycles>) return KnobUnit::cycles;
  if (std::is_same_v<Value, Hertz>) return KnobUnit::hertz;
  if (std::is_same_v<Value, double>) return KnobUnit::number;
  return field.range && field.range->power_of_two ? KnobUnit::bits : KnobUnit::count;
}

template <class Owner>
std::optional<Varied> varied(std::string_view name) {
  std::optional<Varied> found;
  for_each_field<Owner>([&](const auto& field) {
    if (field.name == name && field.varied) found = Varied{unit_of(field), *field.varied};
  });
  return found;
}

// Whether the level has a value of the field to vary.
bool has(const Level& level, std::string_view name) {
  bool has = false;
  for_each_field<Level>([&](const auto& field) {
    has |= field.name == name && belongs(field, level.kind) && value_of(level, field) != nullptr;
  });
  if (name == "processes") return level.processes > 1;
  if (name == "transfer") return level.transfer.value > 0;
  if (name == "row") return level.row.value > 0;
  return has && (name != "capacity" || level.capacity.value != Bytes(0));
}

// A field that a knob's name names, or why this machine has none to vary.
struct Found {
  std::optional<Varied> field;
  std::string lack;
};
Found field_of(const Machine& machine, std::string_view name) {
  const auto [owner, wanted] = split(name);
  if (owner == "core") {
    const auto field = wanted.starts_with(overhead_prefix)
                           ? varied<Overhead>(wanted.substr(overhead_prefix.size()))
                           : varied<Core>(wanted);
    return {field, field ? "" : "no such knob"};
  }
  const Level* level = level_of(machine, owner);
  const auto field = varied<Level>(wanted);
  if (level == nullptr || !field || (owner == every_cache && wanted != "line")) {
    return {{}, "no such knob"};
  }
  if (!has(*level, wanted)) return {{}, fmt::format("{} has no {} to vary", level->name, wanted)};
  if (wanted == "line" && owner != every_cache &&
      std::ranges::count(machine.levels, LevelKind::cache, &Level::kind) > 1) {
    return {{}, "the caches must have lines of one size to be modelled"};
  }
  return {field, ""};
}

Knob knob_of(const Machine& machine, const Varied& field, std::string_view name,
             std::optional<KnobUnit> unit) {
  Knob knob{std::string(name), field.unit, field.sense, 0};
  if (field.unit == KnobUnit::bytes_per_cycle) {
    const Level* level = level_of(machine, split(name).owner);
    const bool per_cycle = level->bandwidth.value.unit == Bandwidth::Unit::bytes_per_cycle;
    knob.unit = unit.value_or(per_cycle ? KnobUnit::bytes_per_cycle : KnobUnit::bytes_per_second);
  }
  knob.base = value_of(machine, knob);
  return knob;
}

double to_power_of_two(double value) { return std::exp2(std::round(std::log2(value))); }

bool is_power_of_two(const Knob& knob) {
  return knob.unit == KnobUnit::bits || split(knob.name).field == "line";
}

double plain_number(const Knob& knob, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0) ||
      !std::isfinite(value)) {
    throw UsageError(knob.name, fmt::format("'{}' is no number greater than 0", text),
                     "write a number, or a factor such as 1.5x");
  }
  return value;
}

}  // namespace

const char* to_text(KnobUnit u) {
  switch (u) {
    case KnobUnit::bytes:
      return "bytes";
    case KnobUnit::count:
      return "count";
    case KnobUnit::bits:
      return "bits";
    case KnobUnit::bytes_per_second:
      return "bytes_per_second";
    case KnobUnit::bytes_per_cycle:
      return "bytes_per_cycle";
    case KnobUnit::cycles:
      return "cycles";
    case KnobUnit::hertz:
      return "hertz";
    case KnobUnit::number:
      return "number";
  }
  return "";
}

bool Knob::continuous() const {
  return unit == KnobUnit::bytes_per_second || unit == KnobUnit::bytes_per_cycle ||
         unit == KnobUnit::cycles || unit == KnobUnit::hertz || unit == KnobUnit::number;
}

Knob find_knob(const Machine& machine, std::string_view name, std::optional<KnobUnit> unit) {
  const Found found = field_of(machine, name);
  if (found.field) return knob_of(machine, *found.field, name, unit);
  std::string known;
  for (const Knob& k : all_knobs(machine)) known += (known.empty() ? "" : ", ") + k.name;
  throw UsageError(std::string(name), found.lack, "what can be varied is " + known);
}

std::vector<Knob> all_knobs(const Machine& machine) {
  std::vector<Knob> knobs;
  const auto add = [&](const std::string& name) {
    const Found found = field_of(machine, name);
    if (found.field) knobs.push_back(knob_of(machine, *found.field, name, {}));
  };
  const auto of = [&](LevelKind kind) {
    return std::ranges::count(machine.levels, kind, &Level::kind);
  };
  const bool explicit_levels = of(LevelKind::scratchpad) > 0 || of(LevelKind::memory) > 1;
  for (const Level& l : machine.levels) {
    for_each_field<Level>([&](const Declared& f) {
      if (f.name == "line") return;
      // No time depends on that of the memory behind caches.
      if (f.name == "capacity" && l.kind != LevelKind::cache && !explicit_levels) return;
      add(fmt::format("{}.{}", l.name, f.name));
    });
  }
  add(fmt::format("{}.line", every_cache));
  const auto first_core = static_cast<std::ptrdiff_t>(knobs.size());
  for_each_field<Core>([&](const Declared& f) { add(fmt::format("core.{}", f.name)); });
  // What is better when there is more of it comes first.
  std::stable_sort(knobs.begin() + first_core, knobs.end(), [](const Knob& a, const Knob& b) {
    return a.sense == Sense::better && b.sense != Sense::better;
  });
  return knobs;
}

double value_of(const Machine& machine, const Knob& knob) {
  const auto [owner, field] = split(knob.name);
  if (owner == "core" && field.starts_with(overhead_prefix)) {
    return number_of(machine.core.overhead, field.substr(overhead_prefix.size())).value_or(0);
  }
  if (owner == "core") return number_of(machine.core, field).value_or(0);
  const Level* level = level_of(machine, owner);
  assert(level != nullptr);
  return raw_value(*level, field, knob.unit, machine.core.frequency.value);
}

Machine with_knob(const Machine& machine, const Knob& knob, double value) {
  Machine m = override_knob(machine, knob.name + "=" + exact(knob, value)).machine;
  scale_measurements(machine, m);
  return m;
}

std::optional<Machine> possible(const Machine& machine, const Knob& knob, double value,
                                std::string& why) {
  try {
    Machine m = with_knob(machine, knob, value);
    check(m, "");
    return m;
  } catch (const Error& e) {
    // The mend speaks to whoever wrote a machine file.
    why = e.what();
    why = why.substr(0, why.find("; "));
    return {};
  }
}

std::string exact(const Knob& knob, double value) {
  switch (knob.unit) {
    case KnobUnit::bytes:
    case KnobUnit::count:
    case KnobUnit::bits:
      value = std::max(1.0, std::round(is_power_of_two(knob) ? to_power_of_two(value) : value));
      if (!(value < std::ldexp(1.0, 63))) throw UsageError(knob.name, "value out of range", "");
      return fmt::format("{}", static_cast<std::int64_t>(value));
    case KnobUnit::bytes_per_second:
      return fmt::format("{}B/s", value);
    case KnobUnit::bytes_per_cycle:
      return fmt::format("{}B/cycle", value);
    case KnobUnit::hertz:
      return fmt::format("{}Hz", value);
    case KnobUnit::cycles:
    case KnobUnit::number:
      break;
  }
  return fmt::format("{}", value);
}

std::string display(const Knob& knob, double value, double like) {
  if (knob.unit != KnobUnit::bytes) return display(knob, value);
  const std::string other = to_binary_display(Bytes(std::llround(like)));
  const std::string unit = other.substr(other.find(' '));  // " B", " KiB", ...
  const auto steps = std::string_view("BKMGT").find(unit[1]);
  const double scaled = std::ldexp(value, -10 * static_cast<int>(steps));
  return (scaled < 1000 ? fmt::format("{:.4g}", scaled) : fmt::format("{:.0f}", scaled)) + unit;
}

std::string display(const Knob& knob, double value) {
  switch (knob.unit) {
    case KnobUnit::bytes:
      return to_binary_display(Bytes(std::llround(value)));
    case KnobUnit::count:
    case KnobUnit::bits:
      return fmt::format("{:.0f}", value);
    case KnobUnit::bytes_per_second:
      return fmt::format("{:.4g}GB/s", value / 1e9);
    case KnobUnit::bytes_per_cycle:
      return fmt::format("{:.4g}B/cycle", value);
    case KnobUnit::hertz:
      return fmt::format("{:.4g}GHz", value / 1e9);
    case KnobUnit::cycles:
    case KnobUnit::number:
      break;
  }
  return fmt::format("{:.4g}", value);
}

double parse_value(const Knob& knob, std::string_view text, KnobUnit& unit) {
  unit = knob.unit;
  if (text.ends_with('x')) return knob.base * plain_number(knob, text.substr(0, text.size() - 1));
  try {
    switch (knob.unit) {
      case KnobUnit::bytes:
        return static_cast<double>(parse_bytes(text).value());
      case KnobUnit::count:
      case KnobUnit::bits:
        return static_cast<double>(parse_count(text, split(knob.name).field));
      case KnobUnit::bytes_per_second:
      case KnobUnit::bytes_per_cycle: {
        const Bandwidth b = parse_bandwidth(text);
        unit = b.unit == Bandwidth::Unit::bytes_per_cycle ? KnobUnit::bytes_per_cycle
                                                          : KnobUnit::bytes_per_second;
        return b.value;
      }
      case KnobUnit::hertz:
        return parse_frequency(text).value();
      case KnobUnit::cycles:
      case KnobUnit::number:
        break;
    }
  } catch (const UsageError& e) {
    throw UsageError(knob.name, e.what(), "");
  }
  return plain_number(knob, text);
}

}  // namespace tcsim
