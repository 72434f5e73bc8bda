#include <fmt/format.h>

#include <algorithm>

#include "chains/levels/device.hpp"
#include "core/error.hpp"
#include "core/units/text.hpp"

namespace tcsim::chains {

ByTensor<std::int64_t> matrix_elements(const fusion::OperationTree& tree, int statement,
                                       const std::vector<std::int64_t>& tile) {
  const fusion::IndexSet& indices = tree.statement(statement).indices;
  ByTensor<std::int64_t> elements{};
  for (TensorId t : all_tensors) {
    elements[t] = 1;
    const fusion::IndexSet own = tree.array(fusion::array_of(tree, statement, t)).set();
    for (std::size_t i = 0; i < indices.size(); ++i) {
      if (fusion::contains(own, indices[i])) elements[t] *= tile[i];
    }
  }
  return elements;
}

Bytes require_able(const DeviceFacts& device, Bytes element, std::int64_t tiles,
                   const ByTensor<std::int64_t>& matrices) {
  if (element == Bytes(8) && !device.f64) {
    throw UnsupportedError("--device", device.name + " has no f64 (cl_khr_fp64)",
                           "use --type f32, or another device");
  }
  const Bytes of_tiles = element * tiles;
  Bytes most = of_tiles, of_matrices;
  for (TensorId t : all_tensors) {
    const Bytes one = element * matrices[t];
    of_matrices += one;
    most = std::max(most, one);
  }
  const Bytes all = of_tiles + of_matrices;
  if (all <= device.memory && most <= device.most_at_once) return of_matrices;
  throw UnsupportedError(
      "--device",
      fmt::format("{} has {}, {} in one piece; tiles and matrices take {}, {} in one piece",
                  device.name, to_display(device.memory), to_display(device.most_at_once),
                  to_display(all), to_display(most)),
      "give the innermost level less");
}

#ifndef TCSIM_HAS_OPENCL

template <class T>
std::unique_ptr<Device<T>> open_device(const fusion::OperationTree&, std::int64_t,
                                       const ByTensor<std::int64_t>&,
                                       const std::vector<TunedDevice>&) {
  throw UnsupportedError("--device", "this tcsim was built without OpenCL and CLBlast",
                         "install libclblast-dev and ocl-icd-opencl-dev and build again");
}
template std::unique_ptr<Device<float>> open_device(const fusion::OperationTree&, std::int64_t,
                                                    const ByTensor<std::int64_t>&,
                                                    const std::vector<TunedDevice>&);
template std::unique_ptr<Device<double>> open_device(const fusion::OperationTree&, std::int64_t,
                                                     const ByTensor<std::int64_t>&,
                                                     const std::vector<TunedDevice>&);

#endif

}  // namespace tcsim::chains
