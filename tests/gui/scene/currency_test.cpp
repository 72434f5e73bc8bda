// What is shown belongs to the design that is shown, after undo, with a pin, while an edit is
// under way, and where there is no design at all.
#include <gtest/gtest.h>

#include <QApplication>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QTableView>
#include <QUndoStack>
#include <atomic>

#include "core/machine/toml.hpp"
#include "core/units/text.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/window/verdict.hpp"
#include "tests/gui/window.hpp"

namespace tcsim::gui {
namespace {

class Currency : public Window {
 protected:
  Currency() {
    studio().setMeasure([this](const ProbeOptions&) {
      ++measured;
      return find_machine("i7-6700k");
    });
  }
  void expectCompared(Seconds after, Seconds before) {
    ASSERT_FALSE(studio().changes().empty());
    EXPECT_TRUE(studio().changes()[0].starts_with(to_display(after) + " instead of " +
                                                  to_display(before) + " "))
        << studio().changes()[0];
  }
  bool isGrey(const QWidget& w, QPalette::ColorRole role = QPalette::WindowText) {
    return w.palette().color(role) == Theme::of(window.palette()).faint();
  }
  const QWidget& certificate() { return *window.findChild<QLabel*>("certificate"); }
  const QWidget& elasticities() {
    for (const QTableView* t : window.verdict().findChildren<QTableView*>()) {
      if (t->accessibleName().contains("knob")) return *t;
    }
    throw std::logic_error("no table of knobs");
  }
  void expectBlack() {
    EXPECT_FALSE(isGrey(certificate()));
    EXPECT_FALSE(isGrey(elasticities(), QPalette::Text));
  }
  EvaluationPtr pinned() { return scene().pins.empty() ? nullptr : scene().pins[0].evaluation; }
  void expectGrey() {
    EXPECT_TRUE(isGrey(certificate()));
    EXPECT_TRUE(isGrey(elasticities(), QPalette::Text));
  }

  std::atomic<int> measured = 0;
};

TEST_F(Currency, A_session_with_this_machine_pinned_opens) {
  Session s = examples().at(2).session;
  s.pins = {{"A", s.design}};
  s.pins[0].design.machine = hostMachine;
  window.open(s);
  waitFor(studio());
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(studio().error(), "");
  ASSERT_NE(pinned(), nullptr);
  EXPECT_EQ(pinned()->subject.design, s.pins[0].design);
  EXPECT_EQ(pinned()->subject.base.name, "i7-6700k");
  // Swapped, it is the design.
  studio().swapPin(0);
  waitFor(studio());
  EXPECT_EQ(measured, 1);
  EXPECT_EQ(scene().now->subject.base.name, "i7-6700k");
}

TEST_F(Currency, This_machine_is_measured_once_for_design_and_pin) {
  Session s = examples().at(2).session;
  s.design.machine = hostMachine;
  s.pins = {{"A", s.design.with("L1.capacity", "64KiB")}};
  window.open(s);
  waitFor(studio());
  EXPECT_EQ(measured, 1);
  ASSERT_NE(scene().now, nullptr);
  ASSERT_NE(pinned(), nullptr);
}

TEST_F(Currency, What_a_pin_lacks_is_no_error_of_the_design) {
  studio().setMeasure(
      [](const ProbeOptions&) -> Machine { throw std::runtime_error("it rained"); });
  QStringList said;
  QObject::connect(&studio(), &Studio::message, &studio(), [&](const QString& m) { said << m; });
  Session s = examples().at(2).session;
  s.pins = {{"A", s.design}, {"B", s.design.with("L1.capacity", "64KiB")}};
  s.pins[0].design.machine = hostMachine;
  window.open(s);
  waitFor(studio());
  EXPECT_EQ(said.count("pinned A: it rained"), 1);
  EXPECT_EQ(studio().error(), "");
  // It is in nobody's way.
  EXPECT_EQ(scene().pins.at(0).error, "it rained");
  EXPECT_NE(scene().pins.at(1).evaluation, nullptr);
  EXPECT_EQ(window.verdict().headline(), "Limited by computation");
}

TEST_F(Currency, On_the_start_page_there_is_nothing_to_pin_run_or_save) {
  const Session none;
  for (const QKeyCombination keys :
       {Qt::CTRL | Qt::Key_B, Qt::CTRL | Qt::Key_R, Qt::CTRL | Qt::Key_S, Qt::CTRL | Qt::Key_N,
        Qt::CTRL | Qt::Key_E, QKeyCombination(Qt::Key_F5), QKeyCombination(Qt::Key_F6)}) {
    for (const QAction* action : window.findChildren<QAction*>()) {
      if (action->shortcut() != QKeySequence(keys)) continue;
      EXPECT_FALSE(action->isEnabled()) << action->text().toStdString();
    }
  }
  QTest::keyClick(&window, Qt::Key_B, Qt::ControlModifier);
  studio().pin();
  waitFor(studio());
  EXPECT_EQ(measured, 0);
  EXPECT_EQ(studio().history()->count(), 0);
  EXPECT_EQ(studio().session(), none);
  openExample(2);
  QTest::keyClick(&window, Qt::Key_B, Qt::ControlModifier);
  ASSERT_EQ(studio().session().pins.size(), 1u);
  EXPECT_EQ(studio().session().pins[0].design, studio().session().design);
}

TEST_F(Currency, After_undo_the_last_edit_is_the_undo) {
  openExample(2);
  const Seconds before = scene().now->time();
  studio().setKnob("core.fma_per_cycle", "1");
  waitFor(studio());
  const Seconds slow = scene().now->time();
  ASSERT_GT(slow, before * 1.5);
  expectCompared(slow, before);
  studio().history()->undo();
  waitFor(studio());
  expectCompared(before, slow);
  studio().history()->redo();
  waitFor(studio());
  expectCompared(slow, before);
}

TEST_F(Currency, Edits_that_follow_at_once_are_compared_with_the_one_before) {
  openExample(2);
  const Design first = studio().session().design;
  studio().setKnob("core.fma_per_cycle", "1");
  ASSERT_TRUE(QTest::qWaitFor([&] { return !(scene().now->subject.design == first); }));
  ASSERT_FALSE(scene().now->settled);
  const Subject slow = scene().now->subject;
  studio().setKnob("core.fma_per_cycle", "4");
  waitFor(studio());
  expectCompared(scene().now->time(), evaluate(slow, {})->time());
}

TEST_F(Currency, A_pin_changes_nothing_and_leaves_what_the_last_edit_changed) {
  openExample(2);
  studio().setKnob("core.fma_per_cycle", "1");
  waitFor(studio());
  const auto said = studio().changes();
  ASSERT_FALSE(said.empty());
  studio().pin();
  waitFor(studio());
  EXPECT_EQ(studio().changes(), said);
  studio().history()->undo();
  waitFor(studio());
  EXPECT_EQ(studio().changes(), said);
}

TEST_F(Currency, While_a_value_is_impossible_certificate_and_elasticities_are_grey) {
  openExample(2);
  expectBlack();
  type(row("memory.bandwidth"), "500GB/s");
  waitFor(studio());
  ASSERT_NE(studio().error(), "");
  expectGrey();
  studio().history()->undo();
  waitFor(studio());
  expectBlack();
}

TEST_F(Currency, While_a_slider_moves_they_are_grey_until_they_are_of_what_is_shown) {
  openExample(2);
  KnobRow& l3 = row("L3.capacity");
  l3.slider()->setSliderDown(true);
  l3.slider()->setValue(40);
  expectGrey();  // at once, before anything has come of it
  ASSERT_TRUE(
      QTest::qWaitFor([&] { return scene().now->subject.design == studio().session().design; }));
  if (!scene().now->settled) expectGrey();
  l3.slider()->setSliderDown(false);
  waitFor(studio());
  expectBlack();
}

}  // namespace
}  // namespace tcsim::gui
