// An array with an entry for each value of an enumeration 0, 1, ..., N - 1.
#pragma once

#include <array>
#include <cstddef>
#include <type_traits>

namespace tcsim {

// An aggregate, as std::array is: EnumArray<TensorId, int, 3>{1, 2, 3}.
template <class Enum, class T, std::size_t N>
requires std::is_enum_v<Enum>
struct EnumArray {
  std::array<T, N> values;

  static constexpr std::size_t place(Enum e) { return static_cast<std::size_t>(e); }

  constexpr T& operator[](Enum e) { return values[place(e)]; }
  constexpr const T& operator[](Enum e) const { return values[place(e)]; }

  static constexpr std::size_t size() { return N; }
  constexpr void fill(const T& value) { values.fill(value); }
  constexpr auto begin() { return values.begin(); }
  constexpr auto end() { return values.end(); }
  constexpr auto begin() const { return values.begin(); }
  constexpr auto end() const { return values.end(); }

  bool operator==(const EnumArray&) const = default;
};

}  // namespace tcsim
