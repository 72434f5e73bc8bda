// Real runs, which the window has done by a process of its own: what it answers, and processes that
// hang, crash, or say something else.
#include <gtest/gtest.h>

#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <memory>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "gui/headless.hpp"
#include "gui/scene/run_apart.hpp"
#include "gui/studio/studio.hpp"
#include "gui/window/main_window.hpp"
#include "tests/processes.hpp"

namespace tcsim::gui {
namespace {

using namespace std::chrono_literals;

const auto ignore = [](double) {};

Session small() {
  Session s;
  s.design.workload = {"ij-ik-kj", "i=96,j=96,k=96", {}, {}};
  s.design.machine = "i7-6700k";
  s.view.name = "traffic";
  return s;
}

EvaluationPtr evaluated() {
  const Design d = small().design;
  return evaluate(subjectOf(d, find_machine(d.machine)), {});
}

RunProgram shell(const char* script) { return {{"/bin/sh", "-c", script}, 60s, 60s}; }

std::string errorOf(const RunProgram& program) {
  try {
    ranApart(*evaluated(), program, ignore, {});
  } catch (const UnsupportedError& e) {
    return e.problem();
  } catch (const std::exception& e) {
    return e.what();
  }
  return "";
}

TEST(RunApart, Executes_checks_and_counts_in_a_process_of_its_own) {
  const EvaluationPtr e = evaluated();
  std::vector<double> shares;
  const Ran r = ranApart(*e, ownRunProgram(), [&](double share) { shares.push_back(share); }, {});
  EXPECT_EQ(r.design, e->subject.design);
  EXPECT_EQ(r.schedule, e->choice.schedule);
  EXPECT_TRUE(r.result.check.ok());
  EXPECT_EQ(r.result.check.checked.value(), 96 * 96);
  EXPECT_GE(r.result.repetitions.size(), 5u);
  EXPECT_NEAR(r.result.rate.value() * r.result.timed.median.value(), 2.0 * 96 * 96 * 96, 1e-3);
  EXPECT_EQ(r.result.kernel, kernel_used(Plan(e->subject.contraction, e->choice.schedule)));
  // Its library starts other programs: nobody asked for that.
  EXPECT_EQ(r.counted.why.find("likwid"), std::string::npos) << r.counted.why;
  ASSERT_EQ(shares.size(), r.result.repetitions.size() + 1);
  EXPECT_EQ(shares.front(), 0);
  EXPECT_TRUE(std::ranges::is_sorted(shares));
  EXPECT_EQ(shares.back(), 1);
}

TEST(RunApart, What_is_wrong_there_is_said_here) {
  Design d = small().design;
  d.workload.sizes = "i=2000000,j=2000000,k=2";
  const auto e = evaluate(subjectOf(d, find_machine(d.machine)), {});
  try {
    ranApart(*e, ownRunProgram(), ignore, {});
    FAIL() << "ran without memory";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("its tensors and buffers need"), std::string::npos)
        << error.what();
  }
}

TEST(RunApart, A_process_that_does_not_do_its_work_is_an_error_in_words) {
  EXPECT_EQ(errorOf({{"/bin/sh", "-c", "sleep 1000"}, 200ms, 60s}), "it says nothing for 0.2 s");
  EXPECT_EQ(errorOf({{"/bin/sh", "-c", "echo '{\"share\": 0}'; sleep 1000"}, 60s, 300ms}),
            "it says nothing for 0.3 s");
  EXPECT_EQ(errorOf(shell("kill -SEGV $$")),
            "was ended by signal 11 (Segmentation fault) without a result");
  EXPECT_EQ(errorOf(shell("exit 3")), "ended with code 3 without a result");
  EXPECT_EQ(errorOf(shell("exec >&-; sleep 1000")),
            "was ended by signal 9 (Killed) without a result");
  for (const char* garbage : {"echo hello", "echo '[]'", "echo '{}'", "echo '{\"result\": {}}'",
                              "echo '{\"share\": \"much\"}'", "cat /dev/zero", "yes"}) {
    EXPECT_EQ(errorOf(shell(garbage)), "it says what cannot be understood") << garbage;
  }
  EXPECT_EQ(errorOf({{"/nonexistent"}, 60s, 60s}),
            "it cannot be started: No such file or directory");
  EXPECT_EQ(errorOf(shell("echo '{\"error\": \"it rained\"}'")), "it rained");
}

// The numbers of a process and of another that it started, once it has written them.
class Hanging {
 public:
  RunProgram program() const {
    return shell(("sleep 1000 & echo $$ $! > " + file() + ".part; mv " + file() + ".part " +
                  file() + "; wait")
                     .c_str());
  }
  std::vector<pid_t> pids() const {
    EXPECT_TRUE(QTest::qWaitFor([&] { return QFile::exists(file().c_str()); }, 60000));
    QFile in(file().c_str());
    EXPECT_TRUE(in.open(QIODevice::ReadOnly));
    std::vector<pid_t> all;
    for (const QByteArray& number : in.readAll().split(' ')) all.push_back(number.toInt());
    return all;
  }

 private:
  std::string file() const { return folder_.filePath("pids").toStdString(); }
  QTemporaryDir folder_;
};

void expectEnded(const std::vector<pid_t>& pids) {
  ASSERT_EQ(pids.size(), 2u);
  for (const pid_t pid : pids) EXPECT_TRUE(test::ends(pid)) << pid;
}

TEST(RunApart, Esc_ends_a_run_that_hangs_and_the_next_job_begins) {
  MainWindow window;
  window.show();
  window.open(small());
  waitFor(window.studio());
  const Hanging hanging;
  window.studio().setRunProgram(hanging.program());
  QTest::keyClick(&window, Qt::Key_F6);
  const auto pids = hanging.pids();
  EXPECT_TRUE(window.studio().job().isBusy());
  QTest::keyClick(&window, Qt::Key_Escape);
  EXPECT_TRUE(QTest::qWaitFor([&] { return !window.studio().job().isBusy(); }, 60000));
  expectEnded(pids);
  QTest::keyClick(&window, Qt::Key_F5);
  waitFor(window.studio());
  EXPECT_TRUE(window.studio().scene().simulation);
  EXPECT_FALSE(window.studio().scene().run);
}

TEST(RunApart, Another_job_takes_the_place_of_a_run_that_hangs) {
  MainWindow window;
  window.show();
  window.open(small());
  waitFor(window.studio());
  const Hanging hanging;
  window.studio().setRunProgram(hanging.program());
  window.studio().run();
  const auto pids = hanging.pids();
  QTest::keyClick(&window, Qt::Key_F5);
  waitFor(window.studio());
  EXPECT_TRUE(window.studio().scene().simulation);
  expectEnded(pids);
}

TEST(RunApart, A_window_that_is_gone_leaves_no_process) {
  auto window = std::make_unique<MainWindow>();
  window->open(small());
  waitFor(window->studio());
  const Hanging hanging;
  window->studio().setRunProgram(hanging.program());
  window->studio().run();
  const auto pids = hanging.pids();
  window.reset();
  expectEnded(pids);
}

TEST(RunApart, F6_shows_what_was_run) {
  MainWindow window;
  window.show();
  window.open(small());
  waitFor(window.studio());
  QTest::keyClick(&window, Qt::Key_F6);
  waitFor(window.studio());
  ASSERT_TRUE(window.studio().scene().run);
  EXPECT_TRUE(window.studio().scene().run.current);
  EXPECT_TRUE(window.studio().scene().run->result.check.ok());
}

}  // namespace
}  // namespace tcsim::gui
