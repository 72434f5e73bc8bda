// Inputs that a run makes: numbers that a seed, the tensor's name and the place say, whatever the
// order in which they are made.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>

#include "chains/tensor_files.hpp"
#include "core/fusion/operation_tree.hpp"

namespace tcsim::chains {

struct Numbers {
  std::uint64_t seed = 1;
  // Whole numbers from -4 to 4 instead of any in [-1, 1]: sums of products are exact, so that a
  // result has the same bytes in whatever order it is summed.
  bool whole = false;
};

// The file of an input, which `created` makes under the name that it is given; it has its own name
// when it is done. Heeds StopScope.
void make_input(const fusion::OperationTree& tree, int array, const std::filesystem::path& file,
                const Numbers& numbers,
                const std::function<TensorFile(const std::filesystem::path&)>& created);

}  // namespace tcsim::chains
