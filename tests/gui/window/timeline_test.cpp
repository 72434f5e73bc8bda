// The timeline in the window: zooming simulates what is shown.
#include <gtest/gtest.h>

#include <QApplication>
#include <QPushButton>
#include <QSignalSpy>
#include <QWheelEvent>

#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/view_page.hpp"
#include "tests/gui/window.hpp"

namespace tcsim::gui {
namespace {

class Timeline_window : public Window {
 protected:
  void openProduct() {
    Session s;
    s.design.workload = {"ij-ik-kj", "i=60,j=50,k=40", {}, {}};
    s.design.machine = "i7-6700k";
    s.view.name = "timeline";
    window.open(s);
    waitFor(studio());
  }
  PlotView& plot() { return *window.page("timeline").plot(); }
  QWidget& canvas() { return *plot().findChild<QWidget*>(); }
  void turnWheel(QPointF at, int notches, Qt::KeyboardModifiers keys) {
    QWheelEvent event(at, canvas().mapToGlobal(at), {}, {0, 120 * notches}, Qt::NoButton, keys,
                      Qt::NoScrollPhase, false);
    QApplication::sendEvent(&canvas(), &event);
  }
  // Until what is shown has been simulated.
  void rest() {
    QTest::qWait(400);
    waitFor(studio());
  }
};

TEST_F(Timeline_window, Zooming_in_simulates_the_part_in_more_frames) {
  openProduct();
  ASSERT_TRUE(scene().timeline && scene().timeline.current);  // it takes no time
  const std::int64_t all = scene().timeline->line.touches, frame = scene().timeline->line.frame;
  EXPECT_EQ(window.equivalentCommand(),
            "tcsim simulate ij-ik-kj --size i=60,j=50,k=40 --machine i7-6700k --timeline 256");
  for (int i = 0; i < 6; ++i) window.page("timeline").zoom(1 / zoomStep);
  rest();
  const Timeline& part = scene().timeline->line;
  EXPECT_TRUE(scene().timeline.current);
  EXPECT_GT(part.shown.begin, 0);
  EXPECT_LT(part.shown.end, all);
  EXPECT_LT(part.frame, frame);
  EXPECT_EQ(studio().session().view.part, part.shown);
  EXPECT_TRUE(window.equivalentCommand().endsWith(
      QString::fromStdString(" --timeline-part " + to_text(part.shown))));
  EXPECT_EQ(plot().plot().x.low, static_cast<double>(part.shown.begin));
  // Beside it, then out again.
  const TouchRange before = part.shown;
  window.page("timeline").pan(0.25);
  rest();
  EXPECT_GT(scene().timeline->line.shown.begin, before.begin);
  window.page("timeline").zoom(HUGE_VAL);
  rest();
  EXPECT_EQ(scene().timeline->line.shown, (TouchRange{0, all}));
  EXPECT_EQ(studio().session().view.part, TouchRange());
}

TEST_F(Timeline_window, The_wheel_zooms_with_Ctrl_alone_and_a_drag_moves) {
  openProduct();
  QSignalSpy spy(&plot(), &PlotView::shownChanged);
  const QPointF middle = canvas().rect().center();
  turnWheel(middle, 1, Qt::NoModifier);
  EXPECT_EQ(spy.count(), 0);
  turnWheel(middle, 3, Qt::ControlModifier);
  ASSERT_EQ(spy.count(), 1);
  const double low = spy[0][0].toDouble(), high = spy[0][1].toDouble();
  const auto all = static_cast<double>(scene().timeline->line.touches);
  EXPECT_NEAR(high - low, all / std::pow(zoomStep, 3), 1e-6 * all);
  QTest::mousePress(&canvas(), Qt::LeftButton, {}, middle.toPoint());
  QTest::mouseMove(&canvas(), (middle - QPointF(30, 0)).toPoint());
  QTest::mouseRelease(&canvas(), Qt::LeftButton, {}, (middle - QPointF(30, 0)).toPoint());
  ASSERT_EQ(spy.count(), 2);
  EXPECT_GT(spy[1][0].toDouble(), low);
  EXPECT_NEAR(spy[1][1].toDouble() - spy[1][0].toDouble(), high - low, 1e-6 * all);
  // Without a button down it stays.
  QTest::mouseMove(&canvas(), middle.toPoint());
  EXPECT_EQ(spy.count(), 2);
  QTest::mouseDClick(&canvas(), Qt::LeftButton, {}, middle.toPoint());
  EXPECT_EQ(spy.back()[0].toDouble(), 0);
  EXPECT_EQ(spy.back()[1].toDouble(), all);
}

// Other charts zoom along both axes, and come back whole with another picture.
TEST_F(Timeline_window, Every_chart_zooms) {
  openExample(0);
  window.showView("roofline");
  waitFor(studio());
  PlotView& view = *window.page("roofline").plot();
  QSignalSpy spy(&view, &PlotView::shownChanged);
  window.page("roofline").zoom(1 / zoomStep);
  ASSERT_EQ(spy.count(), 1);
  EXPECT_GT(spy[0][0].toDouble(), view.plot().x.low);
  EXPECT_LT(spy[0][1].toDouble(), view.plot().x.high);
  window.page("roofline").zoom(HUGE_VAL);
  ASSERT_EQ(spy.count(), 2);
  EXPECT_EQ(spy[1][0].toDouble(), view.plot().x.low);
  // Neither the schedule's text nor the tiles.
  window.page("schedule").zoom(2);
  window.page("tiles").pan(1);
}

TEST_F(Timeline_window, What_takes_a_while_waits_until_it_is_asked_for) {
  openExample(0);
  window.showView("timeline");
  waitFor(studio());
  EXPECT_FALSE(scene().timeline);
  QPushButton* simulate = nullptr;
  for (auto* b : window.page("timeline").findChildren<QPushButton*>()) {
    if (b->text() == "Simulate the run") simulate = b;
  }
  ASSERT_NE(simulate, nullptr);
  simulate->click();
  EXPECT_TRUE(studio().lookingCloser().isBusy());
  studio().cancelJob();
  waitFor(studio());
  EXPECT_FALSE(scene().timeline);
}

}  // namespace
}  // namespace tcsim::gui
