// The window for chains: what is dragged and typed, against what the library and the command line
// say.
#include "gui/chain/chain_window.hpp"

#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QClipboard>
#include <QComboBox>
#include <QCommandLinkButton>
#include <QElapsedTimer>
#include <QFile>
#include <QLineEdit>
#include <QMenu>
#include <QPlainTextEdit>
#include <QSlider>
#include <QTableView>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "core/units/text.hpp"
#include "gui/chain/amount_row.hpp"
#include "gui/chain/chain_inputs.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/tree_view.hpp"
#include "gui/headless.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/window/main_window.hpp"
#include "tests/cli/run.hpp"
#include "tests/gui/drawn_text.hpp"

namespace tcsim::gui {
namespace {

constexpr int patienceMs = 60'000;

// Planned in some hundredths of a second.
ChainDesign smallChain() {
  ChainDesign d;
  d.chain = "T[a,q] += C[a,p] * A[p,q]; B[a,b] += T[a,q] * D[b,q]";
  d.sizes = "a=400,b=300,p=350,q=500";
  d.memory = parse_bytes("64KiB");
  d.tilesAlone = true;
  return d;
}

// Planned in a second or longer.
ChainDesign slowChain() {
  ChainDesign d;
  d.chain = "fourindex:6";
  d.memory = parse_bytes("16MiB");
  d.tilesAlone = true;
  return d;
}

class Chains : public testing::Test {
 protected:
  Chains() { window.show(); }
  ChainPlanner& planner() { return window.planner(); }
  ChainInputs& inputs() { return window.inputs(); }
  const ChainScene& scene() { return window.planner().scene(); }
  void open(const ChainDesign& design) {
    window.open(design);
    EXPECT_TRUE(answered()) << scene().error;
  }
  bool answered() {
    return QTest::qWaitFor(
        [&] { return !inputs().isTyping() && !planner().isPlanning() && scene().current; },
        patienceMs);
  }
  bool refused() {
    return QTest::qWaitFor([&] { return !inputs().isTyping() && !scene().error.empty(); },
                           patienceMs);
  }
  QString cell(int row, int column) {
    return window.table().model()->index(row, column).data().toString();
  }
  static void enter(QLineEdit& field, const char* words) {
    field.setFocus();
    field.selectAll();
    QTest::keyClicks(&field, words);
    QTest::keyClick(&field, Qt::Key_Return);
  }

  ChainWindow window;
  QTemporaryDir folder;
};

TEST_F(Chains, Moving_the_memory_plans_anew) {
  open(smallChain());
  ASSERT_TRUE(scene().current) << scene().error;
  const ChainAnswerPtr before = scene().answer;
  QSlider& slider = *inputs().memory().slider();
  slider.setSliderDown(true);
  for (int i = 0; i < 5; ++i) slider.setValue(slider.value() + 10);
  slider.setSliderDown(false);
  ASSERT_TRUE(answered());
  EXPECT_NE(scene().answer, before);
  EXPECT_GT(scene().answer->design().memory, before->design().memory);
  EXPECT_EQ(scene().answer->design().memory, inputs().asked().memory);
  const fusion::Fusion found =
      fusion::fuse(scene().answer->subject->tree, {scene().answer->subject->limits, {}});
  EXPECT_EQ(cell(0, 2).toStdString(), to_display(Bytes(found.chosen.traffic.sum().read)));
  EXPECT_EQ(window.schedule().toStdString(),
            fusion::to_text(scene().answer->subject->tree, found.chosen.node));
  EXPECT_TRUE(window.verdict().startsWith("Limited by ")) << window.verdict().toStdString();
  // The field takes units, as the command line does.
  enter(*inputs().memory().field(), "1.5 MiB");
  ASSERT_TRUE(answered());
  EXPECT_EQ(scene().answer->design().memory, Bytes(3 << 19));
  EXPECT_EQ(inputs().memory().field()->text(), "1.5 MiB");
  enter(*inputs().memory().field(), "much");
  EXPECT_NE(inputs().memory().error(), "");
  EXPECT_TRUE(scene().current);
}

TEST_F(Chains, Of_what_is_asked_in_a_row_the_newest_is_answered) {
  std::set<std::int64_t> seen;
  QObject::connect(&planner(), &ChainPlanner::sceneChanged, [&] {
    if (scene().answer) seen.insert(scene().answer->design().memory.value());
  });
  ChainDesign design = slowChain();
  QElapsedTimer clock;
  clock.start();
  window.open(design);
  QTest::qWait(50);
  for (const char* memory : {"17MiB", "18MiB", "19MiB"}) {
    design.memory = parse_bytes(memory);
    window.open(design);
    QTest::qWait(5);
  }
  EXPECT_TRUE(planner().isPlanning());
  // The one that is under way takes longer than the planner's patience, and is stopped.
  ChainDesign last = smallChain();
  window.open(last);
  ASSERT_TRUE(answered());
  EXPECT_EQ(scene().answer->design(), last);
  EXPECT_EQ(seen, std::set<std::int64_t>{last.memory.value()});
  std::printf("answered after %lld ms\n", static_cast<long long>(clock.elapsed()));
}

TEST_F(Chains, The_window_stays_awake_and_Esc_stops_a_plan) {
  qint64 longest = 0;
  QElapsedTimer beat;
  QTimer pulse;
  QObject::connect(&pulse, &QTimer::timeout, [&] { longest = std::max(longest, beat.restart()); });
  window.open(slowChain());
  beat.start();
  pulse.start(1);
  QTest::qWait(300);
  EXPECT_TRUE(planner().isPlanning());
  std::printf("window away for at most %lld ms\n", static_cast<long long>(longest));
  QAction* cancel = nullptr;
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->shortcut() == QKeySequence("Esc")) cancel = action;
  }
  ASSERT_NE(cancel, nullptr);
  cancel->trigger();
  EXPECT_TRUE(QTest::qWaitFor([&] { return !planner().isBusy(); }, patienceMs));
  EXPECT_EQ(scene().answer, nullptr);
  // It is not forgotten for good.
  open(smallChain());
  EXPECT_TRUE(scene().current);
}

TEST_F(Chains, An_error_keeps_the_last_answer_and_says_that_it_is_of_before) {
  open(smallChain());
  waitFor(planner());  // also for what more memory would bring
  const ChainAnswerPtr before = scene().answer;
  ASSERT_TRUE(before);
  const QString verdict = window.verdict();
  inputs().chain()->setPlainText("T[a,q] += C[a,p] *");
  ASSERT_TRUE(refused());
  EXPECT_NE(inputs().problem(), "");
  EXPECT_EQ(scene().answer, before);
  EXPECT_TRUE(window.isStale());
  EXPECT_TRUE(window.tree().tree().hollow);
  EXPECT_TRUE(window.plot().plot().lines.at(0).hollow);
  EXPECT_EQ(window.verdict(), verdict);
  EXPECT_EQ(inputs().chain()->toPlainText(), "T[a,q] += C[a,p] *");
  inputs().chain()->setPlainText(QString::fromStdString(smallChain().chain));
  ASSERT_TRUE(answered());
  EXPECT_EQ(inputs().problem(), "");
  EXPECT_FALSE(window.isStale());

  // Too little memory is told at its row, with what would do.
  enter(*inputs().memory().field(), "8");
  ASSERT_TRUE(refused());
  EXPECT_TRUE(inputs().memory().error().contains("give at least 24B"))
      << inputs().memory().error().toStdString();
  EXPECT_EQ(inputs().problem(), "");
  EXPECT_TRUE(window.isStale());
  enter(*inputs().memory().field(), "64KiB");
  ASSERT_TRUE(answered());
  EXPECT_EQ(inputs().memory().error(), "");

  // Several chains, a name that nobody knows, a machine that cannot.
  for (const char* chain : {"fourindex", "sixindex:1", "fourindex:9"}) {
    inputs().choose(chain);
    ASSERT_TRUE(refused()) << chain;
    EXPECT_NE(inputs().problem(), "") << chain;
  }
  open(smallChain());
  ChainDesign nowhere = smallChain();
  nowhere.machine = "nowhere.toml";
  window.open(nowhere);
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return inputs().problem().contains("nowhere.toml"); }, patienceMs));
}

TEST_F(Chains, Cut_points_are_drawn_as_the_plan_has_them) {
  ChainDesign design;
  design.chain = "fourindex:1";
  design.memory = parse_bytes("4MiB");
  design.tilesAlone = true;
  open(design);
  ASSERT_TRUE(scene().current) << scene().error;
  for (int row = 0; row < window.table().model()->rowCount(); ++row) {
    window.table().selectRow(row);
    const ChainProgram& p = scene().answer->programs[static_cast<std::size_t>(row)];
    int cuts = 0;
    const auto texts = shownBy(window.tree()).texts;
    for (const DrawnText& t : texts) cuts += t.text.contains("cut-point, on disk");
    EXPECT_EQ(cuts, static_cast<int>(p.program.cut_points.size())) << p.name;
    EXPECT_EQ(window.tree().tree().nodes.size(), 9u);
    EXPECT_EQ(window.schedule().toStdString(), scheduleOf(*scene().answer, row));
    EXPECT_TRUE(window.tree().accessibleDescription().contains("T2[a,b,r,s] +="));
  }
  EXPECT_EQ(cell(window.table().model()->rowCount() - 1, 0), "unfused");
  // The row stays the same one while the memory moves.
  window.open(design.with(parse_bytes("5MiB")));
  ASSERT_TRUE(answered());
  EXPECT_TRUE(window.tree().tree().title.find("unfused") != std::string::npos);
}

// The knob of memory is all that a run may take, unless it is said to be for tiles.
TEST_F(Chains, Memory_is_of_the_run_or_of_tiles_alone) {
  ChainDesign design = smallChain();
  design.tilesAlone = false;
  design.memory = parse_bytes("9MiB");
  open(design);
  ASSERT_TRUE(scene().current) << scene().error;
  EXPECT_FALSE(inputs().tilesAlone()->isChecked());
  for (const ChainProgram& p : scene().answer->programs) EXPECT_LE(p.inAll, design.memory);
  inputs().tilesAlone()->click();
  ASSERT_TRUE(answered());
  EXPECT_TRUE(scene().answer->design().tilesAlone);
  EXPECT_GT(scene().answer->chosen().inAll, design.memory);
  inputs().tilesAlone()->click();
  enter(*inputs().memory().field(), "1MiB");
  EXPECT_TRUE(QTest::qWaitFor(
      [&] { return inputs().memory().error().contains("a run does not fit into 1MiB"); },
      patienceMs));
}

TEST_F(Chains, Knobs_of_the_machine_are_those_of_set) {
  open(smallChain());
  const double before = scene().answer->chosen().arithmetic.value();
  enter(*inputs().knobs(), "core.frequency=0.5x");
  ASSERT_TRUE(answered());
  EXPECT_GT(scene().answer->chosen().arithmetic.value(), 1.2 * before);
  EXPECT_TRUE(window.equivalentCommand().contains("--set core.frequency=0.5x"));
  enter(*inputs().knobs(), "nothing=1");
  EXPECT_TRUE(QTest::qWaitFor([&] { return inputs().problem().contains("nothing"); }, patienceMs));
}

// Boxes and words of a tree do not lie on one another, however it branches.
TEST_F(Chains, A_tree_that_branches_has_room_for_all) {
  for (const char* chain : {"ab,bc,cd,de,ef,fg,gh,hi->ai", "abc,abd,cde,ef,fg->dg"}) {
    ChainDesign design;
    design.chain = chain;
    design.sizes = sizesOf(chain, "");
    open(design);
    ASSERT_TRUE(scene().current) << scene().error;
    const TreeLayout laid = window.tree().laidOut();
    std::vector<QRectF> all = laid.boxes;
    all.insert(all.end(), laid.labels.begin(), laid.labels.end());
    const QRectF room(QPointF(0, 0), laid.size);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(room.contains(all[i])) << i;
      for (std::size_t j = 0; j < i; ++j) EXPECT_FALSE(all[i].intersects(all[j])) << i << " " << j;
    }
  }
}

TEST_F(Chains, Every_knob_reaches_the_plan) {
  open(smallChain());
  enter(*inputs().diskRead().field(), "500MB/s");
  enter(*inputs().diskWrite().field(), "250 MB/s");
  enter(*inputs().diskTransfer().field(), "2ms");
  inputs().overlap()->click();
  inputs().type()->setCurrentIndex(2);
  emit inputs().type()->activated(2);
  ASSERT_TRUE(answered());
  const ChainSubject& s = *scene().answer->subject;
  EXPECT_EQ(s.limits.costs.read, BytesPerSecond(5e8));
  EXPECT_EQ(s.limits.costs.write, BytesPerSecond(2.5e8));
  EXPECT_EQ(s.limits.costs.transfer, Seconds(2e-3));
  EXPECT_EQ(s.limits.buffering, fusion::Buffering::twofold);
  EXPECT_EQ(s.tree.arrays[0].element, Bytes(4));
  inputs().diskRead().resetButton()->click();
  ASSERT_TRUE(answered());
  EXPECT_EQ(scene().answer->subject->limits.costs.read, BytesPerSecond(2e9));
  const int machine = inputs().machine()->findData("i7-6700k");
  inputs().machine()->setCurrentIndex(machine);
  emit inputs().machine()->activated(machine);
  ASSERT_TRUE(answered());
  EXPECT_EQ(scene().answer->subject->machine.name, find_machine("i7-6700k").name);
}

TEST_F(Chains, This_machine_is_measured_once) {
  int measured = 0;
  planner().setMeasure([&](const ProbeOptions&) {
    ++measured;
    return find_machine("zen5");
  });
  ChainDesign design = smallChain();
  design.machine = "host";
  open(design);
  open(design.with(Bytes(1 << 17)));
  EXPECT_EQ(scene().error, "");
  EXPECT_TRUE(scene().current);
  EXPECT_EQ(measured, 1);
}

TEST_F(Chains, Suites_are_in_the_menu_and_statements_get_sizes) {
  emit inputs().suites()->aboutToShow();
  QAction* second = nullptr;
  for (QAction* suite : inputs().suites()->actions()) {
    if (suite->menu() == nullptr || suite->text() != "ccsd") continue;
    second = suite->menu()->actions().at(0);
  }
  ASSERT_NE(second, nullptr);
  EXPECT_TRUE(second->text().startsWith("ccsd:1, tensors of ")) << second->text().toStdString();
  second->trigger();
  ASSERT_TRUE(answered());
  EXPECT_EQ(scene().answer->subject->tree.name, "ccsd:1");
  EXPECT_FALSE(inputs().sizes()->isVisible());
  inputs().chain()->setPlainText("T[a,q] += C[a,p] * A[p,q]\nB[a,b] += T[a,q] * D[b,q]\n");
  ASSERT_TRUE(answered());
  EXPECT_TRUE(inputs().sizes()->isVisible());
  EXPECT_EQ(inputs().sizes()->text(), "a=64,q=64,p=64,b=64");
  enter(*inputs().sizes(), "a=9,q=8,p=7,b=6");
  ASSERT_TRUE(answered());
  EXPECT_EQ(scene().answer->subject->tree.bytes(0), 8 * 9 * 8);
}

// A shell takes the command apart, and tcsim fuse says what the window does.
TEST_F(Chains, The_command_gives_the_same_answer) {
  ChainDesign design = smallChain();
  design.diskTransfer = "50us";
  design.overlap = true;
  open(design);
  const QString command = window.equivalentCommand();
  ASSERT_TRUE(command.startsWith("tcsim fuse 'T[a,q]")) << command.toStdString();
  FILE* shell =
      popen(("printf '%s\\n' " + command.mid(QString("tcsim ").size()).toStdString()).c_str(), "r");
  ASSERT_NE(shell, nullptr);
  std::string printed;
  for (int c = std::fgetc(shell); c != EOF; c = std::fgetc(shell)) printed += static_cast<char>(c);
  ASSERT_EQ(pclose(shell), 0);
  std::vector<std::string> args = cli::lines(printed);
  args.insert(args.end(), {"--no-whatif", "--format", "json"});
  const cli::Ran ran = cli::tcsim(args);
  ASSERT_EQ(ran.code, cli::Exit::done) << ran.err;
  const auto j = nlohmann::json::parse(ran.out);
  const auto expectSame = [&](const nlohmann::json& said, const ChainProgram& p) {
    const fusion::DiskTraffic::OfArray sum = p.program.traffic.sum();
    EXPECT_EQ(said["schedule"], fusion::to_text(scene().answer->subject->tree, p.program.node));
    EXPECT_EQ(said["levels"][0]["read_bytes"], sum.read);
    EXPECT_EQ(said["levels"][0]["written_bytes"], sum.written);
    EXPECT_EQ(said["levels"][0]["transfers"], sum.reads + sum.writes);
    EXPECT_EQ(said["levels"][0]["predicted_seconds"], p.disk.value());
    EXPECT_EQ(said["memory_bytes"], p.program.traffic.memory.value());
    EXPECT_EQ(said["arithmetic_seconds"], p.arithmetic.value());
    EXPECT_EQ(said["predicted_seconds"], p.time.value());
    EXPECT_EQ(said["certificate"]["gap"], p.program.gap());
  };
  const ChainAnswer& answer = *scene().answer;
  EXPECT_EQ(j["disk"]["assumed"], answer.subject->diskAssumed);
  expectSame(j, answer.chosen());
  expectSame(j["unfused"], answer.unfused());
  if (answer.programs.size() == 3) {
    expectSame(j["fully_fused"], answer.programs[1]);
  }
}

TEST_F(Chains, Schedules_and_tables_go_to_files_and_to_the_clipboard) {
  open(smallChain());
  const auto contents = [](const QString& name) {
    QFile file(name);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << name.toStdString();
    return QString::fromUtf8(file.readAll());
  };
  window.saveSchedule(folder.filePath("s.txt"));
  EXPECT_EQ(contents(folder.filePath("s.txt")), window.schedule());
  window.saveTable(folder.filePath("t.csv"));
  EXPECT_EQ(contents(folder.filePath("t.csv")).toStdString(),
            toCsv(chainFileTable(*scene().answer)));
  EXPECT_THROW(window.saveTable("/proc/t.csv"), InputError);
  window.saveTree(folder.filePath("tree.svg"));
  EXPECT_TRUE(contents(folder.filePath("tree.svg")).contains("B[a,b]"));
  EXPECT_THROW(window.saveTree(folder.filePath("tree.tree")), UsageError);
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == "Copy &table") action->trigger();
  }
  EXPECT_EQ(QApplication::clipboard()->text().toStdString(), toTabs(chainTable(*scene().answer)));
  // The schedule is one that the command line takes.
  const cli::Ran ran = cli::tcsim({"fuse", smallChain().chain, "--size", smallChain().sizes,
                                   "--machine", "zen5", "--tiles", "64KiB", "--no-whatif",
                                   "--schedule", folder.filePath("s.txt").toStdString()});
  EXPECT_EQ(ran.code, cli::Exit::done) << ran.err;
}

TEST(Chains_of_the_main_window, Are_opened_by_the_start_page_and_the_menu) {
  MainWindow window;
  window.show();
  auto* link = window.findChild<QCommandLinkButton*>("chain");
  ASSERT_NE(link, nullptr);
  link->click();
  EXPECT_TRUE(window.chains().isVisible());
  EXPECT_EQ(window.chains().planner().design().chain, "fourindex:2");
  window.chains().close();
  EXPECT_FALSE(window.chains().isVisible());
  for (QAction* action : window.findChildren<QAction*>()) {
    if (action->text() == "Open &chain...") action->trigger();
  }
  EXPECT_TRUE(window.chains().isVisible());
  window.close();
  EXPECT_FALSE(window.chains().isVisible());
}

}  // namespace
}  // namespace tcsim::gui
