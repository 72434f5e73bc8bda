// Contractions at random that are small, most of them within a first cache.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>

#include "core/workload/parse.hpp"

namespace tcsim::test {

// Up to two dimensions of each class, 2 to 24 places, in any order.
inline Contraction small_contraction(std::mt19937_64& random) {
  const auto up_to = [&](int n) { return static_cast<int>(random() % (n + 1)); };
  for (;;) {
    std::string m, n, k, h;
    char next = 'a';
    for (std::string* dims : {&m, &n, &k, &h}) {
      for (int i = up_to(2); i > 0; --i) *dims += next++;
    }
    std::string sizes;
    for (char d = 'a'; d < next; ++d) sizes += fmt::format(",{}={}", d, 2 + up_to(22));
    std::string c = m + n + h, a = m + k + h, b = k + n + h;
    if (c.empty() || a.empty() || b.empty()) continue;
    for (std::string* tensor : {&c, &a, &b}) std::shuffle(tensor->begin(), tensor->end(), random);
    return parse_contraction(c + "-" + a + "-" + b, parse_sizes(sizes.substr(1)),
                             up_to(1) == 0 ? Layout::row_major : Layout::column_major,
                             up_to(1) == 0 ? ElementType::f32 : ElementType::f64);
  }
}

}  // namespace tcsim::test
