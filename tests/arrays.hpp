// The table of arrays of schedules that pack both operands, for tests that work figures out by
// hand.
#pragma once

#include <vector>

#include "core/plan/arrays.hpp"

namespace tcsim::test {

inline constexpr ArrayId packed_A{3}, packed_B{4};

inline Step move_of(TensorId t, Move::Kind kind = Move::Kind::pack) {
  Step s;
  s.kind = Step::Kind::move;
  s.moves = kind;
  s.tensor = t;
  return s;
}

inline Arrays both_packed() {
  return Arrays(std::vector{move_of(TensorId::B), move_of(TensorId::A)});
}

}  // namespace tcsim::test
