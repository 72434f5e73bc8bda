#include "core/machine/instruction_limit.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <string_view>

#include "core/error.hpp"

namespace tcsim {

int most_vector_bits() {
  const char* const limit = std::getenv("TCSIM_ISA");
  const std::string_view text = limit == nullptr ? "" : limit;
  if (text.empty() || text == "avx512") return 512;
  if (text == "avx2") return 256;
  if (text == "plain") return 128;
  throw UsageError("TCSIM_ISA", fmt::format("'{}' is no instruction set of kernels", text),
                   "use avx512, avx2 or plain");
}

}  // namespace tcsim
