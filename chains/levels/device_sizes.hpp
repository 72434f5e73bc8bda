// Sizes of CLBlast's kernel for products of large matrices ("Xgemm"): blocks of work groups and of
// work items, vectors, what lies in local memory. Those that CLBlast brings are for devices that
// its authors tuned it on. For another device better ones are looked for once, by `tcsim probe
// --levels FOLDER --device`, kept in a file, and used by every run on that device.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "core/units/quantity.hpp"

namespace tcsim::chains {

// By CLBlast's names: "MWG" and so on.
using DeviceSizes = std::map<std::string, std::int64_t>;

// Whether the kernel is written for them: all are there, each is one of those that are tried, or of
// blocks and vectors another power of two up to 256, and blocks divide as CLBlast's tuner demands.
bool are_legal(const DeviceSizes& sizes);

struct SizeSearch {
  DeviceSizes best;
  Seconds time;
  int tried = 0;
};
// Begins with `from`, which takes so long, and what was quick on other devices. The next 16 are
// drawn from all legal ones that need no more local memory than each device has, and every third
// behind them; the others differ from the best so far in one to three sizes. `time_of` has nothing
// where a device cannot do it. Ends when `go_on` says so, or when 10 000 draws in a row were known.
SizeSearch search_sizes(const DeviceSizes& from, Seconds time,
                        const std::function<std::optional<Seconds>(const DeviceSizes&)>& time_of,
                        const std::function<bool()>& go_on, std::mt19937_64& random);

struct TunedDevice {
  std::string device;  // Device::name()
  Bytes element;       // 4 or 8
  DeviceSizes sizes;
  bool operator==(const TunedDevice&) const = default;
};
// nullptr if there is none.
const DeviceSizes* sizes_of(const std::vector<TunedDevice>& all, const std::string& device,
                            Bytes element);
// In the place of what there was of that device and type.
void keep_sizes(std::vector<TunedDevice>& all, TunedDevice entry);

// TOML with schema = 1 and a table [[device]] for each. Throws InputError with "PLACE:LINE:COLUMN",
// and how to begin anew; so it does for sizes that are not legal.
std::vector<TunedDevice> parse_devices(std::string_view text, const std::string& place);
std::string to_toml(const std::vector<TunedDevice>& all);

}  // namespace tcsim::chains
