// Processes that a test starts, and whether they are gone.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>

namespace tcsim::test {

// Whether it does nothing any more: gone, or ended and only not collected by its parent yet.
inline bool ended(pid_t pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(in, line)) return true;
  const char state = line[line.rfind(')') + 2];
  return state == 'Z' || state == 'X';
}

// The same, waiting for it for a minute.
inline bool ends(pid_t pid) {
  for (int i = 0; i < 6000; ++i) {
    if (ended(pid)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

inline void reap(pid_t child) { waitpid(child, nullptr, 0); }

}  // namespace tcsim::test
