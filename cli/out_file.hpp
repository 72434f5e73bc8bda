// A file that is written as a whole or not at all.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "core/io/new_file.hpp"

namespace tcsim::cli {

// Output for --out: goes to a new file beside the named one, which takes its place when all is on
// the disk. A failure, or an error in between, leaves what was there before. What is no regular
// file (a pipe, /dev/null) is written directly.
class OutFile {
 public:
  // Throws UsageError if the file cannot be written, before any work is done for it.
  // `option`: with which it was named, for errors.
  explicit OutFile(std::string name, std::string option = "--out");
  ~OutFile();  // without write(): nothing has happened
  OutFile(const OutFile&) = delete;
  OutFile& operator=(const OutFile&) = delete;

  // Once. Throws UsageError that says what the system said: a full disk, no rights.
  void write(const std::string& text);

 private:
  void create_part();
  void put_in_place(const std::string& text);
  [[noreturn]] void refuse(const std::string& problem, const std::string& mend) const;
  [[noreturn]] void refuse(int error) const;

  std::string name_, option_;
  std::filesystem::path target_;  // what the name leads to
  std::optional<NewFile> part_;   // none: written directly
  int file_ = -1;                 // of what is written directly
};

}  // namespace tcsim::cli
