#include <signal.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <stop_token>
#include <system_error>
#include <thread>

#include "cli/command.hpp"

int main(int argc, char** argv) {
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the limit of a file's size fails, and is told
  // SIGINT and SIGTERM are taken by a thread of their own, which asks the work to stop.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::stop_source stop;
  const auto wait = [&](const std::stop_token& done) {
    // The end of main() is told by a signal too, so that nothing waits for a tick.
    const std::stop_callback wake(done, [self = pthread_self()] { pthread_kill(self, SIGTERM); });
    for (;;) {
      int signal = 0;
      sigwait(&signals, &signal);
      if (done.stop_requested()) return;
      // A second signal ends the program at once.
      if (stop.stop_requested()) _exit(130);
      stop.request_stop();
    }
  };
  std::jthread waiter;
  try {
    waiter = std::jthread(wait);
  } catch (const std::system_error&) {
    // No more threads: the first signal ends the program.
    pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  }
  tcsim::cli::Context context{std::cout, std::cerr, stop.get_token(), isatty(STDERR_FILENO) != 0};
  const std::vector<std::string> args(argv + 1, argv + argc);
  const auto code = tcsim::cli::main(args, context);
  std::cout.flush();
  if (!std::cout) {
    std::cerr << "tcsim: standard output cannot be written; make room, or use --out FILE\n";
    return static_cast<int>(tcsim::cli::Exit::usage);
  }
  return static_cast<int>(code);
}
