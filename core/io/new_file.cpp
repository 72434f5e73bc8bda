#include "core/io/new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/io/on_disk.hpp"

namespace tcsim {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t gathered_bytes = 1 << 16;

[[noreturn]] void fail(int error) { throw std::system_error(error, std::generic_category()); }

}  // namespace

int write_whole(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written < 0 && errno != EINTR) return -1;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

NewFile::NewFile(fs::path path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)) {
  if (file_ < 0) fail(errno);
}

NewFile::~NewFile() {
  if (file_ >= 0) ::close(file_);
  if (!kept_) ::unlink(path_.c_str());
}

void NewFile::write(std::string_view text) {
  gathered_ += text;
  if (gathered_.size() >= gathered_bytes) flush();
}

void NewFile::flush() {
  if (write_whole(file_, gathered_) != 0) fail(errno);
  gathered_.clear();
}

void NewFile::set_mode(unsigned mode) {
  if (fchmod(file_, mode & 07777) != 0) fail(errno);
}

void NewFile::end() {
  flush();
  if (!on_disk(file_)) fail(errno);
  if (::close(std::exchange(file_, -1)) != 0) fail(errno);
}

void sync_folder(const fs::path& folder) {
  const int file =
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (file < 0) return;
  const bool done = on_disk(file);
  const int error = errno;
  ::close(file);
  if (!done) fail(error);
}

void replace_file(const fs::path& file, std::string_view text) {
  const fs::path part = fmt::format("{}.{}.part", file.string(), getpid());
  ::unlink(part.c_str());  // of a process of that number that was killed
  NewFile out(part);
  out.write(text);
  out.end();
  if (::rename(part.c_str(), file.c_str()) != 0) fail(errno);
  out.keep();
  sync_folder(file.parent_path());
}

std::string mend_of_writing(int error, const std::string& mend) {
  if (error == ENOSPC || error == EDQUOT) return "make room, or name a file on another disk";
  if (error == EFBIG) return "allow larger files (ulimit -f)";
  return mend;
}

}  // namespace tcsim
