#include "chains/levels/device.hpp"
#include "core/error.hpp"

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

#ifndef TCSIM_HAS_OPENCL

template <class T>
std::unique_ptr<Device<T>> open_device(const fusion::OperationTree&, std::int64_t,
                                       const ByTensor<std::int64_t>&) {
  throw UnsupportedError("--device", "this tcsim was built without OpenCL and CLBlast",
                         "install libclblast-dev and ocl-icd-opencl-dev and build again");
}
template std::unique_ptr<Device<float>> open_device(const fusion::OperationTree&, std::int64_t,
                                                    const ByTensor<std::int64_t>&);
template std::unique_ptr<Device<double>> open_device(const fusion::OperationTree&, std::int64_t,
                                                     const ByTensor<std::int64_t>&);

#endif

}  // namespace tcsim::chains
