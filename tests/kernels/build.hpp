// Short ways to write contractions and schedules in tests.
#pragma once

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/schedule/schedule.hpp"
#include "core/workload/contraction.hpp"

namespace tcsim {

// contraction("ab", "ac", "cb", {{'a', 3}, ...}): output first, then A and B.
inline Contraction contraction(const std::string& c, const std::string& a, const std::string& b,
                               std::vector<Dimension> dims, Layout layout = Layout::column_major,
                               ElementType type = ElementType::f64) {
  const auto ids = [&](const std::string& names) {
    std::vector<DimId> found;
    for (char name : names) {
      int i = 0;
      while (dims[static_cast<std::size_t>(i)].name != name) ++i;
      found.push_back(DimId{i});
    }
    return found;
  };
  std::array tensors{ids(a), ids(b), ids(c)};
  return Contraction(fmt::format("{}-{}-{}", c, a, b), std::move(dims), std::move(tensors), layout,
                     type);
}

inline Node loop(DimClass group, std::int64_t tile, Node body) {
  return {Loop{group, Elements(tile), std::move(body)}};
}
inline Node pack(TensorId tensor, const std::string& level, Node body) {
  return {Move{Move::Kind::pack, tensor, level, std::move(body)}};
}
inline Node kernel(std::int64_t mr, std::int64_t nr) {
  return {Kernel{Elements(mr), Elements(nr)}};
}

}  // namespace tcsim
