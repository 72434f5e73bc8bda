// Groups of a schedule by the names of their dimensions.
#pragma once

#include <array>
#include <string>

#include "core/schedule/path.hpp"

namespace tcsim::test {

// groups("mnk", {"m", "n", "k", ""}): `dims` are the names of all dimensions, in their order.
inline Groups groups(const std::string& dims, const std::array<std::string, 4>& names) {
  Groups all;
  for (DimClass g : all_dim_classes) {
    for (char name : names[at(g)]) all[g].push_back(DimId{static_cast<int>(dims.find(name))});
  }
  return all;
}

inline Groups groups(const Contraction& c, const std::array<std::string, 4>& names) {
  std::string dims;
  for (int d = 0; d < c.dim_count(); ++d) dims += c.dim(DimId{d}).name;
  return groups(dims, names);
}

inline std::string names_of(const Contraction& c, const Group& group) {
  std::string names;
  for (DimId d : group) names += c.dim(d).name;
  return names;
}

}  // namespace tcsim::test
