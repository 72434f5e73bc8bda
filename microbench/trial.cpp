#include "microbench/trial.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>

namespace tcsim {

namespace {

using Clock = std::chrono::steady_clock;

// Closed with its scope, and when somebody else's program takes the process over.
struct Pipe {
  Pipe() {
    if (pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    for (int& end : ends) shut(end);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  static void shut(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
  int& out() { return ends[0]; }
  int& in() { return ends[1]; }
  std::array<int, 2> ends{};
};

[[noreturn]] void work_and_end(const std::function<std::string()>& work, int answer) {
  // What the program wants done at its end is not this copy's to do, nor that of its children.
  std::atexit([] { _exit(1); });
  try {
    const std::string words = work();
    const auto size = static_cast<ssize_t>(words.size()) + 1;
    _exit(write(answer, words.c_str(), words.size() + 1) == size ? 0 : 1);
  } catch (...) {
    _exit(1);
  }
}

// Stays until the one who asked lets go of the pipe or is gone, and then ends itself and all that
// was started since.
[[noreturn]] void guard(const std::function<std::string()>& work, Pipe& held, Pipe& answer) {
  if (setpgid(0, 0) != 0) _exit(1);
  Pipe::shut(held.in());
  if (const pid_t worker = fork(); worker <= 0) {
    Pipe::shut(held.out());
    if (worker == 0) work_and_end(work, answer.in());
    _exit(1);
  }
  Pipe::shut(answer.in());
  char none = 0;
  while (read(held.out(), &none, 1) < 0 && errno == EINTR) {
  }
  kill(0, SIGKILL);
  _exit(1);
}

Apart wait_for(int answer, std::chrono::milliseconds patience) {
  const auto end = Clock::now() + patience;
  std::string words;
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd ready{answer, POLLIN, 0};
    const int some = left <= 0 ? 0 : poll(&ready, 1, static_cast<int>(left));
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) {
      return {{}, fmt::format("it does not answer within {:g} s", 1e-3 * double(patience.count()))};
    }
    std::array<char, 512> part{};
    const ssize_t size = read(answer, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {{}, "it ends the program that asks it"};
    words.append(part.data(), static_cast<std::size_t>(size));
    if (words.back() == '\0') {
      words.pop_back();
      return {words, ""};
    }
  }
}

}  // namespace

Apart try_apart(const std::function<std::string()>& work, std::chrono::milliseconds patience) {
  // What waits in buffers would be written by the copy as well.
  std::cout.flush();
  std::fflush(nullptr);
  Pipe held, answer;
  const pid_t guardian = held.in() < 0 || answer.in() < 0 ? -1 : fork();
  if (guardian == 0) guard(work, held, answer);
  if (guardian < 0) return {{}, fmt::format("no process can be had ({})", std::strerror(errno))};
  Pipe::shut(held.out());
  Pipe::shut(answer.in());
  Apart trial = wait_for(answer.out(), patience);
  Pipe::shut(held.in());
  while (waitpid(guardian, nullptr, 0) < 0 && errno == EINTR) {
  }
  return trial;
}

}  // namespace tcsim
