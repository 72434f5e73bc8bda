// A program that works beside this one and says line by line what it has done.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace tcsim::gui {

class Child {
 public:
  // Starts `command`, a program's path and its arguments, with `input` on its standard input. Its
  // standard error is ours. Throws UnsupportedError if it cannot be started.
  Child(const std::vector<std::string>& command, const std::string& input);
  // Ends it, with all that it started.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  // The next line that it writes, without its end; nothing once it writes no more. Throws
  // UnsupportedError if none comes within `patience`, Interrupted if asked to stop.
  std::optional<std::string> line(std::chrono::milliseconds patience, const std::stop_token& stop);
  // How it ended: "ended with code 3", "was ended by signal 11 (Segmentation fault)". It has closed
  // its output, and is ended if it still goes on.
  std::string ending();

  // Throws what every fault of such a program is told as.
  [[noreturn]] static void fail(const std::string& problem);

 private:
  void end();

  pid_t pid_ = -1;
  int status_ = 0;
  int lines_ = -1;
  std::string unread_;
};

}  // namespace tcsim::gui
