// Texts with small faults, for parsers.
#pragma once

#include <string>
#include <vector>

#include "tests/core/random_schedule.hpp"

namespace tcsim::test {

// Up to three times some bytes are left out, said twice, or give way to a scrap.
inline std::string damaged(std::string text, const std::vector<std::string>& scraps,
                           Random& random) {
  for (std::int64_t n = random.between(1, 3); n > 0; --n) {
    const auto at = static_cast<std::size_t>(random.between(0, std::ssize(text)));
    const auto size = static_cast<std::size_t>(random.between(0, 12));
    switch (random.between(0, 3)) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        text.insert(at, random.pick(scraps));
        break;
      case 2:
        text.replace(at, 1, random.pick(scraps));
        break;
      default:
        text.insert(
            at, text.substr(static_cast<std::size_t>(random.between(0, std::ssize(text))), size));
    }
  }
  return text;
}

}  // namespace tcsim::test
