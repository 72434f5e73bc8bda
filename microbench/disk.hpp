// What a disk takes to move bytes: rates of large blocks read and written, and what a small
// transfer takes. Past the page cache (O_DIRECT) where the file system allows it, which the figures
// say; otherwise with the cache dropped where that is possible, and they may be the memory's.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "core/units/quantity.hpp"

namespace tcsim {

struct DiskFigures {
  std::string folder;
  BytesPerSecond read, write;  // medians of the repetitions
  Seconds transfer;            // of one that is small: the median
  double read_spread = 0, write_spread = 0, transfer_spread = 0;  // relative_spread()
  bool direct = false;                                            // past the page cache
  bool operator==(const DiskFigures&) const = default;
};

struct DiskProbeOptions {
  Bytes file{std::int64_t{256} << 20};  // that is written, and gone afterwards
  Bytes block{std::int64_t{4} << 20};   // that is moved at a time; divides the file
  int repetitions = 5;
  int transfers = 256;  // small ones
  std::function<void(const std::string& what, double share)> progress = [](const auto&, double) {};
  std::stop_token stop = {};
};

// Throws InputError where the folder is none, may not be written, or has not the room; Interrupted.
DiskFigures probe_disk(const std::filesystem::path& folder, const DiskProbeOptions& options = {});

// disk.toml beside the host's machine file; empty without a home folder.
std::filesystem::path disk_file();
std::string to_toml(const DiskFigures& figures);
// None where the file is not there. Throws InputError for one that cannot be read.
std::optional<DiskFigures> load_disk(const std::filesystem::path& file);

}  // namespace tcsim
