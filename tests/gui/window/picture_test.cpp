// What the window shows can be read: no word is cut where no scroll bar leads to the rest, and none
// lies on another, on small screens and large ones, at every scale and in both themes. The scale is
// QT_SCALE_FACTOR's: tests/gui/CMakeLists.txt has one run for each.
#include <gtest/gtest.h>

#include <QApplication>
#include <QDockWidget>
#include <QFile>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QPainter>
#include <QScrollArea>
#include <QScrollBar>
#include <QTabWidget>
#include <QTemporaryDir>
#include <QTest>
#include <fstream>

#include "gui/chain/chain_inputs.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/chain_window.hpp"
#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/results_page.hpp"
#include "gui/study/study_dialog.hpp"
#include "gui/study/study_editor.hpp"
#include "gui/study/study_window.hpp"
#include "gui/widgets/boxes_view.hpp"
#include "gui/widgets/knob_row.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/window/export.hpp"
#include "gui/window/inputs.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/pins_dialog.hpp"
#include "gui/window/start_page.hpp"
#include "gui/window/view_page.hpp"
#include "tests/cli/run.hpp"
#include "tests/core/made_up_catalog.hpp"
#include "tests/gui/drawn_text.hpp"

namespace tcsim::gui {
namespace {

constexpr QSize screens[] = {{1280, 720}, {1366, 768}, {1920, 1080}};
constexpr int desktopFrame = 30;  // of a desktop's around a window, in points

QString nameOf(const QSize& size) { return QString("%1x%2").arg(size.width()).arg(size.height()); }

void expectReadable(QWidget& window, const std::string& what) {
  QApplication::processEvents();
  const Shown shown = shownBy(window);
  EXPECT_FALSE(shown.texts.empty()) << what;
  std::string first;
  for (std::size_t i = 0; i < shown.faults.size() && i < 8; ++i) first += "\n  " + shown.faults[i];
  EXPECT_TRUE(shown.faults.empty()) << what << ": " << shown.faults.size() << " faults" << first;
  // To look at: TCSIM_PICTURES names a folder.
  if (const QString pictures = qEnvironmentVariable("TCSIM_PICTURES"); !pictures.isEmpty()) {
    window.grab().save(QString("%1/%2-at%3.png")
                           .arg(pictures, QString::fromStdString(what))
                           .arg(window.devicePixelRatioF()));
  }
}

// On each screen, in light and in dark.
template <class Check>
void onEveryScreen(QWidget& window, const std::string& what, const Check& check) {
  for (const QSize& screen : screens) {
    const QSize size =
        (QSizeF(screen) / window.devicePixelRatioF()).toSize() - QSize(0, desktopFrame);
    window.resize(size);
    for (int i = 0; i < 6; ++i)
      QApplication::processEvents();  // one change of layout leads to another
    EXPECT_EQ(window.size(), size) << what << ": a window on such a screen is larger than it";
    for (const bool dark : {false, true}) {
      QApplication::setPalette(Theme::palette(dark));
      const auto panels = window.findChildren<QDockWidget*>();
      for (const QDockWidget* panel : panels) {
        for (const auto* area : panel->findChildren<QScrollArea*>()) {
          if (size.width() < 1200 || !area->isVisible()) continue;
          EXPECT_FALSE(area->horizontalScrollBar()->isVisible())
              << what << ": " << panel->windowTitle().toStdString() << " scrolls sideways";
        }
      }
      check((what + "-" + nameOf(screen).toStdString() + (dark ? "-dark" : "-light")));
    }
  }
  QApplication::setPalette(Theme::palette(false));
}

void onEveryScreen(QWidget& window, const std::string& what) {
  onEveryScreen(window, what, [&](const std::string& at) { expectReadable(window, at); });
}

Session compared() {
  Session s = examples().at(0).session;
  s.pins = {{"A", s.design}, {"another machine, with a long name", s.design}, {"C", s.design}};
  s.pins[1].design.machine = "i7-6700k";
  s.pins[2].design = s.design.with("L3.capacity", "70MiB").with("memory.bandwidth", "4B/cycle");
  s.design = s.design.with("L2.capacity", "512KiB").with("memory.bandwidth", "6.5B/cycle");
  return s;
}

// It takes seconds where the suite is that of compared(), and has a test of its own.
bool isOfSuite(const ViewKind& kind) { return kind.id == std::string("suite"); }

class Picture : public testing::Test {
 protected:
  Picture() {
    window.studio().setReadKernels(test::made_up_family);
    window.show();
  }
  void open(const Session& session) {
    window.open(session);
    waitFor(window.studio());
  }

  MainWindow window;
  QTemporaryDir folder;
};

TEST_F(Picture, Of_the_first_page_has_nothing_cut_and_nothing_on_another) {
  onEveryScreen(window, "start");
}

TEST_F(Picture, Of_every_view_has_nothing_cut_and_nothing_on_another) {
  open(compared());
  for (const ViewKind& kind : viewKinds()) {
    if (isOfSuite(kind)) continue;
    window.showView(kind.id);
    waitFor(window.studio());
    onEveryScreen(window, kind.id);
  }
}

// Many rows, and the table below them.
TEST_F(Picture, Of_a_suite_has_nothing_cut_and_nothing_on_another) {
  Session s;
  s.design.workload = {"mobilenet-v2:20", "", {}, {}};
  s.design.machine = "i7-6700k";
  s.pins = {{"a name that is as long as names may well be", s.design.with("L3.capacity", "4MiB")}};
  s.view.name = "suite";
  for (const bool table : {false, true}) {
    window.setTablesShown(table);
    open(s);
    ASSERT_TRUE(window.studio().scene().suite);
    EXPECT_EQ(window.page("suite").plot()->plot().missing, "");
    EXPECT_EQ(window.page("suite").plot()->plot().lines.size(), 1u);
    onEveryScreen(window, table ? "suite-table" : "suite");
  }
}

// A tensor that crowds, whose sentence is long, and 8192 sets in four slices.
TEST_F(Picture, Of_the_sets_has_nothing_cut_and_nothing_on_another) {
  Session s;
  s.design.workload = {"ij-ik-kj", "i=64,j=512,k=64", {}, {}};
  s.design.machine = "i7-6700k";
  s.design = s.design.with("L3.index", "sliced-4");
  s.design.schedule =
      "groups m=j n=i k=k for k by 64 { for m by 48 { for n by 6 { for m by 8 { kernel 8x6 } } } }";
  s.view.name = "sets";
  for (const char* view : {"L1 wanted", "L3 conflicts", "L3 requests-by-tensor"}) {
    const std::string words = view;
    s.view.level = words.substr(0, 2);
    s.view.show = words.substr(3);
    open(s);
    ASSERT_TRUE(window.studio().scene().sets) << view;
    EXPECT_EQ(window.page("sets").plot()->plot().missing, "") << view;
    onEveryScreen(window, "sets-" + s.view.level + "-" + s.view.show);
  }
}

// Many loops and packs, in a whole run and in a part of it.
TEST_F(Picture, Of_a_timeline_has_nothing_cut_and_nothing_on_another) {
  Session s;
  s.design.workload = {"ij-ik-kj", "i=60,j=50,k=40", {}, {}};
  s.design.machine = "i7-6700k";
  s.design.schedule =
      "groups m=j n=i k=k for n by 24 { for k by 28 { pack A in L1 { pack B in L1 { for n by 6 { "
      "for m by 8 { kernel 8x6 } } } } } }";
  s.view.name = "timeline";
  for (const TouchRange& part : {TouchRange{}, TouchRange{12345, 12501}}) {
    s.view.part = part;
    open(s);
    ASSERT_TRUE(window.studio().scene().timeline);
    EXPECT_EQ(window.page("timeline").plot()->plot().missing, "");
    onEveryScreen(window, "timeline-" + to_text(part));
  }
}

TEST_F(Picture, Of_every_table_has_nothing_cut_and_nothing_on_another) {
  open(compared());
  window.setTablesShown(true);
  for (const ViewKind& kind : viewKinds()) {
    if (isOfSuite(kind)) continue;
    window.showView(kind.id);
    waitFor(window.studio());
    window.currentPage().refresh();
    onEveryScreen(window, std::string(kind.id) + "-table");
  }
}

TEST_F(Picture, Of_the_verdict_in_a_narrow_window_has_nothing_cut) {
  open(compared());
  onEveryScreen(window, "verdict", [&](const std::string& at) {
    window.findChild<QDockWidget*>("verdict")->raise();
    expectReadable(window, at);
  });
}

// Before it is first shown, and when it changes size later.
TEST(Panels, Stand_beside_the_views_as_soon_as_there_is_room) {
  MainWindow window;
  const auto* verdict = window.findChild<QDockWidget*>("verdict");
  const auto* design = window.findChild<QDockWidget*>("design");
  const auto beside = [&](int width) {
    window.resize(width, 600);
    window.show();
    for (int i = 0; i < 3; ++i) QApplication::processEvents();
    return design->isVisible() && verdict->isVisible() && verdict->x() > design->x() &&
           !design->visibleRegion().isEmpty() && !verdict->visibleRegion().isEmpty();
  };
  EXPECT_TRUE(beside(1280));
  EXPECT_FALSE(beside(800));
  EXPECT_TRUE(beside(1280));
}

// Words that say why there is no picture, on the screen and in files.
TEST_F(Picture, Says_why_it_is_missing_and_what_mends_it) {
  struct Case {
    const char *name, *view, *range, *workload, *says;
  };
  const Case cases[] = {
      {"no-range", "bottleneck", "abc", "tccg:29", "'abc' is no range"},
      {"no-range", "map", "abc", "tccg:29", "write 0.25x..4x"},
      {"one-machine", "bottleneck", "1x..1x", "tccg:29", ""},
      {"one-machine", "map", "1x..1x", "tccg:29", ""},
      {"bad-workload", "time", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "bottleneck", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "map", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "roofline", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "tiles", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "traffic", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "bounds", "", "tccg:99", "use tccg:1 to tccg:36"},
      {"bad-workload", "schedule", "", "tccg:99", "use tccg:1 to tccg:36"},
  };
  for (const Case& c : cases) {
    Session s = examples().at(0).session;
    s.design.workload.name = c.workload;
    s.view.name = c.view;
    if (*c.range != '\0') s.view.range = c.range;
    open(s);
    const std::string what = std::string(c.name) + "-" + c.view;
    const ViewKind& kind = viewKind(c.view);
    if (kind.draws == ViewKind::Draws::plot) {
      EXPECT_FALSE(kind.plot(window.studio().scene()).missing.empty()) << what;
    }
    onEveryScreen(window, what, [&](const std::string& at) {
      expectReadable(window, at);
      QString all;
      for (const DrawnText& t : shownBy(window.page(c.view)).texts) all += t.text.trimmed() + " ";
      EXPECT_TRUE(all.contains(c.says)) << at << ": " << all.toStdString();
    });
    // In files: words in the one, more than one colour in the other.
    const auto file = [&](const char* ending) {
      const QString name = folder.filePath("picture") + ending;
      window.exportPicture(name);
      return name;
    };
    QFile svg(file(".svg"));
    ASSERT_TRUE(svg.open(QIODevice::ReadOnly));
    EXPECT_TRUE(svg.readAll().contains("</text>")) << what;
    const QImage png(file(".png"));
    int inked = 0;
    for (int y = 0; y < png.height(); y += 2) {
      for (int x = 0; x < png.width(); x += 2) inked += png.pixelColor(x, y).lightnessF() < 0.5;
    }
    EXPECT_GT(inked, 100) << what;
    EXPECT_GT(QFile(file(".pdf")).size(), 4000) << what;
  }
}

TEST_F(Picture, Of_dialogs_has_nothing_cut_and_nothing_on_another) {
  open(compared());
  StudyDialog study(window.studio());
  PinsDialog pins(window.studio());
  for (const auto& [dialog, name] :
       {std::pair<QDialog*, const char*>{&study, "dialog-study"}, {&pins, "dialog-pins"}}) {
    for (const bool dark : {false, true}) {
      QApplication::setPalette(Theme::palette(dark));
      dialog->show();
      expectReadable(*dialog, std::string(name) + (dark ? "-dark" : "-light"));
    }
  }
  QApplication::setPalette(Theme::palette(false));
}

TEST_F(Picture, Of_studies_and_results_has_nothing_cut_and_nothing_on_another) {
  StudyWindow& studies = window.studies();
  studies.show();
  onEveryScreen(studies, "study-empty");
  studies.openResults(folder.filePath("none"));
  onEveryScreen(studies, "results-none");
  const QString file = folder.filePath("small.toml");
  std::ofstream(file.toStdString())
      << "schema = 1\nname = \"small\"\nmachines = [\"i7-6700k\"]\ncompute = \"predict\"\n"
         "[[workload]]\nlabel = \"ij-ik-kj\"\nsizes = \"i=96,j=72,k=80\"\nname = \"matmul\"\n"
         "[[knob]]\nname = \"L3.capacity\"\nrange = \"2MiB..64MiB\"\npoints = 6\n"
         "[[knob]]\nname = \"memory.bandwidth\"\nrange = \"0.25x..1x\"\npoints = 3\n";
  const std::string results = folder.filePath("results").toStdString();
  const cli::Ran ran = cli::tcsim({"sweep", file.toStdString(), "--out", results, "--quiet"});
  ASSERT_EQ(ran.code, cli::Exit::done) << ran.err;
  ASSERT_TRUE(studies.openStudy(file));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !studies.editor().isChecking(); }, 60'000));
  onEveryScreen(studies, "study");
  studies.openResults(QString::fromStdString(results));
  ASSERT_TRUE(QTest::qWaitFor([&] { return !studies.results().isBusy(); }, 60'000));
  EXPECT_TRUE(studies.results().problem().isEmpty()) << studies.results().problem().toStdString();
  onEveryScreen(studies, "results");
}

TEST(Picture_of_a_chain, Has_nothing_cut_and_nothing_on_another) {
  ChainWindow window;
  window.show();
  onEveryScreen(window, "chain-empty");
  window.inputs().choose("sixindex:1");
  waitFor(window.planner());
  onEveryScreen(window, "chain-none");
  ChainDesign design;
  design.chain = "fourindex:1";
  design.memory = Bytes(8 << 20);
  window.open(design);
  ASSERT_TRUE(QTest::qWaitFor([&] { return window.planner().scene().current; }, 60'000));
  window.planner().cancel();  // the curve
  onEveryScreen(window, "chain");
  window.tabs().setCurrentIndex(1);
  onEveryScreen(window, "chain-schedule");
  window.tabs().setCurrentIndex(0);
  design.chain = "ab,bc,cd,de,ef->af";
  design.sizes = "a=500,b=900,c=200,d=700,e=100,f=800";
  design.memory = Bytes(12 << 20);
  design.diskRead = "123.4MB/s";
  window.open(design);
  waitFor(window.planner());
  ASSERT_EQ(window.planner().scene().error, "");
  onEveryScreen(window, "chain-product");
  window.open(design.with(Bytes(16)));
  waitFor(window.planner());
  EXPECT_TRUE(window.isStale());
  onEveryScreen(window, "chain-stale");
}

// A knob that differs from the machine file's is bold.
TEST_F(Picture, Of_a_field_shows_every_digit_also_in_bold) {
  open(examples().at(0).session);
  for (const char* knob : {"memory.bandwidth", "L1.capacity", "L3.capacity", "core.frequency"}) {
    KnobRow* row = window.inputs().row(knob);
    ASSERT_NE(row, nullptr) << knob;
    for (int position = -sliderSteps; position <= sliderSteps; position += 5) {
      row->show(row->knob().base * factorAt(position), true);
      for (const std::string& fault : shownBy(*row).faults) ADD_FAILURE() << fault;
      if (HasFailure()) return;
    }
  }
}

// Pictures in files leave no word out, and small ones none lying on another.
TEST_F(Picture, In_a_file_has_all_its_words) {
  open(compared());
  for (const ViewKind& kind : viewKinds()) {
    if (kind.draws == ViewKind::Draws::text || isOfSuite(kind)) continue;
    window.showView(kind.id);
    waitFor(window.studio());
    const Scene& scene = window.studio().scene();
    for (const QSize size : {pictureSize, QSize(720, 450), QSize(360, 300), QSize(240, 180)}) {
      PlotView plot;
      BoxesView boxes;
      TextRecorder device(plot, size);
      if (kind.draws == ViewKind::Draws::plot) {
        plot.resize(size);
        plot.show(kind.plot(scene));
        plot.paintTo(device, size);
        if (size == pictureSize) {
          EXPECT_EQ(plot.toolTip(), "") << kind.id;
        }
      } else {
        boxes.show(tileBoxes(scene));
        boxes.resize(size);
        QPainter painter(&device);
        boxes.paintTo(painter, size);
      }
      for (const std::string& fault : faultsOf(device.texts, QRectF(QPointF(0, 0), size))) {
        ADD_FAILURE() << kind.id << " " << nameOf(size).toStdString() << ": " << fault;
      }
    }
  }
}

}  // namespace
}  // namespace tcsim::gui
