// What leads a person on: what more of a knob is worth, the cost model, why something is not
// possible, files that are dropped, and the pages of the manual.
#include <QAction>
#include <QComboBox>
#include <QFile>
#include <QMenu>
#include <QTableView>
#include <QTextBrowser>
#include <QToolBar>
#include <QUndoStack>
#include <algorithm>

#include "gui/charts/charts.hpp"
#include "gui/study/study_window.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/window/dropped.hpp"
#include "gui/window/help_window.hpp"
#include "gui/window/verdict.hpp"
#include "gui/window/view_page.hpp"
#include "tests/gui/window.hpp"
#include "tests/source_dir.hpp"

namespace tcsim::gui {
namespace {

QString source(const char* path) { return QString(TCSIM_SOURCE_DIR) + "/" + path; }

TEST_F(Window, Turning_a_knob_is_answered_in_the_first_line) {
  openExample(0);
  EXPECT_EQ(window.verdict().answer(), "");
  studio().setKnob("L3.capacity", "70MiB");
  waitFor(studio());
  EXPECT_EQ(window.verdict().answer(),
            "L3 capacity 2 times (70 MiB): nothing changes, L3-memory limits as before.");
  EXPECT_EQ(window.verdict().headline(), "Limited by L3-memory");
  studio().pin();
  waitFor(studio());
  Design d = studio().session().design;
  d.accounting = "honest";
  studio().edit(d, "accounting");
  waitFor(studio());
  EXPECT_EQ(window.verdict().answer(), "");  // that was no knob
}

TEST_F(Window, A_knob_that_would_help_is_one_click_from_its_curve) {
  openExample(0);
  window.showView("time");
  QTableView& table = *window.verdict().knobs();
  ASSERT_GE(table.model()->rowCount(), 1);
  const QString knob = table.model()->index(0, 0).data().toString();
  EXPECT_EQ(knob.toStdString(), scene().worth->knobs.front().knob.name);
  emit table.clicked(table.model()->index(0, 0));
  waitFor(studio());
  EXPECT_EQ(studio().session().view.name, "bottleneck");
  EXPECT_EQ(studio().session().view.knob, knob.toStdString());
  EXPECT_EQ(scene().curve->curve.knob.name, knob.toStdString());
  EXPECT_TRUE(scene().curve.current);
}

TEST_F(Window, A_cost_model_is_a_choice_of_the_design) {
  openExample(0);
  window.showView("cost");
  EXPECT_NE(window.page("cost").plot()->plot().missing.find("No cost model"), std::string::npos);
  EXPECT_EQ(window.equivalentCommand(),
            "tcsim report tccg:29 --machine e5-2680v4 --accounting paper");
  QComboBox& box = *window.inputs().cost();
  box.setCurrentIndex(box.findText("45nm"));
  emit box.activated(box.currentIndex());
  waitFor(studio());
  EXPECT_EQ(studio().session().design.cost, "45nm");
  ASSERT_TRUE(scene().now->cost);
  EXPECT_EQ(window.page("cost").plot()->plot().missing, "");
  EXPECT_EQ(window.verdict().knobs()->model()->columnCount(), 4);
  EXPECT_EQ(window.equivalentCommand(),
            "tcsim whatif tccg:29 --machine e5-2680v4 --accounting paper --cost 45nm");
  studio().history()->undo();
  waitFor(studio());
  EXPECT_EQ(box.currentText(), "not asked for");
  EXPECT_FALSE(scene().now->cost);
}

TEST_F(Window, What_is_not_possible_says_why) {
  const auto action = [&](const char* name) {
    const auto all = window.findChild<QToolBar*>("tools")->actions();
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const QAction* a) { return a->iconText() == name; });
    EXPECT_NE(found, all.end()) << name;
    return *found;
  };
  EXPECT_FALSE(action("Simulate")->isEnabled());
  EXPECT_TRUE(action("Simulate")->toolTip().contains("Choose a workload"));
  openExample(0);
  EXPECT_TRUE(action("Simulate")->toolTip().contains("Count every line"));
  EXPECT_TRUE(action("Swap")->toolTip().contains("Ctrl+B"));
  EXPECT_TRUE(
      action("Reset all figures")->toolTip().contains("Every figure is the machine file's"));
  EXPECT_EQ(action("Undo")->toolTip(), "Nothing has been edited");
  studio().setKnob("L3.capacity", "70MiB");
  EXPECT_TRUE(action("Undo")->isEnabled());
  EXPECT_TRUE(action("Undo")->toolTip().contains("Ctrl+Z"));
  EXPECT_TRUE(action("Reset all figures")->isEnabled());
  EXPECT_EQ(action("Redo")->toolTip(), "Nothing has been undone");
  for (const QAction* a : window.findChild<QToolBar*>("tools")->actions()) {
    EXPECT_NE(a->isSeparator(), !a->icon().isNull()) << a->text().toStdString();
  }
  waitFor(studio());
}

TEST(Dropped, A_file_is_known_by_what_it_holds) {
  EXPECT_EQ(kindOfFile(source("machines/i7-6700k.toml")), FileKind::machine);
  EXPECT_EQ(kindOfFile(source("data/costs/45nm.toml")), FileKind::costModel);
  EXPECT_EQ(kindOfFile(source("data/studies/budget.toml")), FileKind::study);
  EXPECT_EQ(kindOfFile(source("data")), FileKind::results);
  EXPECT_EQ(kindOfFile(source("data/tccg.toml")), FileKind::unknown);
  EXPECT_EQ(kindOfFile(source("README.md")), FileKind::unknown);
  EXPECT_EQ(kindOfFile("/nonexistent/s.toml"), FileKind::unknown);
}

TEST_F(Window, Takes_what_is_dropped_as_an_edit) {
  openExample(0);
  ASSERT_TRUE(window.take(source("machines/i7-6700k.toml")));
  waitFor(studio());
  EXPECT_TRUE(QString::fromStdString(studio().session().design.machine).endsWith("i7-6700k.toml"));
  EXPECT_EQ(scene().now->subject.machine.name, "i7-6700k");
  ASSERT_TRUE(window.take(source("data/costs/45nm.toml")));
  waitFor(studio());
  EXPECT_TRUE(scene().now->cost);
  EXPECT_EQ(studio().history()->count(), 2);
  ASSERT_TRUE(window.take(source("data/studies/budget.toml")));
  EXPECT_TRUE(window.studies().isVisible());
}

TEST_F(Window, Shipped_studies_are_a_menu) {
  QMenu* menu = nullptr;
  for (QMenu* m : window.findChildren<QMenu*>()) {
    if (m->title() == "S&hipped studies") menu = m;
  }
  ASSERT_NE(menu, nullptr);
  emit menu->aboutToShow();
  QAction* budget = nullptr;
  for (QAction* a : menu->actions()) {
    if (a->text() == "budget") budget = a;
  }
  ASSERT_NE(budget, nullptr);
  budget->trigger();
  EXPECT_TRUE(window.studies().isVisible());
}

TEST(Help, Pages_of_the_manual_are_shown_and_lead_to_one_another) {
  EXPECT_TRUE(HelpWindow::pages().contains("gui"));
  HelpWindow help;
  help.open("gui");
  EXPECT_TRUE(help.browser().toPlainText().startsWith("The window"));
  EXPECT_TRUE(help.browser().toPlainText().contains("Would a larger L3 help?"));
  help.browser().setSource(QUrl("whatif.md"));
  EXPECT_TRUE(help.browser().toPlainText().startsWith("What if"));
  help.open("nothing");
  EXPECT_TRUE(help.browser().toPlainText().contains("does not ship"));
}

}  // namespace
}  // namespace tcsim::gui
