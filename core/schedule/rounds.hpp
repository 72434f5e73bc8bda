// Rounds: what stands around the loops over columns that are nearest to the kernel runs in rounds,
// each of which reads one tile of the left operand again for each of its columns. The executor asks
// for the next round's tile meanwhile (kernels/ahead.hpp), and the model has to know it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/schedule/path.hpp"
#include "core/units/quantity.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

struct Round {
  std::size_t depth = 0;                           // in Path::steps, of its outermost loop
  std::int64_t rows = 0, columns = 0, places = 0;  // of its tiles of the operands, the largest
  bool comes_again = false;                        // loops over columns stand around it too
};
// None where no loop over columns stands within one over anything else.
std::optional<Round> round_of(const Path& path);

// What is in the caches without being asked for, as a rule: less than the smallest that there are.
inline constexpr Bytes asked_beyond_first{32 << 10}, asked_beyond_second{1 << 20};

// Whether kernels ask for the left operand: both operands are in place, the left one's rows lie one
// place along k behind the other, a round reads more than the first cache has, and the second one
// does not have it all. They bring it from the second cache into the first one, too.
bool asks_ahead(const Contraction& contraction, const Groups& groups, const Path& path);

}  // namespace tcsim
