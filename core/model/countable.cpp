#include "core/model/countable.hpp"

#include <fmt/format.h>

namespace tcsim {

namespace {

constexpr Elements most_elements(std::int64_t{1} << 53);

}  // namespace

void require_countable(const Contraction& contraction) {
  for (TensorId t : all_tensors) {
    if (contraction.size(t) < most_elements) continue;
    throw TooLargeError(
        contraction.name(),
        fmt::format("too large, because tensor {} has 2^53 elements or more", to_text(t)),
        "use smaller sizes");
  }
}

void refuse_link(const Contraction& contraction, const std::string& link) {
  throw TooLargeError(
      contraction.name(),
      fmt::format("too large, because 2^62 bytes (4.6 EB) or more would pass link {}", link),
      "use smaller sizes");
}

}  // namespace tcsim
