#pragma once

#include "core/model/traffic.hpp"

namespace tcsim::test {

// Lines of one array that enter a level, where lines are one element of 8 bytes.
inline std::int64_t elements_in(const Traffic& t, std::size_t link, ArrayId a) {
  return t.links[link].at(Phase::compute, a).in.value() / 8;
}

}  // namespace tcsim::test
