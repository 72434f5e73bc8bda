// A file that is written as a whole or not at all.
#pragma once

#include <filesystem>
#include <string>

namespace tcsim::cli {

// Output for --out: goes to a file beside the named one, which takes its place when all is
// written. A failure, or an error in between, leaves what was there before. What is no regular
// file (a pipe, /dev/null) is written directly.
class OutFile {
 public:
  // Throws UsageError if the file cannot be written, before any work is done for it.
  explicit OutFile(std::string name);
  ~OutFile();  // without write(): nothing has happened
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;

  // Throws UsageError if there is no room.
  void write(const std::string& text);

 private:
  [[noreturn]] void refuse(const std::string& mend) const;

  std::string name_;
  std::filesystem::path target_;  // what the name leads to
  std::filesystem::path part_;    // empty: written directly
};

}  // namespace tcsim::cli
