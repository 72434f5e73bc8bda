#include "chains/tensors.hpp"

#include <functional>
#include <numeric>

namespace tcsim::chains {

using fusion::OperationTree;

std::filesystem::path file_of(const std::filesystem::path& folder, const OperationTree& tree,
                              int array) {
  return folder / (tree.array(array).name + ".h5");
}

std::int64_t product(const Extents& extents) {
  return std::accumulate(extents.begin(), extents.end(), std::int64_t{1}, std::multiplies<>());
}

Extents extents_of(const std::vector<fusion::Range>& ranges) {
  Extents extents;
  for (const fusion::Range& r : ranges) extents.push_back(r.size);
  return extents;
}

}  // namespace tcsim::chains
