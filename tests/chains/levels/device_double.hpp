// A device in the host's memory, with loops in place of kernels, that fails at its n-th call and is
// lost from then on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
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
  std::int64_t large() const override { return 0; }
  DeviceSizes sizes() const override { return {}; }
  bool use(const DeviceSizes&) override { return false; }
  Bytes matrices() const override { return matrices_; }
  Bytes on_host() const override {
    return Bytes(static_cast<std::int64_t>((memory_.size() + 2 * this->piece) * sizeof(T)));
  }
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
  T* next_piece() override { return pieces_[next_].data(); }
  void send(std::int64_t place, std::int64_t elements) override {
    call("a transfer to it");
    // It goes when the memory is asked for again.
    go(next_);
    EXPECT_LE(elements, this->piece);
    sent_[next_] = {place, elements};
    next_ = 1 - next_;
    go(next_);
  }
  void finish() override {
    call("a transfer to it");
    go(0), go(1);
  }
  void ask(std::int64_t place, std::int64_t elements) override {
    call("a transfer from it");
    EXPECT_LE(elements, this->piece);
    EXPECT_LE(asked_.size(), 1u);
    // What was there before is gone.
    std::ranges::fill(pieces_[next_], std::numeric_limits<T>::quiet_NaN());
    std::copy_n(at(place, elements), elements, pieces_[next_].begin());
    asked_.push_back(next_);
    next_ = 1 - next_;
  }
  const T* arrived() override {
    call("a transfer from it");
    const std::size_t which = asked_.front();
    asked_.pop_front();
    return pieces_[which].data();
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
  void go(std::size_t which) {
    const auto [place, elements] = std::exchange(sent_[which], {0, 0});
    std::copy_n(pieces_[which].begin(), elements, at(place, elements));
  }
  void call(const char* what) {
    if (++calls_.done >= calls_.fails) throw DeviceFailure(std::string(what) + " failed");
  }
  T* at(std::int64_t place, std::int64_t elements) {
    EXPECT_LE(static_cast<std::size_t>(place + elements), memory_.size());
    return memory_.data() + place;
  }

  const fusion::OperationTree& tree_;
  DeviceCalls& calls_;
  std::array<std::vector<T>, 2> pieces_{std::vector<T>(Device<T>::piece),
                                        std::vector<T>(Device<T>::piece)};
  std::array<std::pair<std::int64_t, std::int64_t>, 2> sent_{};
  std::size_t next_ = 0;
  std::deque<std::size_t> asked_;
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
