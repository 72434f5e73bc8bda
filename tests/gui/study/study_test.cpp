// Studies in the window: opening, checking, sweeping, stopping and resuming, looking through
// results, and a point as the window's design, against what the libraries and the command line say.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QComboBox>
#include <QElapsedTimer>
#include <QFile>
#include <QFileDialog>
#include <QHeaderView>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QUndoStack>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>

#include "cli/version.hpp"
#include "core/error.hpp"
#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/results_model.hpp"
#include "gui/study/results_page.hpp"
#include "gui/study/study_dialog.hpp"
#include "gui/study/study_editor.hpp"
#include "gui/study/study_window.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"
#include "tests/cli/run.hpp"
#include "tests/source_dir.hpp"
#include "tests/sweep/many_points.hpp"

namespace tcsim::gui {
namespace {

constexpr int longMs = 120'000;

// Two workloads, 24 designs, in about a second.
const char* const small =
    "schema = 1\nname = \"small\"\nmachines = [\"i7-6700k\"]\naccounting = \"paper\"\n"
    "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\nname = \"matmul\"\n"
    "[[workload]]\nname = \"tccg:29\"\n"
    "[set]\n\"core.fma_per_cycle\" = 4\n"
    "[[knob]]\nname = \"L3.capacity\"\nrange = \"2MiB..64MiB\"\npoints = 6\n"
    "[[knob]]\nname = \"memory.bandwidth\"\nvalues = [\"0.25x\", \"0.5x\", \"0.7x\", \"1x\"]\n";

class Studies : public testing::Test {
 protected:
  Studies() {
    QApplication::setApplicationVersion(cli::version);
    window.studies().show();
  }
  StudyWindow& studies() { return window.studies(); }
  StudyEditor& editor() { return studies().editor(); }
  ResultsPage& results() { return studies().results(); }

  QString write(const QString& name, const QByteArray& text) {
    QFile file(folder.filePath(name));
    EXPECT_TRUE(file.open(QIODevice::WriteOnly) && file.write(text) == text.size());
    return file.fileName();
  }
  void openAndCheck(const QString& file) {
    ASSERT_TRUE(studies().openStudy(file));
    ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isChecking(); }, longMs));
  }
  void waitForResults() {
    ASSERT_TRUE(QTest::qWaitFor([&] { return !results().isBusy(); }, longMs));
  }
  // Sweeps the small study; its folder.
  QString swept() {
    openAndCheck(write("small.toml", small));
    QSignalSpy finished(&editor(), &StudyEditor::finished);
    QTest::mouseClick(editor().runButton(), Qt::LeftButton);
    EXPECT_TRUE(finished.wait(longMs)) << editor().state().toStdString();
    waitForResults();
    return editor().folder();
  }

  MainWindow window;
  QTemporaryDir folder;
};

TEST_F(Studies, A_shipped_study_is_opened_swept_stopped_resumed_and_looked_through) {
  const QString text = QString(TCSIM_SOURCE_DIR) + "/data/studies/bandwidth-wall.toml";
  QFile shipped(text);
  ASSERT_TRUE(shipped.open(QIODevice::ReadOnly));
  openAndCheck(write("wall.toml", shipped.readAll().replace("points = 14", "points = 3")));
  EXPECT_TRUE(
      editor().verdict().startsWith("bandwidth-wall: 5 workloads, 1 machine, 2 knobs; 40 designs"))
      << editor().verdict().toStdString();
  EXPECT_EQ(editor().runButton()->text(), "R&un the sweep");

  // Stopped: what there is stays, the window is there all the time.
  QTest::mouseClick(editor().runButton(), Qt::LeftButton);
  ASSERT_TRUE(editor().isRunning());
  EXPECT_TRUE(editor().editor()->isReadOnly());
  ASSERT_TRUE(QTest::qWaitFor([&] { return editor().state().contains("points"); }, longMs));
  QTest::mouseClick(editor().cancelButton(), Qt::LeftButton);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isRunning(); }, longMs));
  EXPECT_TRUE(editor().state().startsWith("stopped; ")) << editor().state().toStdString();
  ASSERT_EQ(editor().runButton()->text(), "Res&ume the sweep");
  EXPECT_FALSE(QFile::exists(editor().folder() + "/results.sqlite"));
  // An unfinished folder is no result yet.
  studies().openResults(editor().folder());
  EXPECT_TRUE(results().problem().contains("not complete")) << results().problem().toStdString();

  QSignalSpy finished(&editor(), &StudyEditor::finished);
  QTest::mouseClick(editor().runButton(), Qt::LeftButton);
  ASSERT_TRUE(finished.wait(longMs));
  waitForResults();
  EXPECT_EQ(results().problem(), "");
  EXPECT_EQ(results().model()->rowCount(), 40 * 5);

  // The same bytes as tcsim sweep leaves.
  const QString other = folder.filePath("by-command");
  const cli::Ran r = cli::tcsim(
      {"sweep", editor().file().toStdString(), "--out", other.toStdString(), "--threads", "1"});
  ASSERT_EQ(r.code, cli::Exit::done) << r.err;
  for (const char* name : {"results.csv", "results.sqlite", "schedules.csv", "report.html"}) {
    QFile a(editor().folder() + "/" + name), b(other + "/" + name);
    ASSERT_TRUE(a.open(QIODevice::ReadOnly) && b.open(QIODevice::ReadOnly));
    EXPECT_TRUE(a.readAll() == b.readAll()) << name;
  }
  // And the command that the window names has nothing left to do.
  EXPECT_EQ(editor().command(),
            QString("tcsim sweep %1 --out %2 --resume").arg(editor().file(), editor().folder()));
  const cli::Ran again = cli::tcsim({"sweep", editor().file().toStdString(), "--out",
                                     editor().folder().toStdString(), "--resume"});
  EXPECT_NE(again.out.find("complete already"), std::string::npos) << again.out << again.err;
}

TEST_F(Studies, A_point_becomes_the_windows_design_with_the_same_number_and_back) {
  swept();
  window.open(examples().at(2).session);
  waitFor(window.studio());
  const Session before = window.studio().session();
  const ResultsModel& model = *results().model();
  const ResultFolder& read = *results().folder();
  ASSERT_EQ(model.rowCount(), 2 * 25);
  for (const int row : {0, 1, 30, 49}) {
    results().table()->selectRow(row);
    ASSERT_EQ(results().chosen(), model.key(row));
    results().openChosen();
    waitFor(window.studio());
    ASSERT_EQ(window.studio().error(), "");
    const auto column = static_cast<int>(read.column("predicted_seconds"));
    const double there = model.data(model.index(row, column), Qt::UserRole).toDouble();
    EXPECT_EQ(window.studio().scene().now->time().value(), there) << row;
    EXPECT_TRUE(studies().comparison().endsWith("as in the sweep"))
        << studies().comparison().toStdString();
  }
  EXPECT_EQ(window.studio().session().design.value_of("core.fma_per_cycle"), "4");
  for (int i = 0; i < 4; ++i) window.studio().history()->undo();
  EXPECT_EQ(window.studio().session(), before);
}

TEST_F(Studies, Rows_are_those_of_the_spreadsheet_sorted_and_filtered) {
  const QString out = swept();
  ResultsModel& model = *results().model();
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  std::ifstream csv((out + "/results.csv").toStdString());
  std::string line;
  std::getline(csv, line);
  for (int row = 0; std::getline(csv, line); ++row) {
    QStringList cells;
    for (int c = 0; c < model.columnCount(); ++c) {
      cells << model.data(model.index(row, c), Qt::ToolTipRole).toString();
    }
    ASSERT_EQ(cells.join(',').toStdString(), line);
  }
  const auto seconds = static_cast<int>(results().folder()->column("seconds"));
  results().table()->sortByColumn(seconds, Qt::DescendingOrder);
  waitForResults();
  double last = HUGE_VAL;
  for (int row = 0; row < model.rowCount(); ++row) {
    const double now = model.data(model.index(row, seconds), Qt::UserRole).toDouble();
    EXPECT_LE(now, last);
    last = now;
  }
  results().filter()->setFocus();
  QTest::keyClicks(results().filter(), "workload = matmul and L3.capacity >= 8 MiB");
  QTest::keyClick(results().filter(), Qt::Key_Return);
  waitForResults();
  EXPECT_EQ(results().problem(), "");
  EXPECT_EQ(model.rowCount(), 4 * 4 + 1);  // 8, 16, 32, 64 MiB; the machine as it is
  results().filter()->clear();
  QTest::keyClicks(results().filter(), "speed > 3");
  QTest::keyClick(results().filter(), Qt::Key_Return);
  waitForResults();
  EXPECT_TRUE(results().problem().contains("no such column")) << results().problem().toStdString();
  EXPECT_EQ(model.rowCount(), 4 * 4 + 1);  // what was shown stays

  // A click on a mark chooses its row.
  results().filter()->clear();
  QTest::keyClick(results().filter(), Qt::Key_Return);
  waitForResults();
  emit results().plot()->picked(0, 0);
  ASSERT_TRUE(results().chosen());
  EXPECT_EQ(model.key(results().table()->currentIndex().row()), *results().chosen());
}

TEST_F(Studies, Faults_of_a_study_are_shown_at_their_line) {
  openAndCheck(write("wrong.toml", QByteArray(small).replace("2MiB..64MiB", "64MiB..2MiB")));
  EXPECT_EQ(editor().wrongLine(), 15);
  EXPECT_TRUE(editor().verdict().contains("wrong.toml:15:")) << editor().verdict().toStdString();
  EXPECT_TRUE(editor().verdict().contains("begins at 64 MiB")) << editor().verdict().toStdString();
  EXPECT_EQ(editor().editor()->extraSelections().size(), 1);
  EXPECT_FALSE(editor().runButton()->isEnabled());
  editor().editor()->setPlainText(small);
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isChecking(); }, longMs));
  EXPECT_EQ(editor().wrongLine(), 0);
  EXPECT_TRUE(editor().editor()->extraSelections().isEmpty());
  EXPECT_TRUE(editor().runButton()->isEnabled());
  editor().editor()->setPlainText("schema = [");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isChecking(); }, longMs));
  EXPECT_EQ(editor().wrongLine(), 1);
}

TEST_F(Studies, A_study_of_the_session_is_one_that_the_command_line_accepts) {
  window.open(examples().at(0).session);
  waitFor(window.studio());
  window.studio().setKnob("L2.capacity", "512KiB");
  waitFor(window.studio());
  StudyDialog dialog(window.studio());
  EXPECT_EQ(dialog.knob(0)->currentText(), "memory.bandwidth");
  EXPECT_EQ(dialog.range(0)->text(), "1.52B/cycle..24.32B/cycle");
  dialog.points(0)->setValue(4);
  dialog.points(1)->setValue(3);
  editor().setText(QString::fromStdString(to_toml(dialog.draft())));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isChecking(); }, longMs));
  EXPECT_TRUE(editor().verdict().contains("13 designs")) << editor().verdict().toStdString();
  EXPECT_TRUE(editor().isModified());
  ASSERT_TRUE(editor().save(folder.filePath("mine.toml")));
  EXPECT_EQ(editor().folder(), folder.filePath("mine-results"));
  const cli::Ran r = cli::tcsim({"sweep", editor().file().toStdString(), "--dry-run"});
  EXPECT_EQ(r.code, cli::Exit::done) << r.err;
  EXPECT_NE(r.out.find("13 designs"), std::string::npos) << r.out;
}

// All that the dialog has.
TEST_F(Studies, A_study_has_several_knobs_workloads_machines_constraints_and_objectives) {
  Session s = examples().at(0).session;
  s.design.workload = {"attention:2", "", {}, {}};
  s.design.accounting.clear();
  s.pins = {{"A", s.design}, {"B", s.design}};
  s.pins[1].design.machine = "i7-6700k";
  window.open(s);
  waitFor(window.studio());
  EXPECT_EQ(StudyDialog(window.studio()).objective()->findText("energy"), -1);
  s.design.cost = "45nm";
  window.open(s);
  waitFor(window.studio());
  StudyDialog dialog(window.studio());
  for (const auto& [i, name] :
       {std::pair{0, "L1.capacity"}, {1, "L2.capacity"}, {2, "L3.capacity"}}) {
    dialog.knob(i)->setCurrentText(name);
    dialog.range(i)->setText("0.5x..2x");
    dialog.points(i)->setValue(3);
  }
  EXPECT_FALSE(dialog.range(3)->isEnabled());
  dialog.workloads()->setCurrentIndex(1);
  EXPECT_EQ(dialog.workloads()->currentText(), "all of attention");
  dialog.machines()->setCurrentIndex(1);
  EXPECT_EQ(dialog.machines()->currentText(), "and those of pins: i7-6700k");
  dialog.objective()->setCurrentText("energy");
  dialog.constraints()->setText("L3.capacity >= 4 * L2.capacity; area <= 100mm2;");
  const StudyDraft draft = dialog.draft();
  EXPECT_EQ(draft.constraints,
            (std::vector<std::string>{"L3.capacity >= 4 * L2.capacity", "area <= 100mm2"}));
  editor().setText(QString::fromStdString(to_toml(draft)));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isChecking(); }, longMs));
  EXPECT_EQ(editor().wrongLine(), 0) << editor().verdict().toStdString();
  ASSERT_TRUE(editor().save(folder.filePath("mine.toml")));
  const cli::Ran r = cli::tcsim({"sweep", editor().file().toStdString(), "--dry-run"});
  EXPECT_EQ(r.code, cli::Exit::done) << r.err;
  EXPECT_NE(r.out.find("15 workloads"), std::string::npos) << r.out;
}

// One that has no file yet is saved on the way.
TEST_F(Studies, A_study_of_the_session_can_be_run_at_once) {
  window.open(examples().at(0).session);
  waitFor(window.studio());
  QTimer::singleShot(0, &window, [] {
    auto* dialog = qobject_cast<StudyDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    dialog->points(0)->setValue(2);
    dialog->points(1)->setValue(2);
    dialog->accept();
  });
  studies().newFromSession();
  ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isChecking(); }, longMs));
  ASSERT_EQ(editor().wrongLine(), 0) << editor().verdict().toStdString();
  EXPECT_EQ(editor().folder(), "");
  ASSERT_TRUE(editor().runButton()->isEnabled());
  const QString file = folder.filePath("mine.toml");
  QTimer::singleShot(0, &window, [file] {
    auto* dialog = qobject_cast<QFileDialog*>(QApplication::activeModalWidget());
    ASSERT_NE(dialog, nullptr);
    dialog->selectFile(file);
    QMetaObject::invokeMethod(dialog, "accept");
  });
  QSignalSpy finished(&editor(), &StudyEditor::finished);
  QTest::mouseClick(editor().runButton(), Qt::LeftButton);
  EXPECT_EQ(editor().file(), file);
  ASSERT_TRUE(finished.wait(longMs)) << editor().state().toStdString();
  EXPECT_EQ(editor().folder(), folder.filePath("mine-results"));
}

TEST_F(Studies, Run_says_what_it_needs) {
  openAndCheck(write("small.toml", small));
  EXPECT_TRUE(editor().runButton()->isEnabled());
  editor().setFolder("");
  EXPECT_FALSE(editor().runButton()->isEnabled());
  EXPECT_EQ(editor().runButton()->toolTip(), "Name a folder for the results first");
}

TEST_F(Studies, Folders_that_cannot_be_used_are_told_in_words) {
  const auto told = [&](const QString& where) {
    studies().openResults(where);
    waitForResults();
    return results().problem().toStdString();
  };
  EXPECT_NE(told(folder.path()).find("there are no results"), std::string::npos);
  EXPECT_NE(told("/nonexistent").find("there are no results"), std::string::npos);
  const QString damaged = folder.filePath("damaged");
  write_many_points(damaged.toStdString(), 20000);
  QFile(damaged + "/results.sqlite").resize(400000);
  EXPECT_NE(told(damaged).find("damaged"), std::string::npos) << told(damaged);
  const QString half = folder.filePath("half");
  write_many_points(half.toStdString(), 10);
  ASSERT_TRUE(QFile(half + "/manifest.json").remove());
  EXPECT_NE(told(half).find("manifest.json: cannot be read"), std::string::npos) << told(half);
  // A folder that went away while it was open.
  const QString gone = folder.filePath("gone");
  write_many_points(gone.toStdString(), 3000);
  EXPECT_EQ(told(gone), "");
  QFile(gone + "/results.sqlite").remove();
  results().choose({7, "tccg:29"});
  results().openChosen();
  EXPECT_NE(results().problem(), "");
  results().filter()->setFocus();
  QTest::keyClicks(results().filter(), "design < 10");
  QTest::keyClick(results().filter(), Qt::Key_Return);
  waitForResults();
  EXPECT_NE(results().problem(), "");

  // Results where nothing can be written, and a folder that has other files.
  openAndCheck(write("small.toml", small));
  for (const QString& where : {QString("/proc/nowhere"), folder.path()}) {
    editor().setFolder(where);
    editor().run();
    ASSERT_TRUE(QTest::qWaitFor([&] { return !editor().isRunning(); }, longMs));
    EXPECT_TRUE(editor().state().startsWith(where + ": ")) << editor().state().toStdString();
  }
  EXPECT_FALSE(editor().open("/nonexistent.toml"));
  EXPECT_TRUE(editor().state().contains("cannot be read"));
  EXPECT_FALSE(editor().save("/proc/study.toml"));
  EXPECT_TRUE(editor().state().contains("cannot be written"));
}

// Times are printed, not judged, but for that of the thread that the window lives on.
TEST_F(Studies, A_million_points_are_listed_a_page_at_a_time) {
  const QString many = folder.filePath("many");
  write_many_points(many.toStdString(), 1'000'000);
  QElapsedTimer clock;
  // The longest that the window did not come to itself.
  qint64 longest = 0;
  QElapsedTimer beat;
  QTimer pulse;
  QObject::connect(&pulse, &QTimer::timeout, [&] { longest = std::max(longest, beat.restart()); });
  beat.start();
  pulse.start(1);
  clock.start();
  studies().openResults(many);
  waitForResults();
  std::printf("open: %lld ms\n", static_cast<long long>(clock.restart()));
  ResultsModel& model = *results().model();
  ASSERT_EQ(model.rowCount(), 1'000'000);
  const auto seconds = static_cast<int>(results().folder()->column("seconds"));
  results().table()->sortByColumn(seconds, Qt::AscendingOrder);
  waitForResults();
  std::printf("sort: %lld ms\n", static_cast<long long>(clock.restart()));
  EXPECT_EQ(model.data(model.index(0, seconds), Qt::UserRole).toDouble(), 0.001);
  qint64 page = 0;
  for (int row = 0; row < model.rowCount(); row += 37'781) {
    clock.restart();
    results().table()->scrollTo(model.index(row, 0));
    QApplication::processEvents();
    page = std::max(page, clock.elapsed());
  }
  std::printf("slowest page: %lld ms; window away for at most %lld ms\n",
              static_cast<long long>(page), static_cast<long long>(longest));
  results().filter()->setFocus();
  QTest::keyClicks(results().filter(), "design < 100");
  QTest::keyClick(results().filter(), Qt::Key_Return);
  waitForResults();
  EXPECT_EQ(model.rowCount(), 100);
}

}  // namespace
}  // namespace tcsim::gui
