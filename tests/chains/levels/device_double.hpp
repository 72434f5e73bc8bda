// A device in the host's memory, with loops in place of kernels, that fails at its n-th call and is
// lost from then on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "chains/levels/device.hpp"

namespace tcsim::chains {

// Calls of a run's device: how many there were, and the first one that fails.
struct DeviceCalls {
  std::int64_t done = 0, fails = std::numeric_limits<std::int64_t>::max();
};

template <class T>
class DeviceDouble : public Device<T> {
 public:
  DeviceDouble(const fusion::OperationTree& tree, std::int64_t tiles,
               const ByTensor<std::int64_t>& matrices, DeviceCalls& calls)
      : tree_(tree), calls_(calls), memory_(static_cast<std::size_t>(tiles)) {
    const Bytes element(sizeof(T));
    matrices_ = require_able({name(), true, memory(), most_at_once()}, element, tiles, matrices);
  }

  std::string name() const override { return "a double"; }
  DeviceSizes sizes() const override { return {}; }
  bool use(const DeviceSizes&) override { return false; }
  Bytes matrices() const override { return matrices_; }
  Bytes memory() const override { return Bytes(std::int64_t{1} << 30); }
  Bytes most_at_once() const override { return memory(); }

  void write(std::int64_t place, const T* from, std::int64_t elements) override {
    call("a transfer to it");
    std::copy_n(from, elements, at(place, elements));
  }
  void read(std::int64_t place, T* to, std::int64_t elements) override {
    call("a transfer from it");
    std::copy_n(at(place, elements), elements, to);
  }
  void clear(std::int64_t place, std::int64_t elements) override {
    call("clearing its memory");
    std::fill_n(at(place, elements), elements, T{});
  }
  void run(const fusion::Leaf& shape, const ByTensor<std::int64_t>& begin) override {
    call("a product on it");
    const fusion::IndexSet& indices = tree_.statement(shape.statement).indices;
    std::vector<std::int64_t> point(indices.size(), 0);
    const auto element = [&](TensorId t) -> T& {
      std::int64_t place = 0;
      const std::vector<int>& axes =
          tree_.array(fusion::array_of(tree_, shape.statement, t)).indices;
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        const auto i = std::ranges::lower_bound(indices, axes[axis]) - indices.begin();
        place = place * shape.places[t][axis] + point[static_cast<std::size_t>(i)];
      }
      return *at(begin[t] + place, 1);
    };
    while (true) {
      element(TensorId::C) += element(TensorId::A) * element(TensorId::B);
      std::size_t i = 0;
      while (i < point.size() && ++point[i] == shape.tile[i]) point[i++] = 0;
      if (i == point.size()) return;
    }
  }

 private:
  void call(const char* what) {
    if (++calls_.done >= calls_.fails) throw DeviceFailure(std::string(what) + " failed");
  }
  T* at(std::int64_t place, std::int64_t elements) {
    EXPECT_LE(static_cast<std::size_t>(place + elements), memory_.size());
    return memory_.data() + place;
  }

  const fusion::OperationTree& tree_;
  DeviceCalls& calls_;
  std::vector<T> memory_;
  Bytes matrices_;
};

inline Devices doubles(DeviceCalls& calls) {
  return {[&](const fusion::OperationTree& tree, std::int64_t tiles,
              const ByTensor<std::int64_t>& matrices, const std::vector<TunedDevice>&) {
            return std::make_unique<DeviceDouble<float>>(tree, tiles, matrices, calls);
          },
          [&](const fusion::OperationTree& tree, std::int64_t tiles,
              const ByTensor<std::int64_t>& matrices, const std::vector<TunedDevice>&) {
            return std::make_unique<DeviceDouble<double>>(tree, tiles, matrices, calls);
          }};
}

}  // namespace tcsim::chains
