#pragma once

#include <functional>
#include <string>

#include "core/error.hpp"

namespace tcsim::test {

// what() of the InputError that f throws; "" if it throws none.
inline std::string refusal_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

}  // namespace tcsim::test
