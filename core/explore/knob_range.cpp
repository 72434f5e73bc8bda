#include "core/explore/knob_range.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "core/error.hpp"

namespace tcsim {

namespace {

std::string_view trim(std::string_view s) {
  const auto begin = s.find_first_not_of(" \t");
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const auto end = text.find(separator);
    parts.push_back(trim(text.substr(0, end)));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

// Points of a capacity's range over those that are asked for: more are thinned out. Source: chosen.
constexpr double too_many = 1.5;

constexpr const char* forms =
    "write LOW..HIGH such as 8MiB..128MiB or 1x..1.5x, LOW..HIGH:POINTS, LOW..HIGH:POINTS:linear, "
    "or values with commas between";

class Reader {
 public:
  Reader(const Machine& machine, std::string_view text, int points, Ends ends)
      : machine_(machine), points_(points), ends_(ends) {
    const auto equals = text.find('=');
    const std::string_view name = trim(text.substr(0, equals));
    knob_ = find_knob(machine, name);
    spec_ = equals == text.npos ? std::string_view{} : trim(text.substr(equals + 1));
    if (spec_.empty()) fail("no values");
  }

  KnobRange read() {
    std::vector<double> values =
        spec_.find("..") == spec_.npos ? listed() : spread(split(spec_, ':'));
    std::sort(values.begin(), values.end());
    return fit(values);
  }

 private:
  [[noreturn]] void fail(const std::string& problem) const {
    throw UsageError(knob_.name, problem, forms);
  }

  // An absolute bandwidth decides in which unit the knob is turned.
  std::vector<double> read_all(const std::vector<std::string_view>& texts) {
    std::optional<KnobUnit> given;
    KnobUnit unit{};
    for (std::string_view text : texts) {
      if (text.empty()) fail("a value is missing");
      parse_value(knob_, text, unit);
      if (text.ends_with('x')) continue;
      if (given && *given != unit) fail("some values are per second, others per cycle");
      given = unit;
    }
    if (given && *given != knob_.unit) knob_ = find_knob(machine_, knob_.name, given);
    std::vector<double> values;
    for (std::string_view text : texts) {
      values.push_back(parse_value(knob_, text, unit));
      if (!std::isfinite(values.back())) fail(fmt::format("'{}' is out of range", text));
    }
    return values;
  }

  std::vector<double> listed() {
    is_list_ = true;
    const auto texts = split(spec_, ',');
    if (texts.size() > most_points) fail("too many values");
    return read_all(texts);
  }

  std::vector<double> spread(const std::vector<std::string_view>& parts) {
    const auto dots = parts[0].find("..");
    if (dots == parts[0].npos) fail(fmt::format("'{}' is no range", spec_));
    const auto ends = read_all({trim(parts[0].substr(0, dots)), trim(parts[0].substr(dots + 2))});
    double low = ends[0], high = ends[1];
    if (low > high) std::swap(low, high);
    bool linear = false, counted = false;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      if (parts[i] == "linear" || parts[i] == "log") {
        linear = parts[i] == "linear";
      } else if (!counted) {
        points_ = count(parts[i]);
        counted = true;
      } else {
        fail(fmt::format("'{}' after the number of points", parts[i]));
      }
    }
    if (parts.size() == 1 && knob_.name.ends_with(".capacity")) return by_powers_of_two(low, high);
    std::vector<double> values{low};
    for (int i = 1; i + 1 < points_; ++i) {
      const double t = static_cast<double>(i) / (points_ - 1);
      values.push_back(linear ? low + t * (high - low) : low * std::pow(high / low, t));
    }
    values.push_back(high);
    return values;
  }

  // The ends, the machine's own value, and between them powers of two in even parts.
  std::vector<double> by_powers_of_two(double low, double high) const {
    constexpr double near = 1.01;  // a value within this factor of another is left out; chosen
    const double octaves = std::log2(high / low);
    int parts = 4;
    while (parts > 1 && octaves * parts > too_many * points_) parts /= 2;
    int apart = 1;  // whole powers
    while (octaves / apart > too_many * points_) ++apart;
    std::vector<double> values{low, high};
    if (knob_.base > low && knob_.base < high) values.push_back(knob_.base);
    for (int e = static_cast<int>(std::floor(std::log2(low))); std::ldexp(1.0, e) < high;
         e += apart) {
      for (int i = 0; i < parts; ++i) {
        const double v = std::ldexp(1.0 + static_cast<double>(i) / parts, e);
        if (v < low || v > high) continue;
        const bool apart_from_all = std::ranges::none_of(
            values, [&](double other) { return v < other * near && other < v * near; });
        if (apart_from_all) values.push_back(v);
      }
    }
    return values;
  }

  int count(std::string_view text) const {
    int n = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
    if (error != std::errc() || end != text.data() + text.size() || n < 2 || n > most_points) {
      fail(fmt::format("'{}' is neither log nor linear nor a number of points from 2 to {}", text,
                       most_points));
    }
    return n;
  }

  // The value that the machine has when the knob is set so; empty if it cannot be.
  std::optional<double> settle(double wanted) {
    if (ends_ == Ends::as_given) return value_of(with_knob(machine_, knob_, wanted), knob_);
    std::string why;
    const auto machine = possible(machine_, knob_, wanted, why);
    if (machine) return value_of(*machine, knob_);
    why_ = why;
    return {};
  }

  // The last possible value on the way from a possible to an impossible one.
  double edge(double good, double bad) {
    for (int i = 0; i < 60 && std::abs(bad / good - 1) > 1e-12; ++i) {
      const double middle = std::sqrt(good * bad);
      if (settle(middle)) {
        good = middle;
      } else {
        bad = middle;
      }
    }
    return settle(good).value_or(good);
  }

  KnobRange fit(const std::vector<double>& wanted) {
    KnobRange range{knob_, {}, ""};
    std::vector<double> kept;
    for (double v : wanted) {
      if (const auto settled = settle(v)) {
        range.values.push_back(*settled);
        kept.push_back(v);
      }
    }
    if (kept.empty()) {
      throw UsageError(knob_.name, why_, "vary it where a machine can be, or --set others too");
    }
    const auto end = [&](double good, double bad) {
      const double last = is_list_ ? good : edge(good, bad);
      settle(bad);  // for its reason
      range.values.push_back(last);
      range.remark += fmt::format("{}{} ends at {}: {}", range.remark.empty() ? "" : "; ",
                                  knob_.name, display(knob_, last), why_);
    };
    if (kept.front() != wanted.front()) end(kept.front(), wanted.front());
    if (kept.back() != wanted.back()) end(kept.back(), wanted.back());
    std::sort(range.values.begin(), range.values.end());
    const auto same = [](double a, double b) { return b <= a * (1 + 1e-9); };
    range.values.erase(std::unique(range.values.begin(), range.values.end(), same),
                       range.values.end());
    return range;
  }

  const Machine& machine_;
  Knob knob_;
  std::string_view spec_;
  int points_;
  Ends ends_;
  bool is_list_ = false;
  std::string why_;
};

}  // namespace

KnobRange parse_knob_range(const Machine& machine, std::string_view text, int points, Ends ends) {
  return Reader(machine, text, points, ends).read();
}

}  // namespace tcsim
