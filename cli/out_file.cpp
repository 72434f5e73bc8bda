#include "cli/out_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "core/error.hpp"

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
}

void OutFile::write(const std::string& text) {
  if (part_) return put_in_place(text);
  if (write_whole(file_, text) != 0) refuse(errno);
}

void OutFile::create_part() {
  constexpr int most = 100;
  int error = 0;
  for (int i = 0; i < most && !part_; ++i) {
    try {
      part_.emplace(fmt::format("{}.{}.{}.part", target_.string(), getpid(), i));
    } catch (const std::system_error& e) {
      error = e.code().value();
      if (error != EEXIST) break;
    }
  }
  if (!part_) refuse(error);
}

void OutFile::put_in_place(const std::string& text) {
  try {
    part_->write(text);
    // The new file takes over the rights of the one that it replaces.
    struct stat before {};
    if (stat(target_.c_str(), &before) == 0) part_->set_mode(before.st_mode);
    part_->end();
    if (rename(part_->path().c_str(), target_.c_str()) != 0) refuse(errno);
    part_->keep();
    sync_folder(target_.parent_path());
  } catch (const std::system_error& e) {
    refuse(e.code().value());
  }
}

void OutFile::refuse(const std::string& problem, const std::string& mend) const {
  throw UsageError(option_ + " " + name_, "the file cannot be written: " + problem, mend);
}

void OutFile::refuse(int error) const {
  refuse(std::generic_category().message(error), mend_of_writing(error, "name another one"));
}

}  // namespace tcsim::cli
