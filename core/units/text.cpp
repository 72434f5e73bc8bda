#include "core/units/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <system_error>

#include "core/error.hpp"

namespace tcsim {

namespace {

struct Prefix {
  std::string_view text;
  std::int64_t scale;
};

constexpr std::int64_t kibi = 1024, kilo = 1000;
// Smallest first.
constexpr std::array binary_prefixes{Prefix{"Ki", kibi}, Prefix{"Mi", kibi* kibi},
                                     Prefix{"Gi", kibi* kibi* kibi},
                                     Prefix{"Ti", kibi* kibi* kibi* kibi}};
constexpr std::array decimal_prefixes{Prefix{"k", kilo}, Prefix{"M", kilo* kilo},
                                      Prefix{"G", kilo* kilo* kilo},
                                      Prefix{"T", kilo* kilo* kilo* kilo}};

std::string_view trim(std::string_view s) {
  constexpr std::string_view space = " \t";
  const auto begin = s.find_first_not_of(space);
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(space) - begin + 1);
}

std::string quoted(std::string_view text) { return fmt::format("'{}'", text); }

struct Parsed {
  std::string_view digits;
  double value;
  std::string_view unit;  // what follows, without space
};

// A positive number and its unit; `example` is the mend.
Parsed split(std::string_view text, const std::string& example) {
  const std::string_view s = trim(text);
  Parsed parsed{};
  // from_chars also reads "inf" and "nan", which are no sizes.
  const bool number = !s.empty() && (s[0] == '.' || s[0] == '-' || (s[0] >= '0' && s[0] <= '9'));
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), parsed.value);
  if (!number || error == std::errc::invalid_argument) {
    throw UsageError(quoted(text), "no number", example);
  }
  if (error == std::errc::result_out_of_range) {
    throw UsageError(quoted(text), "number out of range", example);
  }
  if (!(parsed.value > 0)) throw UsageError(quoted(text), "not greater than 0", example);
  const auto length = static_cast<std::size_t>(end - s.data());
  parsed.digits = s.substr(0, length);
  parsed.unit = trim(s.substr(length));
  return parsed;
}

std::optional<std::int64_t> scale_in(std::span<const Prefix> prefixes, std::string_view prefix) {
  if (prefix.empty()) return 1;
  for (const Prefix& p : prefixes) {
    if (p.text == prefix) return p.scale;
  }
  return {};
}

// Bytes per unit: "KiB", "kB", "B".
std::optional<std::int64_t> byte_scale(std::string_view unit) {
  if (unit.empty() || unit.back() != 'B') return {};
  unit.remove_suffix(1);
  const auto binary = scale_in(binary_prefixes, unit);
  return binary ? binary : scale_in(decimal_prefixes, unit);
}

// The shortest of "VALUE UNIT" over the prefixes that reads back as `value`.
std::string shortest(double value, std::string_view unit) {
  std::string best = fmt::format("{}{}", value, unit);
  for (const Prefix& p : decimal_prefixes) {
    const double scale = static_cast<double>(p.scale);
    const double scaled = value / scale;
    std::string text = fmt::format("{}{}{}", scaled, p.text, unit);
    if (scaled * scale == value && scaled >= 1 && text.size() <= best.size()) {
      best = std::move(text);
    }
  }
  return best;
}

// Four significant digits with the unit that leaves 1 to 999.9 before it; `units` grow by 1000.
std::string four_digits(double value, std::span<const std::string_view> units) {
  std::size_t unit = 0;
  // 999.95 already shows as 1000.
  while (std::abs(value) >= 999.95 && unit + 1 < units.size()) value /= 1000, ++unit;
  if (std::abs(value) >= 9999.5) return fmt::format("{:.0f} {}", value, units[unit]);
  return fmt::format("{:.4g} {}", value, units[unit]);
}

struct EnergyUnit {
  std::string_view text;
  double in_a_joule;
};
// Smallest first.
constexpr std::array energy_units{EnergyUnit{"fJ/B", 1e15}, EnergyUnit{"pJ/B", 1e12},
                                  EnergyUnit{"nJ/B", 1e9},  EnergyUnit{"uJ/B", 1e6},
                                  EnergyUnit{"mJ/B", 1e3},  EnergyUnit{"J/B", 1}};

struct TimeUnit {
  std::string_view text;
  double seconds;
};
constexpr std::array time_units{TimeUnit{"s", 1},     TimeUnit{"min", 60},  TimeUnit{"h", 3600},
                                TimeUnit{"ms", 1e-3}, TimeUnit{"us", 1e-6}, TimeUnit{"ns", 1e-9}};

}  // namespace

Bytes parse_bytes(std::string_view text) {
  const std::string example = "write a size such as 48KiB, 1MiB, 64B or 2GB";
  const Parsed p = split(text, example);
  const auto scale = p.unit.empty() ? std::optional<std::int64_t>(1) : byte_scale(p.unit);
  if (!scale) {
    throw UsageError(quoted(text), fmt::format("'{}' is no unit of size", p.unit),
                     "use B, KiB, MiB, GiB, TiB (powers of 1024) or kB, MB, GB, TB (of 1000)");
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  // Whole numbers stay exact beyond 2^53.
  std::int64_t whole = 0;
  const char* const end = p.digits.data() + p.digits.size();
  const auto [stop, error] = std::from_chars(p.digits.data(), end, whole);
  if (error == std::errc() && stop == end) {
    if (whole > most / *scale) throw UsageError(quoted(text), "size out of range", example);
    return Bytes(whole * *scale);
  }
  const double bytes = p.value * static_cast<double>(*scale);
  if (!(bytes < std::ldexp(1.0, 63))) {
    throw UsageError(quoted(text), "size out of range", example);
  }
  // 16.76MB is a whole number although 16.76 times 10^6, as doubles, is none.
  const double nearest = std::round(bytes);
  if (nearest / static_cast<double>(*scale) != p.value) {
    throw UsageError(quoted(text), "not a whole number of bytes", example);
  }
  return Bytes(static_cast<std::int64_t>(nearest));
}

Bandwidth parse_bandwidth(std::string_view text) {
  const std::string example = "write a bandwidth such as 25.6GB/s or 25.28B/cycle";
  const Parsed p = split(text, example);
  const auto slash = p.unit.find('/');
  const auto scale = byte_scale(trim(p.unit.substr(0, slash)));
  const std::string_view per =
      slash == p.unit.npos ? std::string_view{} : trim(p.unit.substr(slash + 1));
  if (!scale || (per != "s" && per != "cycle")) {
    throw UsageError(quoted(text), fmt::format("'{}' is no unit of bandwidth", p.unit), example);
  }
  return {p.value * static_cast<double>(*scale),
          per == "s" ? Bandwidth::Unit::bytes_per_second : Bandwidth::Unit::bytes_per_cycle};
}

Hertz parse_frequency(std::string_view text) {
  const std::string example = "write a frequency such as 2.6GHz or 800MHz";
  const Parsed p = split(text, example);
  std::string_view prefix = p.unit;
  std::optional<std::int64_t> scale;
  if (prefix.ends_with("Hz")) {
    prefix.remove_suffix(2);
    scale = scale_in(decimal_prefixes, prefix);
  }
  if (!scale) {
    throw UsageError(quoted(text), fmt::format("'{}' is no unit of frequency", p.unit), example);
  }
  return Hertz(p.value * static_cast<double>(*scale));
}

Seconds parse_seconds(std::string_view text) {
  const std::string example = "write a time such as 60s, 5min or 1h";
  const Parsed p = split(text, example);
  for (const TimeUnit& u : time_units) {
    if (p.unit != u.text) continue;
    const Seconds time(p.value * u.seconds);
    if (!(time.value() > 0) || !std::isfinite(time.value())) {
      throw UsageError(quoted(text), "number out of range", example);
    }
    return time;
  }
  throw UsageError(quoted(text), fmt::format("'{}' is no unit of time", p.unit), example);
}

JoulesPerByte parse_energy(std::string_view text) {
  const std::string example = "write an energy per byte such as 25pJ/B or 1.2nJ/B";
  const Parsed p = split(text, example);
  const std::string_view unit = p.unit.empty() ? "pJ/B" : p.unit;
  for (const EnergyUnit& e : energy_units) {
    if (unit != e.text) continue;
    const JoulesPerByte energy(p.value / e.in_a_joule);
    if (!(energy.value() > 0)) throw UsageError(quoted(text), "number out of range", example);
    return energy;
  }
  throw UsageError(quoted(text), fmt::format("'{}' is no unit of energy per byte", unit), example);
}

std::int64_t parse_count(std::string_view text, std::string_view what) {
  const std::string_view s = trim(text);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), value);
  if (error != std::errc() || end != s.data() + s.size() || value <= 0) {
    throw UsageError(quoted(text), fmt::format("no number of {}", what),
                     "write a whole number of at least 1");
  }
  return value;
}

std::string to_text(Bytes bytes) {
  std::string number = fmt::format("{}", bytes.value());
  std::string text = number + "B";
  if (bytes == Bytes(0)) return text;
  // Binary prefixes first: decimal ones only where the number gets shorter, as 32GB does.
  for (const auto& prefixes : {binary_prefixes, decimal_prefixes}) {
    for (const Prefix& p : prefixes) {
      if (bytes.value() % p.scale != 0) continue;
      const std::string scaled = fmt::format("{}", bytes.value() / p.scale);
      const bool binary = p.text.ends_with('i');
      if (scaled.size() < number.size() || (binary && scaled.size() == number.size())) {
        number = scaled;
        text = fmt::format("{}{}B", scaled, p.text);
      }
    }
  }
  return text;
}

std::string to_text(Bandwidth b) {
  if (b.unit == Bandwidth::Unit::bytes_per_cycle) return fmt::format("{}B/cycle", b.value);
  return shortest(b.value, "B/s");
}

std::string to_text(Hertz f) { return shortest(f.value(), "Hz"); }

std::string to_text(JoulesPerByte energy) {
  for (const EnergyUnit& e : energy_units) {
    const double scaled = energy.value() * e.in_a_joule;
    if (scaled >= 1 && scaled < 1000 && scaled / e.in_a_joule == energy.value()) {
      return fmt::format("{}{}", scaled, e.text);
    }
  }
  return fmt::format("{}J/B", energy.value());
}

std::string to_display(Bytes bytes) {
  static constexpr std::array<std::string_view, 7> units{"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  return four_digits(static_cast<double>(bytes.value()), units);
}

std::string to_binary_display(Bytes bytes) {
  static constexpr std::array<const char*, 5> units{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes.value());
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, units[unit]);
}

std::string to_display(Seconds seconds) {
  static constexpr std::array<std::string_view, 4> units{"ns", "us", "ms", "s"};
  return four_digits(seconds.value() * 1e9, units);
}

std::string to_display(Joules energy) {
  static constexpr std::array<std::string_view, 5> units{"pJ", "nJ", "uJ", "mJ", "J"};
  return four_digits(energy.value() * 1e12, units);
}

}  // namespace tcsim
