// Ctrl-C in a program that works: each of these would go on for minutes.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "core/data/installed.hpp"

namespace tcsim::cli {
namespace {

using namespace std::chrono_literals;

// Whether the process has taken SIGINT into its own hands.
bool listens(pid_t process) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with("SigBlk:")) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (SIGINT - 1) & 1) != 0;
  }
  return false;
}

// Its status when it has ended, or -1 after a time that is far too long.
int wait_for(pid_t process) {
  for (int i = 0; i < 1200; ++i) {
    int status = 0;
    if (waitpid(process, &status, WNOHANG) == process) return status;
    std::this_thread::sleep_for(100ms);
  }
  kill(process, SIGKILL);
  waitpid(process, nullptr, 0);
  return -1;
}

class Interrupt : public testing::TestWithParam<std::vector<std::string>> {};

TEST_P(Interrupt, Ends_the_work_with_130) {
  const auto program = beside_program("../../cli/tcsim");
  ASSERT_TRUE(program);
  std::vector<std::string> args{program->string()};
  args.insert(args.end(), GetParam().begin(), GetParam().end());
  std::vector<char*> pointers;
  for (std::string& a : args) pointers.push_back(a.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  pid_t process = 0;
  ASSERT_EQ(posix_spawn(&process, args[0].c_str(), &files, nullptr, pointers.data(), environ), 0);
  posix_spawn_file_actions_destroy(&files);
  while (!listens(process) && kill(process, 0) == 0) std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(300ms);  // into the work
  kill(process, SIGINT);
  const int status = wait_for(process);
  ASSERT_NE(status, -1) << "it did not end";
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 130);
}

using Args = std::vector<std::string>;
INSTANTIATE_TEST_SUITE_P(Of, Interrupt,
                         testing::Values(Args{"run", "ik,kj->ij", "--size", "i=20000000,j=1,k=1",
                                              "--machine", "i7-6700k", "--repetitions", "10000"},
                                         Args{"run", "ij-ik-kj", "--size", "i=8000,j=8000,k=8000",
                                              "--machine", "i7-6700k", "--repetitions", "10000"},
                                         Args{"simulate", "ij-ik-kj", "--size",
                                              "i=20000,j=20000,k=20000", "--machine", "i7-6700k"},
                                         Args{"optimize", "tccg", "--machine", "e5-2680v4"},
                                         Args{"validate", "tccg", "--machine", "i7-6700k"},
                                         Args{"whatif", "tccg:8", "--machine", "i7-6700k", "--vary",
                                              "L3.capacity=1MiB..4GiB"},
                                         Args{"probe", "--out", "/dev/null"},
                                         Args{"tune", "ij-ik-kj", "--size", "i=500,j=500,k=500",
                                              "--machine", "i7-6700k", "--budget", "1h"},
                                         Args{"probe", "--kernels", "--out", "/dev/null"},
                                         Args{"bench", "tccg", "--machine", "i7-6700k", "--peers",
                                              "none"}));

}  // namespace
}  // namespace tcsim::cli
