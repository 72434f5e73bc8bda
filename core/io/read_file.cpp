#include "core/io/read_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

namespace tcsim {

namespace {

constexpr int patience_ms = 1000;  // for a writer of a named pipe to come

class File {
 public:
  // Does not wait for a pipe's writer.
  explicit File(const std::filesystem::path& path)
      : descriptor_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  struct stat status() const {
    struct stat s {};
    ::fstat(descriptor_, &s);
    return s;
  }
  // Bytes read; 0 at the end, -1 with errno.
  ssize_t read(char* to, std::size_t most) const {
    for (;;) {
      const ssize_t n = ::read(descriptor_, to, most);
      if (n >= 0) return n;
      if (errno == EAGAIN) {
        wait(-1);
      } else if (errno != EINTR) {
        return n;
      }
    }
  }
  void wait(int milliseconds) const {
    pollfd readable{descriptor_, POLLIN, 0};
    ::poll(&readable, 1, milliseconds);
  }

 private:
  int descriptor_;
};

// Why nothing can be read from what is there, or "".
std::string fault_of(mode_t mode) {
  if (S_ISREG(mode) || S_ISFIFO(mode)) return "";
  return S_ISDIR(mode) ? "it is a folder" : "it is a device";
}

}  // namespace

std::string read_file(const std::filesystem::path& path, const std::string& mend,
                      std::size_t most) {
  const auto refuse = [&](const std::string& why) {
    throw InputError(path.string(), "cannot be read: " + why, mend);
  };
  const auto too_large = [&] {
    refuse(fmt::format("it has more than {} MiB, more than any such file", most >> 20));
  };
  const File file(path);
  if (!file.is_open()) refuse(std::strerror(errno));
  const struct stat status = file.status();
  if (const std::string fault = fault_of(status.st_mode); !fault.empty()) refuse(fault);
  if (status.st_size > 0 && static_cast<std::size_t>(status.st_size) > most) too_large();

  std::string bytes;
  std::size_t size = 0;
  for (bool waited = !S_ISFIFO(status.st_mode);;) {
    if (size == bytes.size()) bytes.resize(std::max<std::size_t>(1 << 16, 2 * size));
    const ssize_t n = file.read(bytes.data() + size, bytes.size() - size);
    if (n < 0) refuse(std::strerror(errno));
    if (n == 0 && size == 0 && !waited) {
      file.wait(patience_ms);
      waited = true;
      continue;
    }
    if (n == 0) break;
    size += static_cast<std::size_t>(n);
    if (size > most) too_large();
  }
  if (size == 0 && S_ISFIFO(status.st_mode)) refuse("nothing is written to that pipe");
  bytes.resize(size);
  return bytes;
}

}  // namespace tcsim
