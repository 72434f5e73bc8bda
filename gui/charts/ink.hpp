// What a mark stands for; gui/widgets/theme says which colour and pattern that is, in light and in
// dark. Colours are those of Okabe and Ito, which the colour-blind tell apart, and each also has a
// pattern of its own.
#pragma once

#include <algorithm>
#include <cstddef>

namespace tcsim::gui {

enum class Ink {
  text,
  faint,
  baseline,
  here,     // where the machine is
  compute,  // the compute roof
  A,
  B,
  C,
  packedA,
  packedB,
  link0,  // to the registers; the links further out follow
  link1,
  link2,
  link3,
  link4,
  link5,
  pin0,  // of the designs to compare with; the next ones follow
  pin1,
  pin2,
  pin3,
  pin4,
  pin5,
};

// Behind six the inks begin again.
inline Ink pinInk(std::size_t pin) {
  return Ink{static_cast<int>(Ink::pin0) + static_cast<int>(pin % 6)};
}

inline Ink linkInk(int link) { return Ink{static_cast<int>(Ink::link0) + std::clamp(link, 0, 5)}; }

}  // namespace tcsim::gui
