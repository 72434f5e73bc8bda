#include "core/machine/override.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "core/error.hpp"

namespace tcsim {

namespace {

constexpr std::string_view level_fields =
    "capacity, ways, line, replacement, inclusion, write, write_allocate, prefetch, bandwidth, "
    "shared_by, latency, energy";
constexpr std::string_view core_fields =
    "frequency, vector_bits, vector_registers, fma_per_cycle, fma_latency, cores";

std::string known_knobs(const Machine& machine) {
  std::string levels;
  for (const Level& l : machine.levels) levels += (levels.empty() ? "" : "|") + l.name;
  return fmt::format("the knobs are {}|caches.{{{}}} and core.{{{}}}", levels, level_fields,
                     core_fields);
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

  int small(int now, const char* what) const {
    const std::int64_t value =
        whole(now, [&](const std::string& text) { return parse_count(text, what); });
    if (value > std::numeric_limits<int>::max()) fail("value out of range", "use a smaller value");
    return static_cast<int>(value);
  }

  double real(double now) const {
    double value = 0;
    if (factor_) {
      value = now * *factor_;
    } else {
      const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
      if (error != std::errc() || end != text_.data() + text_.size()) value = 0;
    }
    require_positive(value);
    return value;
  }

  // One of `choices` (all_replacements, ...), by its to_text().
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

  void require_positive(double value) const {
    if (!(std::isfinite(value) && value > 0)) {
      fail(fmt::format("'{}' is no number greater than 0", text_),
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

void set_core(Core& core, std::string_view field, const Setting& s, const Machine& machine) {
  if (field == "frequency") {
    core.frequency = hypothetical(s.frequency(core.frequency.value));
  } else if (field == "vector_bits") {
    core.vector_bits = hypothetical(s.small(core.vector_bits.value, "bits"));
  } else if (field == "vector_registers") {
    core.vector_registers = hypothetical(s.small(core.vector_registers.value, "registers"));
  } else if (field == "fma_per_cycle") {
    core.fma_per_cycle = hypothetical(s.real(core.fma_per_cycle.value));
  } else if (field == "fma_latency") {
    core.fma_latency = hypothetical(Cycles(s.real(core.fma_latency.value.value())));
  } else if (field == "cores") {
    core.cores = s.small(core.cores, "cores");
  } else {
    s.fail("no such knob", known_knobs(machine));
  }
}

// How a cache works. Returns whether `field` says that.
bool set_policy(Level& level, std::string_view field, const Setting& s) {
  constexpr std::string_view policies[] = {"replacement", "inclusion", "write", "write_allocate",
                                           "prefetch"};
  if (std::find(std::begin(policies), std::end(policies), field) == std::end(policies))
    return false;
  if (level.kind != LevelKind::cache) {
    s.fail(level.name + " is not a cache", fmt::format("only caches have {}", field));
  }
  if (field == "replacement") {
    level.replacement = hypothetical(s.word(all_replacements));
  } else if (field == "inclusion") {
    level.inclusion = hypothetical(s.word(all_inclusions));
  } else if (field == "write") {
    level.write = s.word(all_write_policies);
  } else if (field == "write_allocate") {
    level.write_allocate = s.flag();
  } else {
    level.prefetch = s.word(all_prefetches);
  }
  return true;
}

std::string set_level(Level& level, std::string_view field, const Setting& s,
                      const std::string& knob, const Machine& machine) {
  if (field == "capacity" || field == "ways" || field == "line") {
    return set_geometry(level, field, s, knob);
  }
  if (set_policy(level, field, s)) return "";
  if (field == "bandwidth") {
    level.bandwidth = hypothetical(s.bandwidth(level.bandwidth.value));
  } else if (field == "shared_by") {
    level.shared_by = s.small(level.shared_by, "cores");
  } else if (field == "latency") {
    if (!level.latency && s.is_relative()) {
      s.fail(level.name + " has no latency to scale", "set a number of cycles");
    }
    const double now = level.latency ? level.latency->value.value() : 0;
    level.latency = hypothetical(Cycles(s.real(now)));
  } else if (field == "energy") {
    if (!level.energy && s.is_relative()) {
      s.fail(level.name + " has no energy to scale", "set an energy such as 25pJ/B");
    }
    level.energy = hypothetical(s.energy(level.energy ? level.energy->value : JoulesPerByte(0)));
  } else {
    s.fail("no such knob", known_knobs(machine));
  }
  return "";
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
    if (field != "cores") result.machine.core.peaks.clear();
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
    level.series.clear();
    return result;
  }
  setting.fail("no such knob", known_knobs(machine));
}

}  // namespace tcsim
