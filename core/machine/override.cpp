#include "core/machine/override.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.hpp"
#include "core/machine/fields.hpp"
#include "core/machine/spread.hpp"

namespace tcsim {

namespace {

template <class Owner>
std::string field_names() {
  std::string names;
  for_each_field<Owner>([&](const Declared& field) {
    names += (names.empty() ? "" : ", ") + std::string(field.name);
  });
  return names;
}

std::string known_knobs(const Machine& machine) {
  std::string levels;
  for (const Level& l : machine.levels) levels += (levels.empty() ? "" : "|") + l.name;
  return fmt::format("the knobs are {}|caches.{{{}}}, core.{{{}}} and core.overhead.{{{}}}", levels,
                     field_names<Level>(), field_names<Core>(), field_names<Overhead>());
}

// One knob and the text that it is set to.
class Setting {
  // The knob is the place, whatever parser finds the fault.
  template <class Parse>
  auto read(Parse parse) const {
    try {
      return parse(text_);
    } catch (const UsageError& e) {
      throw UsageError(knob_, e.what(), "");
    }
  }

 public:
  Setting(std::string_view knob, std::string_view value)
      : knob_(knob), text_(value), factor_(relative(value)) {
    if (factor_ && !(std::isfinite(*factor_) && *factor_ > 0)) {
      fail(fmt::format("'{}' is no factor", value), "write a factor such as 1.2x");
    }
  }

  bool is_relative() const { return factor_.has_value(); }

  [[noreturn]] void fail(const std::string& problem, const std::string& mend) const {
    throw UsageError(knob_, problem, mend);
  }

  // A number of bytes or a count: `parse` reads an absolute value, a factor rounds to the nearest
  // whole number, at least 1.
  template <class Parse>
  std::int64_t whole(std::int64_t now, Parse parse) const {
    if (!factor_) return read(parse);
    const double value = std::max(1.0, std::round(static_cast<double>(now) * *factor_));
    if (!(value < std::ldexp(1.0, 63))) fail("value out of range", "use a smaller factor");
    return static_cast<std::int64_t>(value);
  }

  int small(int now, std::string_view what, bool zero_too) const {
    if (zero_too && (text_ == "0" || (factor_ && now == 0))) return 0;
    const std::int64_t value =
        whole(now, [&](const std::string& text) { return parse_count(text, what); });
    if (value > std::numeric_limits<int>::max()) fail("value out of range", "use a smaller value");
    return static_cast<int>(value);
  }

  // Greater than 0, or 0 if it may be that.
  double real(double now, bool zero_too) const {
    if (factor_) {
      const double scaled = now * *factor_;
      if (!(zero_too && now == 0)) require_positive(scaled, zero_too);
      return scaled;
    }
    double value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    const bool whole = error == std::errc() && end == text_.data() + text_.size();
    if (!(zero_too && whole && value == 0)) require_positive(whole ? value : 0, zero_too);
    return value;
  }

  // One of `choices` (all_values()), by its to_text().
  template <class Choices>
  auto word(const Choices& choices) const {
    std::string known;
    for (const auto choice : choices) {
      if (text_ == to_text(choice)) return choice;
      known += (known.empty() ? "" : ", ") + std::string(to_text(choice));
    }
    fail(fmt::format("'{}' is unknown", text_), "use one of " + known);
  }

  bool flag() const {
    if (text_ != "true" && text_ != "false") {
      fail(fmt::format("'{}' is neither true nor false", text_), "use true or false");
    }
    return text_ == "true";
  }

  Bandwidth bandwidth(Bandwidth now) const {
    const Bandwidth set = factor_ ? Bandwidth{now.value * *factor_, now.unit}
                                  : read([](const std::string& t) { return parse_bandwidth(t); });
    require_positive(set.value);
    return set;
  }

  Hertz frequency(Hertz now) const {
    const Hertz set =
        factor_ ? now * *factor_ : read([](const std::string& t) { return parse_frequency(t); });
    require_positive(set.value());
    return set;
  }

  SetIndex set_index() const {
    return read([](const std::string& t) { return parse_set_index(t); });
  }

  JoulesPerByte energy(JoulesPerByte now) const {
    const JoulesPerByte set =
        factor_ ? now * *factor_ : read([](const std::string& t) { return parse_energy(t); });
    require_positive(set.value());
    return set;
  }

 private:
  static std::optional<double> relative(std::string_view value) {
    if (!value.ends_with('x')) return {};
    value.remove_suffix(1);
    double factor = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), factor);
    if (error != std::errc() || end != value.data() + value.size()) factor = 0;
    return factor;
  }

  void require_positive(double value, bool zero_too = false) const {
    if (!(std::isfinite(value) && value > 0)) {
      fail(
          fmt::format("'{}' is no number {}", text_, zero_too ? "of at least 0" : "greater than 0"),
          "write a number, or a factor such as 1.2x");
    }
  }

  std::string knob_;
  std::string text_;
  std::optional<double> factor_;
};

template <class T>
Figure<T> hypothetical(T value) {
  return {value, Origin::hypothetical, ""};
}

// Brings a cache's capacity to `wanted`, rounded to the nearest whole number of sets. Returns the
// note, empty if `wanted` fits.
std::string set_capacity(Level& cache, Bytes wanted, const Setting& setting,
                         const std::string& knob) {
  const std::int64_t line = cache.line.value.value();
  if (cache.ways.value > std::numeric_limits<std::int64_t>::max() / line) {
    setting.fail(fmt::format("{} ways of {} bytes are too many", cache.ways.value, line),
                 "use fewer ways");
  }
  const std::int64_t way_bytes = cache.ways.value * line;
  std::int64_t sets = wanted.value() / way_bytes;
  const std::int64_t over = wanted.value() % way_bytes;
  // Half a set rounds up; the last comparison keeps the product in range.
  if (sets == 0 ||
      (over >= way_bytes - over && sets < std::numeric_limits<std::int64_t>::max() / way_bytes)) {
    ++sets;
  }
  const Bytes capacity(sets * way_bytes);
  if (capacity == wanted) {
    if (capacity != cache.capacity.value) cache.capacity = hypothetical(capacity);
    return "";
  }
  cache.capacity = hypothetical(capacity);
  cache.capacity.source = "rounded from " + to_text(wanted);
  return fmt::format("{}: {} is not a whole number of {}-way sets of {} lines; {} is used", knob,
                     to_text(wanted), cache.ways.value, to_text(cache.line.value),
                     to_text(capacity));
}

std::string set_geometry(Level& level, std::string_view field, const Setting& setting,
                         const std::string& knob) {
  const auto bytes = [](const std::string& t) { return parse_bytes(t).value(); };
  const bool cache = level.kind == LevelKind::cache;
  const Bytes before = level.capacity.value;
  if (field == "capacity") {
    if (!cache && before == Bytes(0) && setting.is_relative()) {
      setting.fail(level.name + " is unlimited", "set a size such as 64GiB");
    }
    const Bytes wanted(setting.whole(before.value(), bytes));
    if (cache && level.sets() == 1) {
      level.ways = hypothetical(std::max<std::int64_t>(1, wanted / level.line.value));
    }
    level.capacity = hypothetical(wanted);
    return cache ? set_capacity(level, wanted, setting, knob) : "";
  }
  if (!cache) setting.fail(level.name + " is not a cache", "only caches have ways and lines");
  if (field == "ways") {
    const std::int64_t ways = setting.whole(
        level.ways.value, [](const std::string& t) { return parse_count(t, "ways"); });
    level.ways = hypothetical(ways);
  } else {
    level.line = hypothetical(Bytes(setting.whole(level.line.value.value(), bytes)));
  }
  return set_capacity(level, before, setting, knob);
}

// The value that a setting gives to a field whose value is `now`.
template <class T>
T set_value(const Setting& s, const T& now, const Declared& field) {
  [[maybe_unused]] const bool zero_too = field.range && field.range->holds(0);
  if constexpr (std::is_same_v<T, bool>) {
    return s.flag();
  } else if constexpr (std::is_same_v<T, int>) {
    return s.small(now, field.noun, zero_too);
  } else if constexpr (std::is_same_v<T, double>) {
    return s.real(now, zero_too);
  } else if constexpr (std::is_same_v<T, Cycles>) {
    return Cycles(s.real(now.value(), zero_too));
  } else if constexpr (std::is_same_v<T, Hertz>) {
    return s.frequency(now);
  } else if constexpr (std::is_same_v<T, Bandwidth>) {
    return s.bandwidth(now);
  } else if constexpr (std::is_same_v<T, JoulesPerByte>) {
    return s.energy(now);
  } else if constexpr (std::is_same_v<T, SetIndex>) {
    return s.set_index();
  } else {
    return s.word(all_values<T>());
  }
}

// Sets one field, but no geometry. `owner_name` is for errors.
template <class Owner, class Member>
void set_field(Owner& owner, const std::string& owner_name, const Field<Owner, Member>& field,
               const Setting& s) {
  using Value = typename Held<Member>::Value;
  if constexpr (std::is_same_v<Value, Bytes> || std::is_same_v<Value, std::int64_t>) {
    assert(field.part == Part::geometry);
  } else {
    const Value* now = value_of(owner, field);
    if (now == nullptr && s.is_relative()) {
      s.fail(fmt::format("{} has no {} to scale", owner_name, field.name),
             fmt::format("set {}", field.example));
    }
    Value value = set_value(s, now ? *now : Value{}, field);
    if constexpr (Held<Member>::is_figure) {
      owner.*field.member = hypothetical(value);
    } else {
      owner.*field.member = value;
    }
  }
}

void set_core(Core& core, std::string_view name, const Setting& s, const Machine& machine) {
  bool found = false;
  if (name.starts_with(overhead_prefix)) {
    for_each_field<Overhead>([&](const auto& field) {
      if (field.name != name.substr(overhead_prefix.size())) return;
      found = true;
      set_field(core.overhead, "the core", field, s);
    });
  }
  for_each_field<Core>([&](const auto& field) {
    if (field.name != name) return;
    found = true;
    set_field(core, "the core", field, s);
  });
  if (!found) s.fail("no such knob", known_knobs(machine));
}

// Returns the note.
std::string set_level(Level& level, std::string_view name, const Setting& s,
                      const std::string& knob, const Machine& machine) {
  bool found = false;
  std::string note;
  for_each_field<Level>([&](const auto& field) {
    if (field.name != name) return;
    found = true;
    if (field.part == Part::geometry) {
      note = set_geometry(level, name, s, knob);
      return;
    }
    if (!belongs(field, level.kind)) {
      s.fail(level.name + " is not a cache", fmt::format("only caches have {}", name));
    }
    set_field(level, level.name, field, s);
  });
  if (!found) s.fail("no such knob", known_knobs(machine));
  return note;
}

// Measurements go where their figure is another one now, unless it scales what was measured.
void follow_rates(const Machine& before, Machine& now, bool scaled) {
  if (scaled) return scale_measurements(before, now);
  for (std::size_t l = 0; l < now.levels.size(); ++l) {
    if (!(now.levels[l].bandwidth.value == before.levels[l].bandwidth.value)) {
      now.levels[l].series.clear();
    }
  }
  if (now.peak(Bytes(8)) != before.peak(Bytes(8))) now.core.peaks.clear();
}

std::string_view trim(std::string_view s) {
  const auto begin = s.find_first_not_of(" \t");
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t") - begin + 1);
}

}  // namespace

Overridden override_knob(const Machine& machine, std::string_view knob_equals_value) {
  const auto equals = knob_equals_value.find('=');
  const std::string knob(trim(knob_equals_value.substr(0, equals)));
  if (equals == knob_equals_value.npos) {
    throw UsageError(knob, "no value", "write KNOB=VALUE, such as L3.capacity=64MiB");
  }
  const std::string_view value = trim(knob_equals_value.substr(equals + 1));
  if (value.empty()) {
    throw UsageError(knob, "no value", "write KNOB=VALUE, such as L3.capacity=64MiB");
  }
  const auto dot = knob.find('.');
  const std::string owner = knob.substr(0, dot);
  const std::string field = dot == knob.npos ? "" : knob.substr(dot + 1);

  Overridden result{machine, ""};
  const Setting setting(knob, value);
  if (owner == "core") {
    set_core(result.machine.core, field, setting, machine);
    follow_rates(machine, result.machine, setting.is_relative());
    return result;
  }
  if (owner == "caches") {
    for (const Level& level : machine.levels) {
      if (level.kind != LevelKind::cache) continue;
      Overridden one =
          override_knob(result.machine, fmt::format("{}.{}={}", level.name, field, value));
      result.machine = std::move(one.machine);
      result.note += (result.note.empty() || one.note.empty() ? "" : "; ") + one.note;
    }
    return result;
  }
  for (Level& level : result.machine.levels) {
    if (level.name != owner) continue;
    result.note = set_level(level, field, setting, knob, machine);
    follow_rates(machine, result.machine, setting.is_relative());
    return result;
  }
  setting.fail("no such knob", known_knobs(machine));
}

}  // namespace tcsim
