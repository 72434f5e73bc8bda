#include "core/plan/arrays.hpp"

namespace tcsim {

const char* to_text(ArrayId a) {
  return std::array{"A", "B", "C", "packed A", "packed B"}[static_cast<std::size_t>(a)];
}

}  // namespace tcsim
