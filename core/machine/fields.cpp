#include "core/machine/fields.hpp"

#include <bit>

namespace tcsim {

bool Range::holds(double value) const {
  if (!(value >= least && value <= most)) return false;  // nor is what is no number
  return !power_of_two || std::has_single_bit(static_cast<std::uint64_t>(value));
}

}  // namespace tcsim
