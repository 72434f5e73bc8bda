#include "microbench/disk.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <vector>

#include "core/error.hpp"
#include "core/io/read_file.hpp"
#include "core/io/toml.hpp"
#include "core/statistics.hpp"
#include "core/text/safe.hpp"
#include "microbench/host.hpp"

namespace tcsim {

namespace {

// Of a small transfer, and what O_DIRECT wants of addresses and sizes.
constexpr std::size_t small = 4096;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// A file without a name, gone when it is closed.
class ScratchFile {
 public:
  explicit ScratchFile(const std::filesystem::path& folder) : folder_(folder.string()) {
    std::string file_name = (folder / "tcsim-disk-XXXXXX").string();
    file_ = ::mkostemp(file_name.data(), O_CLOEXEC);
    if (file_ < 0) fail();
    ::unlink(file_name.c_str());
    const int flags = ::fcntl(file_, F_GETFL);
    direct_ = ::fcntl(file_, F_SETFL, flags | O_DIRECT) == 0;
  }
  ~ScratchFile() { ::close(file_); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  bool direct() const { return direct_; }

  void write(const std::byte* from, std::size_t size, std::size_t at) {
    if (moved(size, [&] { return ::pwrite(file_, from, size, static_cast<off_t>(at)); })) return;
    fail();
  }
  void read(std::byte* to, std::size_t size, std::size_t at) {
    if (moved(size, [&] { return ::pread(file_, to, size, static_cast<off_t>(at)); })) return;
    fail();
  }
  void sync() {
    if (::fdatasync(file_) != 0) fail();
  }
  // What the page cache has of it is of no use.
  void forget() { ::posix_fadvise(file_, 0, 0, POSIX_FADV_DONTNEED); }

 private:
  // Some file systems take O_DIRECT and refuse what is moved with it.
  template <class F>
  bool moved(std::size_t size, F&& move) {
    ssize_t done = move();
    if (done < 0 && errno == EINVAL && direct_) {
      direct_ = false;
      ::fcntl(file_, F_SETFL, ::fcntl(file_, F_GETFL) & ~O_DIRECT);
      done = move();
    }
    return done == static_cast<ssize_t>(size);
  }
  [[noreturn]] void fail() const {
    const int error = errno;
    throw InputError(folder_,
                     std::string("a file cannot be written there: ") + std::strerror(error),
                     "name a folder on the disk, with the rights and the room for it");
  }

  std::string folder_;
  int file_ = -1;
  bool direct_ = false;
};

}  // namespace

DiskFigures probe_disk(const std::filesystem::path& folder, const DiskProbeOptions& options) {
  if (!std::filesystem::is_directory(folder)) {
    throw InputError(folder.string(), "is no folder", "name one on the disk");
  }
  ScratchFile file(folder);
  const auto size = static_cast<std::size_t>(options.file.value());
  const auto block = static_cast<std::size_t>(options.block.value());
  const std::unique_ptr<std::byte, void (*)(void*)> memory(
      static_cast<std::byte*>(std::aligned_alloc(small, block)), std::free);
  // Not zeros, which some disks do not store.
  std::mt19937_64 random(1);
  for (std::size_t i = 0; i < block; i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(memory.get() + i, &bits, sizeof bits);
  }
  std::vector<std::size_t> places(size / block);
  std::vector<double> writes, reads, transfers;
  const auto heed = [&] {
    if (options.stop.stop_requested()) throw Interrupted();
  };
  const double steps = 2.0 * options.repetitions + 1;
  for (int r = 0; r < options.repetitions; ++r) {
    options.progress("writing", 2 * r / steps);
    double begin = now();
    for (std::size_t at = 0; at < size; at += block) {
      heed();
      file.write(memory.get(), block, at);
    }
    file.sync();
    writes.push_back(static_cast<double>(size) / (now() - begin));
    file.forget();
    std::iota(places.begin(), places.end(), std::size_t{0});
    std::shuffle(places.begin(), places.end(), random);
    options.progress("reading", (2 * r + 1) / steps);
    begin = now();
    for (std::size_t place : places) {
      heed();
      file.read(memory.get(), block, place * block);
    }
    reads.push_back(static_cast<double>(size) / (now() - begin));
  }
  options.progress("small transfers", (steps - 1) / steps);
  file.forget();
  for (int t = 0; t < options.transfers; ++t) {
    heed();
    const std::size_t at =
        std::uniform_int_distribution<std::size_t>(0, size / small - 1)(random) * small;
    const double begin = now();
    file.read(memory.get(), small, at);
    transfers.push_back(now() - begin);
  }
  return {std::filesystem::absolute(folder).string(),
          BytesPerSecond(median(reads)),
          BytesPerSecond(median(writes)),
          Seconds(median(transfers)),
          relative_spread(reads),
          relative_spread(writes),
          relative_spread(transfers),
          file.direct()};
}

std::filesystem::path disk_file() {
  const std::filesystem::path host = host_file();
  return host.empty() ? host : host.parent_path() / "disk.toml";
}

std::string to_toml(const DiskFigures& f) {
  return fmt::format(
      "# tcsim probe --disk: bytes and seconds, medians; spreads are interquartile ranges over "
      "them\n"
      "schema = 1\nfolder = {}\nread_bytes_per_second = {}\nwrite_bytes_per_second = "
      "{}\ntransfer_seconds = {}\nread_spread = {}\nwrite_spread = {}\ntransfer_spread = "
      "{}\ndirect = {}\n",
      toml_string(visible(f.folder)), f.read.value(), f.write.value(), f.transfer.value(),
      f.read_spread, f.write_spread, f.transfer_spread, f.direct);
}

std::optional<DiskFigures> load_disk(const std::filesystem::path& file) {
  if (file.empty() || !std::filesystem::exists(file)) return {};
  const toml::table table =
      parse_toml(read_file(file, "run tcsim probe --disk again"), file.string());
  const auto number = [&](const char* key) {
    const std::optional<double> value = table[key].value<double>();
    if (value && *value >= 0 && *value < 1e18) return *value;
    throw InputError(file.string(), fmt::format("no '{}'", key), "run tcsim probe --disk again");
  };
  DiskFigures f{table["folder"].value_or(std::string()),
                BytesPerSecond(number("read_bytes_per_second")),
                BytesPerSecond(number("write_bytes_per_second")),
                Seconds(number("transfer_seconds")),
                number("read_spread"),
                number("write_spread"),
                number("transfer_spread"),
                table["direct"].value_or(false)};
  if (f.read.value() > 0 && f.write.value() > 0) return f;
  throw InputError(file.string(), "a rate of 0", "run tcsim probe --disk again");
}

}  // namespace tcsim
