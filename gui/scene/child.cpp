#include "gui/scene/child.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/error.hpp"

extern char** environ;

namespace tcsim::gui {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds tick{20};  // between looks at whether to stop
constexpr std::size_t longestLine = 1 << 24;

pid_t spawn(const std::vector<std::string>& command, int input, int output) {
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawnattr_t how;
  posix_spawnattr_init(&how);
  posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP);  // a group of its own
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words[0], &files, &how, words.data(), environ);
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) Child::fail(fmt::format("it cannot be started: {}", std::strerror(error)));
  return pid;
}

}  // namespace

void Child::fail(const std::string& problem) {
  throw UnsupportedError("the process that runs it", problem, "try again, or use tcsim run");
}

Child::Child(const std::vector<std::string>& command, const std::string& input) {
  std::array<int, 2> from{-1, -1}, to{-1, -1};
  const auto shut = [&] {
    for (int end : {from[1], to[0], to[1]}) {
      if (end >= 0) close(end);
    }
  };
  // A socket, since writing to a pipe that nobody reads would end this program.
  if (pipe2(from.data(), O_CLOEXEC) != 0 ||
      socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, to.data()) != 0) {
    shut();
    Child::fail(fmt::format("no pipe can be had: {}", std::strerror(errno)));
  }
  lines_ = from[0];
  try {
    pid_ = spawn(command, to[1], from[1]);
  } catch (...) {
    shut();
    close(lines_);
    throw;
  }
  // What it does not read it cannot mean to answer; that is told by how it goes on.
  (void)!send(to[0], input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  shut();
}

Child::~Child() {
  end();
  close(lines_);
}

void Child::end() {
  if (pid_ < 0) return;
  kill(-pid_, SIGKILL);
  while (waitpid(pid_, &status_, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::optional<std::string> Child::line(milliseconds patience, const std::stop_token& stop) {
  const auto end = Clock::now() + patience;
  for (;;) {
    if (const auto at = unread_.find('\n'); at != std::string::npos) {
      std::string line = unread_.substr(0, at);
      unread_.erase(0, at + 1);
      return line;
    }
    if (stop.stop_requested()) throw Interrupted();
    if (Clock::now() >= end) {
      Child::fail(
          fmt::format("it says nothing for {:g} s", 1e-3 * static_cast<double>(patience.count())));
    }
    pollfd ready{lines_, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(tick.count())) <= 0) continue;
    std::array<char, 4096> part{};
    const ssize_t size = read(lines_, part.data(), part.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {};
    unread_.append(part.data(), static_cast<std::size_t>(size));
    if (unread_.size() > longestLine) Child::fail("it says what cannot be understood");
  }
}

std::string Child::ending() {
  // Between closing its output and its end nothing of use can happen, but its end takes a moment.
  const auto last = Clock::now() + std::chrono::seconds(1);
  while (pid_ >= 0 && Clock::now() < last) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == pid_) {
      break;
    }
    poll(nullptr, 0, 1);
  }
  end();
  if (WIFEXITED(status_)) return fmt::format("ended with code {}", WEXITSTATUS(status_));
  const int number = WTERMSIG(status_);
  return fmt::format("was ended by signal {} ({})", number, strsignal(number));
}

}  // namespace tcsim::gui
