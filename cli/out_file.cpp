#include "cli/out_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/io/on_disk.hpp"

namespace tcsim::cli {

namespace fs = std::filesystem;

OutFile::OutFile(std::string name, std::string option)
    : name_(std::move(name)), option_(std::move(option)) {
  std::error_code error;
  const fs::file_status status = fs::status(name_, error);
  if (fs::is_directory(status)) refuse("it is a folder", "name a file");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    target_ = name_;
    file_ = open(target_.c_str(), O_WRONLY | O_CLOEXEC);
    if (file_ < 0) refuse(errno);
    return;
  }
  if (name_.empty()) refuse("it has no name", "name a file");
  target_ = fs::weakly_canonical(fs::absolute(name_), error);  // a link stays a link
  if (error) refuse(error.value());
  if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) refuse(errno);
  create_part();
}

OutFile::~OutFile() {
  if (file_ >= 0) close(file_);
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
}

void OutFile::write(const std::string& text) {
  write_all(text);
  if (!part_.empty()) put_in_place();
}

// Always a new file: what has its name, a link above all, may be somebody else's.
void OutFile::create_part() {
  constexpr int most = 100;
  for (int i = 0; i < most && file_ < 0; ++i) {
    part_ = fmt::format("{}.{}.{}.part", target_.string(), getpid(), i);
    file_ = open(part_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0 && errno != EEXIST) break;
  }
  if (file_ >= 0) return;
  const int error = errno;
  part_.clear();  // it is not ours to remove
  refuse(error);
}

void OutFile::write_all(const std::string& text) {
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(file_, rest.data(), rest.size());
    if (written < 0 && errno != EINTR) refuse(errno);
    if (written > 0) rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

void OutFile::put_in_place() {
  // The new file takes over the rights of the one that it replaces.
  struct stat before {};
  if (stat(target_.c_str(), &before) == 0 && fchmod(file_, before.st_mode & 07777) != 0) {
    refuse(errno);
  }
  if (!on_disk(file_)) refuse(errno);
  const int closed = close(std::exchange(file_, -1));
  if (closed != 0) refuse(errno);
  if (rename(part_.c_str(), target_.c_str()) != 0) refuse(errno);
  part_.clear();
  // The name is on the disk when the folder is; one that may not be read cannot be asked for it.
  const int folder = open(target_.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  const bool named = on_disk(folder);
  const int error = errno;
  close(folder);
  if (!named) refuse(error);
}

void OutFile::refuse(const std::string& problem, const std::string& mend) const {
  throw UsageError(option_ + " " + name_, "the file cannot be written: " + problem, mend);
}

void OutFile::refuse(int error) const {
  const bool full = error == ENOSPC || error == EDQUOT;
  refuse(std::generic_category().message(error),
         full ? "make room, or name a file on another disk" : "name another one");
}

}  // namespace tcsim::cli
