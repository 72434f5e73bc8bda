#include "cli/out_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "core/error.hpp"

namespace tcsim::cli {

namespace fs = std::filesystem;

OutFile::OutFile(std::string name) : name_(std::move(name)) {
  std::error_code error;
  const fs::file_status status = fs::status(name_, error);
  if (fs::is_directory(status)) refuse("it is a folder; name a file");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    target_ = name_;
    return;
  }
  target_ = fs::weakly_canonical(name_, error);  // a link stays a link
  if (error || name_.empty()) refuse("name another one");
  if (fs::exists(status) && access(target_.c_str(), W_OK) != 0) refuse("name another one");
  part_ = fmt::format("{}.{}.part", target_.string(), getpid());
  if (!std::ofstream(part_, std::ios::binary)) {
    part_.clear();
    refuse("name another one");
  }
}

OutFile::~OutFile() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
}

void OutFile::write(const std::string& text) {
  const bool direct = part_.empty();
  std::ofstream out(direct ? target_ : part_, std::ios::binary);
  out << text;
  out.close();
  if (!out) refuse("make room, or name another one");
  if (direct) return;
  std::error_code error;
  // The new file takes over the rights of the one that it replaces.
  if (const auto before = fs::status(target_, error); fs::exists(before)) {
    fs::permissions(part_, before.permissions(), error);
  }
  fs::rename(part_, target_, error);
  if (error) refuse("name another one");
  part_.clear();
}

void OutFile::refuse(const std::string& mend) const {
  throw UsageError("--out " + name_, "the file cannot be written", mend);
}

}  // namespace tcsim::cli
