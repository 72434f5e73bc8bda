#include "bench/kept_text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <system_error>

#include "core/io/read_file.hpp"
#include "microbench/keep.hpp"

namespace tcsim::bench {

namespace fs = std::filesystem;

namespace {

// Held while a file is read and written anew. The lock is another file's, since a new one takes the
// place of the one that is read. Where a file system knows no locks, nobody waits.
class Lock {
 public:
  explicit Lock(const fs::path& beside)
      : file_(open((beside.string() + ".lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666)) {
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  ~Lock() {
    if (file_ >= 0) close(file_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

}  // namespace

std::optional<std::string> kept_text(const fs::path& file, const char* mend) {
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return {};
  return read_file(file, mend);
}

bool change_text(
    const fs::path& file, const char* mend,
    const std::function<std::string(const std::optional<std::string>& before)>& change) {
  if (file.empty()) return false;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const Lock lock(file);
  return keep(change(kept_text(file, mend)), file);
}

bool forget_text(const fs::path& file) {
  std::error_code error;
  if (file.empty()) return false;
  const Lock lock(file);
  return fs::remove(file, error);
}

}  // namespace tcsim::bench
