#include "core/io/on_disk.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace tcsim {

bool on_disk(int file) { return fsync(file) == 0 || errno == EINVAL || errno == ENOTSUP; }

bool on_disk(const std::filesystem::path& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool done = on_disk(file);
  const int error = errno;
  ::close(file);
  errno = error;
  return done;
}

}  // namespace tcsim
