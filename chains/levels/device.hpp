// The innermost level in the memory of a device: tiles go there and back through OpenCL, statements
// run there as matrix products of CLBlast, between kernels that lay a tile out as matrices and
// back. A tcsim without OpenCL or CLBlast, a computer without a device, and a device that cannot do
// it have a reason, and the host computes.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chains/levels/device_sizes.hpp"
#include "core/error.hpp"
#include "core/fusion/leaf.hpp"

namespace tcsim::chains {

// A call that a device did not do, which is lost from then on, with what it held.
class DeviceFailure : public UnsupportedError {
 public:
  explicit DeviceFailure(const std::string& problem)
      : UnsupportedError("the device", problem, "") {}
};

template <class T>
class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;
  // Of CLBlast's kernel for large matrices: those of so many rows and columns, or more.
  virtual std::int64_t large() const = 0;
  // Sizes of that kernel, for elements of T. Other ones are for this device as long as the program
  // runs; false where it does not do them, and then they have to be set anew.
  virtual DeviceSizes sizes() const = 0;
  virtual bool use(const DeviceSizes& sizes) = 0;
  // Beside tiles: matrices.
  virtual Bytes matrices() const = 0;
  // Of the host's memory: pieces on their way, and where that is the device's, all that it holds.
  virtual Bytes on_host() const = 0;
  // That it has, and that can be had in one piece.
  virtual Bytes memory() const = 0;
  virtual Bytes most_at_once() const = 0;

  // Elements on their way there or back in memory of the host that is quickest for that
  // (device_pieces.hpp). At most `piece` of them at a time, of which two are under way at most. All
  // throw DeviceFailure.
  static constexpr std::int64_t piece = (std::int64_t{4} << 20) / sizeof(T);
  // Memory for what is sent next.
  virtual T* next_piece() = 0;
  virtual void send(std::int64_t place, std::int64_t elements) = 0;
  virtual void finish() = 0;  // all that was sent is there
  // What is asked for arrives in that order; it stays where it is until the second ask() behind
  // its own.
  virtual void ask(std::int64_t place, std::int64_t elements) = 0;
  virtual const T* arrived() = 0;

  // Elements at a place of the device's tiles; done when they return. Throw DeviceFailure.
  virtual void write(std::int64_t place, const T* from, std::int64_t elements) = 0;
  virtual void read(std::int64_t place, T* to, std::int64_t elements) = 0;
  virtual void clear(std::int64_t place, std::int64_t elements) = 0;
  // out += left * right on tiles that begin at these places.
  virtual void run(const fusion::Leaf& shape, const ByTensor<std::int64_t>& begin) = 0;
};

// Elements of a statement's tile as matrices: what each operand takes.
ByTensor<std::int64_t> matrix_elements(const fusion::OperationTree& tree, int statement,
                                       const std::vector<std::int64_t>& tile);

// With room for so many elements of tiles, and matrices of so many, and CLBlast's sizes where some
// are kept for it. Throws UnsupportedError: this tcsim has no OpenCL, there is no device, it has no
// f64, too little memory, or fails.
template <class T>
std::unique_ptr<Device<T>> open_device(const fusion::OperationTree& tree, std::int64_t tiles,
                                       const ByTensor<std::int64_t>& matrices,
                                       const std::vector<TunedDevice>& tuned);

// How a run opens one: as above, or as a test does.
template <class T>
using OpenDevice = std::function<std::unique_ptr<Device<T>>(
    const fusion::OperationTree& tree, std::int64_t tiles, const ByTensor<std::int64_t>& matrices,
    const std::vector<TunedDevice>& tuned)>;
struct Devices {
  OpenDevice<float> f32 = open_device<float>;
  OpenDevice<double> f64 = open_device<double>;
};

// What a device says of itself.
struct DeviceFacts {
  std::string name;
  bool f64 = false;
  Bytes memory, most_at_once;
};
// Throws UnsupportedError where it has no f64 and elements are of eight bytes, or where tiles and
// matrices of so many elements do not fit. Returns what the matrices take.
Bytes require_able(const DeviceFacts& device, Bytes element, std::int64_t tiles,
                   const ByTensor<std::int64_t>& matrices);

}  // namespace tcsim::chains
