// Strong types for everything that is counted or measured, so that bytes, lines and elements
// cannot be mixed up: Quantity<Tag, Rep> adds and compares with its own kind, scales by plain
// numbers, and its ratio is a plain number. Conversions between kinds are named functions.
#pragma once

#include <compare>
#include <cstdint>

namespace tcsim {

template <class Tag, class Rep>
class Quantity {
 public:
  using rep = Rep;

  constexpr Quantity() = default;
  constexpr explicit Quantity(Rep value) : value_(value) {}

  constexpr Rep value() const { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;

  constexpr Quantity& operator+=(Quantity o) { return value_ += o.value_, *this; }
  constexpr Quantity& operator-=(Quantity o) { return value_ -= o.value_, *this; }

  friend constexpr Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend constexpr Quantity operator*(Quantity a, Rep s) { return Quantity(a.value_ * s); }
  friend constexpr Quantity operator*(Rep s, Quantity a) { return Quantity(a.value_ * s); }
  friend constexpr Rep operator/(Quantity a, Quantity b) { return a.value_ / b.value_; }

 private:
  Rep value_{};
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Elements = Quantity<struct ElementsTag, std::int64_t>;
using Lines = Quantity<struct LinesTag, std::int64_t>;
using Cycles = Quantity<struct CyclesTag, double>;
using Seconds = Quantity<struct SecondsTag, double>;
using Hertz = Quantity<struct HertzTag, double>;
using BytesPerSecond = Quantity<struct BytesPerSecondTag, double>;
using Joules = Quantity<struct JoulesTag, double>;
using JoulesPerByte = Quantity<struct JoulesPerByteTag, double>;
using FlopsPerSecond = Quantity<struct FlopsPerSecondTag, double>;

// Index into a workload's dimensions.
enum class DimId : int {};
// Index into a machine's memory levels, 0 is the innermost.
enum class LevelId : int {};

constexpr int index(DimId d) { return static_cast<int>(d); }
constexpr int index(LevelId l) { return static_cast<int>(l); }

inline Seconds operator/(Bytes b, BytesPerSecond r) {
  return Seconds(static_cast<double>(b.value()) / r.value());
}
inline Joules operator*(Bytes b, JoulesPerByte e) {
  return Joules(static_cast<double>(b.value()) * e.value());
}

}  // namespace tcsim
