#include "chains/inputs.hpp"

#include <string>
#include <vector>

#include "chains/tensors.hpp"
#include "core/fusion/leaf.hpp"
#include "core/hash.hpp"
#include "core/stop.hpp"

namespace tcsim::chains {

namespace fs = std::filesystem;
using fusion::OperationTree;
using fusion::Range;

namespace {

class Filler {
 public:
  Filler(const Numbers& numbers, const std::string& name)
      : seed_(numbers.seed), whole_(numbers.whole) {
    for (char c : name) seed_ = splitmix64(seed_ + static_cast<unsigned char>(c));
  }
  double at(std::int64_t place) const {
    const std::uint64_t bits = splitmix64(seed_ + static_cast<std::uint64_t>(place)) >> 11;
    if (whole_) return static_cast<double>(bits % 9) - 4;
    return static_cast<double>(bits) * 0x1p-52 - 1;
  }

 private:
  std::uint64_t seed_;
  bool whole_;
};

template <class T>
void add_numbers(const Filler& filler, const Extents& extents, const std::vector<Range>& at,
                 std::size_t axis, std::int64_t place, std::vector<T>& to) {
  if (axis == at.size()) {
    to.push_back(static_cast<T>(filler.at(place)));
    return;
  }
  for (std::int64_t i = 0; i < at[axis].size; ++i) {
    add_numbers(filler, extents, at, axis + 1, place * extents[axis] + at[axis].begin + i, to);
  }
}

template <class T>
void fill(const Extents& extents, const Filler& filler, TensorFile& made) {
  std::vector<T> block;
  std::vector<Range> all;
  for (std::int64_t n : extents) all.push_back({0, n});
  const Extents first(extents.size(), 0);
  for_each_block(all, made.chunk(), first, [&](const std::vector<Range>& at) {
    StopScope::heed();
    block.clear();
    add_numbers(filler, extents, at, 0, 0, block);
    made.write(at, block.data());
  });
  made.flush();
}

}  // namespace

void make_input(const OperationTree& tree, int array, const fs::path& file, const Numbers& numbers,
                const std::function<TensorFile(const fs::path&)>& created) {
  const fs::path part = file.string() + ".part";
  const Filler filler(numbers, tree.array(array).name);
  {
    TensorFile made = created(part);
    if (fusion::element_type(tree) == ElementType::f64) {
      fill<double>(tree.extents(array), filler, made);
    } else {
      fill<float>(tree.extents(array), filler, made);
    }
  }
  fs::rename(part, file);
}

}  // namespace tcsim::chains
