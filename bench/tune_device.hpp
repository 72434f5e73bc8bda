// CLBlast's sizes on a device of OpenCL, found by running a product of large matrices there with
// others (chains/levels/device_sizes.hpp), and the file in which they are kept.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <random>
#include <vector>

#include "chains/levels/device.hpp"
#include "core/fusion/leaf.hpp"
#include "core/units/quantity.hpp"

namespace tcsim::bench {

struct DeviceTuning {
  Bytes element;
  std::int64_t rows = 0;         // and columns, of the matrices
  FlopsPerSecond before, after;  // with the sizes at the beginning, and with these
  int tried = 0;
  chains::DeviceSizes sizes;
};

// Of a product of square matrices of so many rows.
double product_flops(std::int64_t rows);

// `product` multiplies matrices of so many rows, Device::large() at least; the device has room for
// its three tiles. Sizes with another result than those at the beginning are none. Ends at the
// first try behind the limit; the device uses the quickest then, if it still does anything. `found`
// is called with each that is better than all before. Throws Interrupted between two of them.
template <class T>
DeviceTuning tune_device(chains::Device<T>& device, const fusion::Leaf& product, std::int64_t rows,
                         Seconds limit,
                         const std::function<void(int tried, double share)>& progress,
                         const std::function<void(const DeviceTuning&)>& found,
                         std::mt19937_64& random);

// devices.toml beside the host's machine file; empty without a home folder.
std::filesystem::path devices_file();
// None where the file is not there. Throws InputError for one that cannot be read.
std::vector<chains::TunedDevice> load_devices(const std::filesystem::path& file);
// Returns whether it was written: not where there is no folder, or it may not be written, nor sizes
// that are not legal (which CLBlast may bring for a device).
bool keep_device(const std::filesystem::path& file, const chains::TunedDevice& entry);

}  // namespace tcsim::bench
