// The whole window, without a display: what a person does and reads, against what the libraries
// say.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include <QApplication>
#include <QClipboard>
#include <QComboBox>
#include <QCommandLinkButton>
#include <QEventLoop>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QSignalSpy>
#include <QSlider>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>
#include <QToolButton>
#include <QUndoStack>
#include <nlohmann/json.hpp>

#include "core/error.hpp"
#include "core/machine/toml.hpp"
#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/knob_row.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/widgets/table_model.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/window/export.hpp"
#include "gui/window/inputs.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/pins_dialog.hpp"
#include "gui/window/start_page.hpp"
#include "gui/window/verdict.hpp"
#include "gui/window/view_page.hpp"
#include "tests/cli/run.hpp"
#include "tests/gui/window.hpp"

namespace tcsim::gui {
namespace {

EvaluationPtr expected(const Design& d) {
  return evaluate(subjectOf(d, find_machine(d.machine)), {});
}

// As the program's own loop does, which sleeps until there is something to do; QTest::qWait()
// sleeps for 10 ms whatever comes.
void runFor(int ms) {
  QEventLoop loop;
  QTimer::singleShot(ms, Qt::PreciseTimer, &loop, &QEventLoop::quit);
  loop.exec();
}

// "Would a larger L3 help abcdef-degb-gfac on an E5-2680 v4?"
TEST_F(Window, The_first_example_answers_the_question_that_it_asks) {
  auto* first = window.findChild<QCommandLinkButton*>("example");
  ASSERT_NE(first, nullptr);
  QTest::mouseClick(first, Qt::LeftButton);
  waitFor(studio());
  EXPECT_EQ(window.verdict().headline(), "Limited by L3-memory");
  EXPECT_TRUE(window.verdict().words().contains("moves the bottleneck to L1-register"));
  EXPECT_TRUE(window.verdict().words().contains("A larger L1, L2 or L3 changes nothing"));
  const auto e = expected(studio().session().design);
  EXPECT_EQ(scene().now->time(), e->time());
  EXPECT_EQ(scene().now->choice.schedule, e->choice.schedule);
  EXPECT_EQ(scene().help->advice.words, help(*e, {}).advice.words);
  EXPECT_EQ(window.page("bottleneck").plot()->plot().regions.size(), 2u);
}

TEST_F(Window, Open_drag_L3_read_pin_undo_export_reopen) {
  openExample(0);
  const Seconds before = scene().now->time();
  drag(row("L3.capacity"), {10, 30, 60});     // 2^(4 * 60 / 240): twice
  EXPECT_EQ(studio().history()->count(), 1);  // one drag is one step
  waitFor(studio());
  const Design& d = studio().session().design;
  EXPECT_EQ(d.value_of("L3.capacity"), "70MiB");
  EXPECT_TRUE(scene().now->settled);
  EXPECT_EQ(scene().now->time(), expected(d)->time());
  EXPECT_NEAR(scene().now->time() / before, 1, 1e-6);  // a larger L3 changes nothing
  ASSERT_FALSE(studio().changes().empty());
  EXPECT_NE(studio().changes()[0].find("The time stays"), std::string::npos);

  // Memory's bandwidth does, up to L1's.
  drag(row("memory.bandwidth"), {5, 10, 18});
  waitFor(studio());
  EXPECT_EQ(window.verdict().headline(), "Limited by L1-register");
  EXPECT_EQ(scene().now->time(), expected(d)->time());
  EXPECT_EQ(studio().changes().at(1), "The bottleneck moved from L3-memory to L1-register.");

  studio().pin();
  waitFor(studio());
  ASSERT_EQ(scene().pins.size(), 1u);
  ASSERT_NE(scene().pins[0].evaluation, nullptr);
  studio().history()->undo();  // the pin
  EXPECT_TRUE(scene().pins.empty());
  studio().history()->redo();
  studio().history()->undo();
  studio().history()->undo();  // memory's bandwidth
  waitFor(studio());
  EXPECT_EQ(window.verdict().headline(), "Limited by L3-memory");
  EXPECT_EQ(d.value_of("memory.bandwidth"), "");
  EXPECT_EQ(d.value_of("L3.capacity"), "70MiB");
  studio().pin();
  row("memory.bandwidth").slider()->setValue(18);
  waitFor(studio());
  ASSERT_EQ(scene().pins.size(), 1u);
  ASSERT_NE(scene().pins[0].curve, nullptr);
  EXPECT_EQ(scene().pins[0].curve->curve.knob.name, "memory.bandwidth");

  const QString picture = folder.filePath("b.svg");
  window.exportPicture(picture);
  QFile svg(picture);
  ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
  EXPECT_TRUE(svg.readAll().contains("L1-register"));

  const QString file = folder.filePath("session.toml");
  ASSERT_TRUE(window.saveFile(file));
  const Session saved = studio().session();
  const Seconds time = scene().now->time();
  openExample(1);
  ASSERT_TRUE(window.openFile(file));
  waitFor(studio());
  EXPECT_EQ(studio().session(), saved);
  EXPECT_EQ(window.currentPage().kind().id, std::string("bottleneck"));
  EXPECT_EQ(scene().now->time(), time);
  ASSERT_EQ(scene().pins.size(), 1u);
  EXPECT_NE(scene().pins[0].evaluation, nullptr);
  EXPECT_EQ(recentSessions().first(), file);
}

// How long frames take is printed, not judged: that depends on who else is at work.
TEST_F(Window, Every_step_of_a_drag_is_followed_by_a_measured_frame) {
  window.resize(1920, 1080);
  for (const char* view : {"time", "bottleneck", "roofline", "tiles"}) {
    openExample(2);
    window.showView(view);
    waitFor(studio());
    std::vector<double> frames, models;
    const auto measured = QObject::connect(&studio(), &Studio::frameMeasured, &window, [&] {
      frames.push_back(studio().frameMs());
      models.push_back(studio().modelMs());
    });
    KnobRow& l3 = row("L3.capacity");
    l3.slider()->setSliderDown(true);
    for (int step = 1; step <= 40; ++step) {
      l3.slider()->setValue(step);
      runFor(30);
    }
    l3.slider()->setSliderDown(false);
    waitFor(studio());
    QObject::disconnect(measured);
    ASSERT_GE(frames.size(), 5u);
    constexpr double frame = 16;  // ms
    const auto late = std::ranges::count_if(frames, [](double ms) { return ms > frame; });
    const auto worst = std::ranges::max_element(frames) - frames.begin();
    std::printf("%s: %zu steps, %td longer than 16 ms, the longest %.1f ms (model %.1f ms); ", view,
                frames.size(), late, frames[static_cast<std::size_t>(worst)],
                models[static_cast<std::size_t>(worst)]);
    std::sort(frames.begin(), frames.end());
    std::sort(models.begin(), models.end());
    std::printf("edit to picture %.1f ms (median), %.1f ms (9 of 10); model %.1f ms\n",
                frames[frames.size() / 2], frames[frames.size() * 9 / 10],
                models[models.size() / 2]);
  }
}

TEST_F(Window, Fields_take_units_and_say_what_is_wrong_where_it_is) {
  openExample(2);
  type(row("L2.capacity"), "1 MiB");
  waitFor(studio());
  EXPECT_EQ(studio().session().design.value_of("L2.capacity"), "1MiB");
  type(row("L2.capacity"), "0.5x");
  EXPECT_EQ(studio().session().design.value_of("L2.capacity"), "128KiB");
  EXPECT_TRUE(row("L2.capacity").resetButton()->isEnabled());
  QTest::mouseClick(row("L2.capacity").resetButton(), Qt::LeftButton);
  EXPECT_EQ(studio().session().design.value_of("L2.capacity"), "");
  EXPECT_EQ(row("L2.capacity").field()->text(), "256 KiB");
  waitFor(studio());

  const auto errorOf = [&](const char* knob) {
    const auto labels = row(knob).findChildren<QLabel*>();
    return labels.back()->isHidden() ? QString() : labels.back()->text();
  };
  type(row("L2.capacity"), "big");
  EXPECT_TRUE(errorOf("L2.capacity").contains("big"));
  EXPECT_EQ(studio().session().design.overrides.size(), 0u);
  // A machine that cannot be: what was shown stays.
  const auto shown = scene().now;
  type(row("memory.bandwidth"), "500GB/s");
  waitFor(studio());
  EXPECT_TRUE(errorOf("memory.bandwidth").contains("faster"))
      << errorOf("memory.bandwidth").toStdString();
  EXPECT_EQ(window.verdict().headline(), "This cannot be judged");
  EXPECT_EQ(scene().now, shown);
  studio().history()->undo();
  waitFor(studio());
  EXPECT_EQ(window.verdict().headline(), "Limited by computation");
}

TEST_F(Window, A_typed_label_becomes_a_workload_and_a_wrong_one_an_explanation) {
  openExample(2);
  window.inputs().workload()->setEditText("ij-ik-kj");
  QTest::keyClick(window.inputs().workload()->lineEdit(), Qt::Key_Return);
  waitFor(studio());
  EXPECT_EQ(studio().session().design.workload.sizes, "i=64,j=64,k=64");
  EXPECT_EQ(scene().now->subject.contraction.flops(), 2.0 * 64 * 64 * 64);
  window.inputs().workload()->setEditText("tccg:99");
  QTest::keyClick(window.inputs().workload()->lineEdit(), Qt::Key_Return);
  waitFor(studio());
  EXPECT_TRUE(window.inputs().problem().contains("use tccg:1 to tccg:36"))
      << window.inputs().problem().toStdString();
  EXPECT_EQ(studio().session().design.workload.name, "ij-ik-kj");
}

TEST_F(Window, A_kept_schedule_stays_while_the_machine_changes) {
  openExample(2);
  const Schedule kept = scene().now->choice.schedule;
  Design d = studio().session().design;
  d.schedule = to_line(kept, scene().now->subject.contraction);
  studio().edit(d, "keep");
  studio().setKnob("L1.capacity", "64KiB");
  waitFor(studio());
  EXPECT_EQ(scene().now->choice.schedule, kept);
  EXPECT_FALSE(scene().now->certificate);
}

TEST_F(Window, Simulation_is_of_the_schedule_shown_and_hollow_when_that_moves_on) {
  Session s;
  s.design.workload = {"ij-ik-kj", "i=96,j=96,k=96", {}, {}};
  s.design.machine = "i7-6700k";
  s.view.name = "traffic";
  window.open(s);
  waitFor(studio());
  studio().simulate();
  waitFor(studio());
  ASSERT_TRUE(scene().simulation);
  EXPECT_TRUE(scene().simulation.current);
  EXPECT_EQ(scene().simulation->simulation.traffic,
            simulated(*scene().now, nullptr, {}).simulation.traffic);
  studio().setKnob("L1.capacity", "16KiB");
  waitFor(studio());
  EXPECT_FALSE(scene().simulation.current);
  studio().history()->undo();
  waitFor(studio());
  EXPECT_TRUE(scene().simulation.current);
  // What the model does not see changes what caches do as well.
  studio().setKnob("L3.index", "hashed");
  waitFor(studio());
  EXPECT_FALSE(scene().simulation.current);
  studio().setKnob("L3.index", "");
  studio().setKnob("memory.latency", "300");
  waitFor(studio());
  EXPECT_TRUE(scene().simulation.current);
}

TEST_F(Window, The_equivalent_command_names_what_is_shown) {
  openExample(0);
  EXPECT_EQ(window.equivalentCommand(),
            "tcsim whatif tccg:29 --machine e5-2680v4 --accounting paper --vary "
            "memory.bandwidth=1.52B/cycle..24.32B/cycle");
  window.showView("traffic");
  studio().setKnob("L3.capacity", "20MiB");
  EXPECT_EQ(
      window.equivalentCommand(),
      "tcsim simulate tccg:29 --machine e5-2680v4 --set L3.capacity=20MiB --accounting paper");
}

// What the window shows, printed by the command that it names.
TEST_F(Window, Numbers_equal_the_command_lines_to_the_last_digit) {
  openExample(0);
  std::vector<std::string> args{"whatif"};
  const Session& s = studio().session();
  for (const std::string& word : to_arguments(s.design)) args.push_back(word);
  for (const std::string& word :
       {std::string("--vary"), scene().curve->vary, std::string("--format"), std::string("json")}) {
    args.push_back(word);
  }
  const cli::Ran printed = cli::tcsim(args);
  ASSERT_EQ(printed.code, cli::Exit::done) << printed.err;
  const auto j = nlohmann::json::parse(printed.out);
  const Table shown = bottleneckTable(scene());
  const Curve& curve = scene().curve->curve;
  ASSERT_EQ(j["points"].size(), curve.points.size());
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    EXPECT_EQ(j["points"][i]["value"].get<double>(), *shown.rows[i][1].value) << i;
    EXPECT_EQ(j["points"][i]["predicted_seconds"].get<double>(), *shown.rows[i][3].value) << i;
    EXPECT_EQ(j["points"][i]["bottleneck"].get<std::string>(), shown.rows[i][5].text) << i;
  }
  ASSERT_EQ(j["crossovers"].size(), curve.crossovers.size());
  EXPECT_EQ(j["crossovers"][0]["value"].get<double>(), curve.crossovers[0].value);
  args = {"report", "--no-simulate", "--format", "json"};
  for (const std::string& word : to_arguments(s.design)) args.push_back(word);
  const auto report = nlohmann::json::parse(cli::tcsim(args).out);
  EXPECT_EQ(report["predicted_seconds"].get<double>(), scene().now->time().value());
  EXPECT_EQ(report["schedule"].get<std::string>(),
            to_line(scene().now->choice.schedule, scene().now->subject.contraction));
  const Table time = timeTable(scene());
  for (std::size_t l = 0; l < 4; ++l) {
    EXPECT_EQ(report["levels"][l]["predicted_bytes"].get<double>(), *time.rows[l][1].value);
    EXPECT_EQ(report["levels"][l]["predicted_seconds"].get<double>(), *time.rows[l][3].value);
  }
  EXPECT_NE(report.dump().find(scene().help->advice.words), std::string::npos);
}

// The catalog is a file that somebody may measure while the window is open.
TEST_F(Window, The_catalog_of_kernels_is_read_when_its_view_is_turned_to) {
  int reads = 0;
  bool there = false;
  studio().setReadKernels([&] {
    ++reads;
    if (!there) throw InputError("kernels.toml", "not there", "run 'tcsim probe --kernels'");
    return test::made_up_family();
  });
  openExample(0);
  EXPECT_EQ(reads, 0);
  window.showView("kernels");
  EXPECT_EQ(reads, 1);
  EXPECT_FALSE(scene().kernels);
  EXPECT_NE(kernelsPlot(scene()).missing.find("run 'tcsim probe --kernels'"), std::string::npos);
  there = true;
  window.showView("time");
  window.showView("kernels");
  EXPECT_EQ(reads, 2);
  ASSERT_TRUE(scene().kernels);
  studio().setKnob("L2.capacity", "512KiB");
  waitFor(studio());
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(window.equivalentCommand(), "tcsim list kernels");
}

TEST_F(Window, Bounds_follow_the_workload_and_simulate_when_asked) {
  Session s;
  s.design.workload = {"ij-ik-kj", "i=150,j=130,k=110", {}, {}};
  s.design.machine = "i7-6700k";
  s.view.name = "bounds";
  window.open(s);
  waitFor(studio());
  ASSERT_TRUE(scene().bounds && scene().bounds.current);
  EXPECT_TRUE(scene().bounds->lru.empty());
  EXPECT_EQ(window.equivalentCommand(),
            "tcsim bounds ij-ik-kj --size i=150,j=130,k=110 --machine i7-6700k --curve "
            "1024B..67108864B --no-simulate");
  const auto lines = [&] { return window.page("bounds").plot()->plot().lines.size(); };
  const std::size_t before = lines();
  QPushButton* simulate = nullptr;
  for (auto* b : window.page("bounds").findChildren<QPushButton*>()) {
    if (b->text() == "Simulate LRU caches") simulate = b;
  }
  ASSERT_NE(simulate, nullptr);
  // Cancelled, it leaves the bounds as they are.
  simulate->click();
  EXPECT_TRUE(studio().bounding().isBusy());
  studio().cancelJob();
  waitFor(studio());
  EXPECT_TRUE(scene().bounds->lru.empty());
  simulate->click();
  waitFor(studio());
  EXPECT_EQ(scene().bounds->lru.size(), scene().bounds->capacities.size());
  EXPECT_EQ(lines(), before + 1);
  // A figure of the machine moves the marks alone.
  const auto curve = scene().bounds.value;
  studio().setKnob("L2.capacity", "512KiB");
  waitFor(studio());
  EXPECT_EQ(scene().bounds.value, curve);
  EXPECT_TRUE(scene().bounds.current);
  // What counts and the workload change the curve.
  Design d = studio().session().design;
  d.accounting = "paper";
  studio().edit(d, "accounting");
  waitFor(studio());
  EXPECT_NE(scene().bounds.value, curve);
  EXPECT_EQ(scene().bounds->moves, bounds::Moves::loads);
  d.workload.sizes = "i=20,j=20,k=20";
  studio().edit(d, "sizes");
  waitFor(studio());
  EXPECT_TRUE(scene().bounds.current);
  EXPECT_EQ(scene().bounds->workload.sizes, "i=20,j=20,k=20");
  EXPECT_FALSE(scene().bounds->lru.empty());  // it takes no time
  const QString file = folder.filePath("bounds.csv");
  window.exportPicture(file);
  QFile csv(file);
  ASSERT_TRUE(csv.open(QFile::ReadOnly));
  EXPECT_TRUE(csv.readLine().startsWith("link,cache_bytes,lower_bytes,"));
}

TEST_F(Window, Every_view_is_drawn_in_both_themes_with_its_table) {
  Session session = examples().at(0).session;
  session.design.workload.name = "attention:1";  // a suite that is soon judged
  session.design.cost = "45nm";
  window.open(session);
  window.setTablesShown(true);
  for (const bool dark : {false, true}) {
    QApplication::setPalette(Theme::palette(dark));
    for (const ViewKind& kind : viewKinds()) {
      window.showView(kind.id);
      waitFor(studio());
      EXPECT_GT(window.currentPage().table()->rowCount(), 0) << kind.id;
      const QImage image = window.grab().toImage();
      // To look at: TCSIM_PICTURES names a folder.
      if (const QString pictures = qEnvironmentVariable("TCSIM_PICTURES"); !pictures.isEmpty()) {
        image.save(QString("%1/%2-%3.png").arg(pictures, kind.id, dark ? "dark" : "light"));
      }
      const QColor corner = image.pixelColor(3, image.height() - 3);
      EXPECT_EQ(corner.lightnessF() < 0.5, dark) << kind.id;
    }
  }
  QApplication::setPalette(Theme::palette(false));
}

TEST_F(Window, Swapping_a_pin_twice_is_where_it_began) {
  openExample(2);
  studio().pin();
  studio().setKnob("L3.capacity", "20MiB");
  const Session before = studio().session();
  studio().swapPin(0);
  waitFor(studio());
  EXPECT_TRUE(studio().session().design.overrides.empty());
  EXPECT_EQ(studio().session().pins.at(0).design.value_of("L3.capacity"), "20MiB");
  studio().swapPin(0);
  EXPECT_EQ(studio().session(), before);
}

TEST_F(Window, Any_number_of_designs_and_machines_is_pinned_under_names) {
  openExample(0);
  window.showView("bottleneck");
  QStringList said;
  QObject::connect(&studio(), &Studio::message, &studio(), [&](const QString& m) { said << m; });
  studio().pin();
  studio().pin();  // once is enough
  EXPECT_EQ(said.count("this design is pinned already, as A"), 1);
  studio().setKnob("memory.bandwidth", "6B/cycle");
  studio().pin();
  studio().pinOn("i7-6700k");
  studio().setKnob("memory.bandwidth", "9B/cycle");
  studio().pin();
  studio().setKnob("memory.bandwidth", "3.04B/cycle");
  waitFor(studio());
  const auto names = [&] {
    QStringList all;
    for (const Pin& p : studio().session().pins) all << QString::fromStdString(p.name);
    return all.join(" ");
  };
  EXPECT_EQ(names(), "A B i7-6700k C");
  ASSERT_EQ(scene().pins.size(), 4u);
  for (const Pinned& p : scene().pins) {
    ASSERT_NE(p.evaluation, nullptr) << p.pin.name << p.error;
    const Design& d = p.pin.design;
    EXPECT_EQ(p.evaluation->time(), evaluate(subjectOf(d, find_machine(d.machine)), {})->time());
    ASSERT_NE(p.curve, nullptr) << p.pin.name << p.error;
    EXPECT_EQ(p.curve->vary, scene().curve->vary);
  }
  EXPECT_TRUE(scene().pins[2].pin.design.overrides.empty());
  studio().pinOn("i7-6700k");  // as it is pinned already
  EXPECT_EQ(studio().session().pins.size(), 4u);
  EXPECT_EQ(studio().renamePin(1, " faster memory "), "");
  EXPECT_EQ(studio().renamePin(1, "A"), "Another pin is named A.");
  EXPECT_EQ(studio().renamePin(1, "  "), "A pin needs a name.");
  EXPECT_NE(studio().renamePin(1, "a\nb"), "");
  studio().unpin(3);
  EXPECT_EQ(names(), "A faster memory i7-6700k");
  EXPECT_NE(scene().pins[1].evaluation, nullptr);  // nothing is worked out again
  studio().history()->undo();
  studio().history()->undo();
  EXPECT_EQ(names(), "A B i7-6700k C");
  studio().unpinAll();
  EXPECT_EQ(names(), "");
  waitFor(studio());
  EXPECT_TRUE(scene().pins.empty());
}

// A curve that a pin cannot have takes nothing else of it away, and is not asked for again.
TEST_F(Window, What_is_wrong_with_one_view_of_a_pin_is_not_wrong_with_the_pin) {
  openExample(0);
  window.showView("time");
  Design d = studio().session().design;
  d.machine = "i7-6700k";
  d.overrides = {{"L3.capacity", "none"}};
  Session s = studio().session();
  s.pins = {{"impossible", d}, {"B", s.design}};
  window.open(s);
  waitFor(studio());
  ASSERT_EQ(scene().pins.size(), 2u);
  EXPECT_EQ(scene().pins[0].evaluation, nullptr);
  EXPECT_NE(scene().pins[0].error, "");
  ASSERT_NE(scene().pins[1].evaluation, nullptr);
  QSignalSpy messages(&studio(), &Studio::message);
  for (const char* view : {"bottleneck", "traffic", "time"}) {
    window.showView(view);
    waitFor(studio());
  }
  EXPECT_EQ(messages.count(), 0);
  EXPECT_NE(scene().pins[1].curve, nullptr);
}

TEST_F(Window, The_list_of_pins_gives_names_swaps_and_unpins) {
  openExample(0);
  studio().pin();
  studio().pinOn("i7-6700k");
  waitFor(studio());
  PinsDialog dialog(studio());
  ASSERT_EQ(dialog.table()->rowCount(), 2);
  EXPECT_EQ(dialog.table()->item(1, 2)->text(), "i7-6700k");
  dialog.table()->item(1, 0)->setText("A");
  EXPECT_EQ(dialog.problem(), "Another pin is named A.");
  EXPECT_EQ(dialog.table()->item(1, 0)->text(), "i7-6700k");
  dialog.table()->item(1, 0)->setText("the old one");
  EXPECT_EQ(dialog.problem(), "");
  EXPECT_EQ(studio().session().pins[1].name, "the old one");
  const auto press = [&](const char* words) {
    for (QPushButton* b : dialog.findChildren<QPushButton*>()) {
      if (b->text().remove('&').startsWith(words)) b->click();
    }
  };
  dialog.table()->selectRow(1);
  press("Swap");
  EXPECT_EQ(studio().session().design.machine, "i7-6700k");
  press("Unpin");
  EXPECT_EQ(studio().session().pins.size(), 1u);
  EXPECT_EQ(dialog.table()->rowCount(), 1);
}

// As tcsim predict of each.
TEST_F(Window, The_suite_is_judged_on_this_machine_and_on_those_of_pins) {
  Session s = examples().at(2).session;
  s.design.workload = {"attention:4", "", {}, {}};
  s.design.machine = "e5-2680v4";
  s.view.name = "suite";
  s.pins = {{"Skylake", s.design}};
  s.pins[0].design.machine = "i7-6700k";
  window.open(s);
  waitFor(studio());
  ASSERT_TRUE(scene().suite) << scene().suite.error;
  EXPECT_TRUE(scene().suite.current);
  const Seconds before = scene().suite->total.time();
  ASSERT_EQ(scene().suite->total.rows.size(), 15u);
  EXPECT_EQ(scene().suite->total.rows[3].time, scene().now->time());
  ASSERT_NE(scene().pins.at(0).suite, nullptr);
  EXPECT_EQ(scene().pins[0].suite->total.rows[3].time, scene().pins[0].evaluation->time());
  const Table table = suiteTable(scene());
  ASSERT_EQ(table.rows.size(), 16u);
  EXPECT_EQ(*table.rows.back()[1].value, before.value());
  EXPECT_EQ(*table.rows.back()[6].value, before / scene().pins[0].suite->total.time());
  const Plot plot = suitePlot(scene());
  EXPECT_EQ(plot.bars.size(), 15u);
  ASSERT_EQ(plot.lines.size(), 1u);
  EXPECT_EQ(plot.lines[0].name, "pinned: Skylake");
  // Another machine has another sum; a workload alone has none.
  studio().setKnob("memory.bandwidth", "1B/cycle");
  waitFor(studio());
  EXPECT_TRUE(scene().suite.current);
  EXPECT_GT(scene().suite->total.time(), before);
  Design alone = studio().session().design;
  alone.workload = {"abc-adc-bd", "a=24,b=24,c=24,d=24", {}, {}};
  studio().edit(alone, "alone");
  waitFor(studio());
  EXPECT_NE(suitePlot(scene()).missing.find("of no suite"), std::string::npos);
}

TEST(Export, Files_are_of_the_kind_that_their_ending_says) {
  const QTemporaryDir folder;
  const Session s = examples().at(0).session;
  const QPalette light = Theme::palette(false);
  const auto bytes = [&](const char* view, const char* name) {
    const QString file = folder.filePath(name);
    exportHeadless(s, view, file, light, {600, 400});
    QFile in(file);
    EXPECT_TRUE(in.open(QIODevice::ReadOnly)) << name;
    return in.readAll();
  };
  EXPECT_TRUE(bytes("time", "t.png").startsWith("\x89PNG"));
  EXPECT_TRUE(bytes("tiles", "t.svg").contains("<svg"));
  EXPECT_TRUE(bytes("roofline", "t.pdf").startsWith("%PDF"));
  EXPECT_TRUE(bytes("schedule", "t.txt").startsWith("groups m="));
  EXPECT_TRUE(bytes("schedule", "t.c").contains("int contract("));
  const QByteArray csv = bytes("bottleneck", "t.csv");
  const auto e = expected(s.design);
  EXPECT_TRUE(csv.contains(QByteArray::number(e->time().value(), 'g', 16).left(14)))
      << csv.toStdString();
  EXPECT_THROW(exportHeadless(s, "time", folder.filePath("t.doc"), light, {600, 400}), UsageError);
  EXPECT_THROW(exportHeadless(s, "time", "/nonexistent/t.png", light, {600, 400}), InputError);
  EXPECT_THROW(exportHeadless(s, "nosuch", folder.filePath("t.png"), light, {600, 400}),
               UsageError);
}

TEST(Knobs, A_slider_position_is_a_factor_and_comes_back) {
  EXPECT_EQ(factorAt(0), 1);
  EXPECT_EQ(factorAt(sliderSteps), 16);
  EXPECT_EQ(factorAt(-sliderSteps), 1.0 / 16);
  for (int p = -sliderSteps; p <= sliderSteps; ++p) EXPECT_EQ(positionOf(factorAt(p)), p);
}

TEST(Knobs, Values_are_short_to_write_and_read_back) {
  const Machine m = find_machine("e5-2680v4");
  for (const Knob& k : all_knobs(m)) {
    for (double f : {0.5, 0.77, 1.0, 1.3, 2.0}) {
      if (k.name == "caches.line") f = std::exp2(std::round(std::log2(f)));  // a power of two
      if (k.unit == KnobUnit::count || k.unit == KnobUnit::bits) f = std::ceil(f);
      const std::string text = settingText(k, k.base * f);
      EXPECT_LE(text.size(), 14u) << k.name << " " << text;
      KnobUnit unit = k.unit;
      EXPECT_NEAR(parse_value(k, text, unit) / (k.base * f), 1, 0.02) << k.name << " " << text;
      EXPECT_EQ(typedText(k, fieldText(k, k.base)).empty(), false);
    }
  }
}

}  // namespace
}  // namespace tcsim::gui
