// Libraries that wait for ever, end the program, or leave processes behind.
#include "microbench/trial.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "core/error.hpp"
#include "microbench/counters/source.hpp"
#include "tests/processes.hpp"

namespace tcsim {
namespace {

using namespace std::chrono_literals;
constexpr auto ample = 60s;

TEST(Trial, What_the_work_returns_comes_back_and_what_it_changes_does_not) {
  int number = 1;
  const Apart t = try_apart(
      [&] {
        number = 2;
        return std::to_string(getpid());
      },
      ample);
  ASSERT_TRUE(t.answer) << t.why;
  EXPECT_NE(*t.answer, std::to_string(getpid()));
  EXPECT_EQ(t.why, "");
  EXPECT_EQ(number, 1);
  EXPECT_EQ(try_apart([] { return std::string(100'000, 'x'); }, ample).answer,
            std::string(100'000, 'x'));
}

// Waits in a process of its own, as likwid's does, and says which that is.
std::string wait_in_a_child(int pid_pipe) {
  const pid_t child = fork();
  if (child == 0) {
    for (;;) pause();
  }
  const pid_t both[] = {getpid(), child};
  if (write(pid_pipe, both, sizeof both) != sizeof both) return "cannot write";
  for (;;) pause();
}

TEST(Trial, Work_that_never_ends_is_given_up_with_all_that_it_started) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Apart t = try_apart([&] { return wait_in_a_child(ends[1]); }, 500ms);
  EXPECT_FALSE(t.answer);
  EXPECT_EQ(t.why, "it does not answer within 0.5 s");
  pid_t left[2];
  ASSERT_EQ(read(ends[0], left, sizeof left), ssize_t{sizeof left});
  EXPECT_TRUE(test::ends(left[0]));
  EXPECT_TRUE(test::ends(left[1]));
  close(ends[0]);
  close(ends[1]);
}

TEST(Trial, Nothing_is_left_where_the_one_who_asks_is_killed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t asker = fork();
  if (asker == 0) {
    try_apart([&] { return wait_in_a_child(ends[1]); }, ample);
    _exit(0);
  }
  pid_t left[2];
  ASSERT_EQ(read(ends[0], left, sizeof left), ssize_t{sizeof left});
  kill(asker, SIGKILL);
  EXPECT_TRUE(test::ends(left[0]));
  EXPECT_TRUE(test::ends(left[1]));
  test::reap(asker);
  close(ends[0]);
  close(ends[1]);
}

TEST(Trial, Work_that_ends_its_process_or_throws_is_told_apart_from_an_answer) {
  EXPECT_EQ(try_apart([]() -> std::string { std::exit(0); }, ample).why,
            "it ends the program that asks it");
  EXPECT_EQ(try_apart([]() -> std::string { std::abort(); }, ample).why,
            "it ends the program that asks it");
  EXPECT_EQ(try_apart([]() -> std::string { throw std::runtime_error("no"); }, ample).why,
            "it ends the program that asks it");
  EXPECT_EQ(try_apart([] { return std::string(); }, ample).answer, "");
}

#ifdef TCSIM_HAVE_LIKWID
// A window has exit handlers that wait for its threads. A child that likwid forks has none of them.
TEST(Likwid, Comes_back_where_the_program_has_exit_handlers_that_only_it_can_do) {
  static const pid_t here = getpid();
  std::atexit([] {
    while (getpid() != here) pause();
  });
  try {
    EXPECT_EQ(make_likwid_source()->name(), "likwid");
  } catch (const UnsupportedError& e) {
    EXPECT_STREQ(e.place().c_str(), "likwid") << e.what();
  }
}
#endif

}  // namespace
}  // namespace tcsim
