#include "chains/tensors.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "core/units/divisor.hpp"

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

Blocks::Blocks(const std::vector<fusion::Range>& whole, const Extents& block,
               const Extents& origin) {
  for (std::size_t axis = 0; axis < whole.size(); ++axis) {
    const fusion::Range& r = whole[axis];
    const std::int64_t first = r.begin - (r.begin - origin[axis]) % block[axis];
    const std::int64_t count = ceil_div(r.begin + r.size - first, block[axis]);
    axes_.push_back({r, first, block[axis], count});
    count_ *= count;
  }
}

std::vector<fusion::Range> Blocks::operator[](std::int64_t number) const {
  std::vector<fusion::Range> at(axes_.size());
  for (std::size_t axis = axes_.size(); axis-- > 0;) {
    const Axis& a = axes_[axis];
    const std::int64_t from = a.first + number % a.count * a.block;
    const std::int64_t begin = std::max(from, a.whole.begin);
    at[axis] = {begin, std::min(from + a.block, a.whole.begin + a.whole.size) - begin};
    number /= a.count;
  }
  return at;
}

}  // namespace tcsim::chains
