#include "bench/tuned_file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <system_error>

#include "core/io/read_file.hpp"
#include "kernels/shapes.hpp"
#include "microbench/host.hpp"
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

fs::path tuned_file() {
  const fs::path folder = cache_folder();
  return folder.empty() ? folder : folder / "tuned.toml";
}

TunedKey tuned_key_here(const Contraction& contraction, int threads) {
  return tuned_key(contraction, threads, this_processor(), to_text(best_instruction_set()));
}

TunedSchedules load_tuned(const fs::path& file) {
  std::error_code error;
  if (file.empty() || !fs::exists(file, error)) return {};
  return parse_tuned(read_file(file, "begin anew: 'tcsim tune --forget all'"), file.string());
}

bool change_tuned(const fs::path& file, const std::function<void(TunedSchedules&)>& change) {
  if (file.empty()) return false;
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  const Lock lock(file);
  TunedSchedules all = load_tuned(file);
  change(all);
  return keep(to_toml(all), file);
}

bool forget_all_tuned(const fs::path& file) {
  std::error_code error;
  if (file.empty()) return false;
  const Lock lock(file);
  return fs::remove(file, error);
}

}  // namespace tcsim::bench
