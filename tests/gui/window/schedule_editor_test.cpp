// A schedule that is edited as text: judged at once, refused in words, with the best beside it.
#include <QApplication>
#include <QMouseEvent>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QTextBlock>
#include <QUndoStack>

#include "core/machine/toml.hpp"
#include "gui/widgets/schedule_text.hpp"
#include "gui/window/schedule_editor.hpp"
#include "gui/window/view_page.hpp"
#include "tests/gui/window.hpp"

namespace tcsim::gui {
namespace {

class Editing : public Window {
 protected:
  Editing() {
    Session s;
    s.design.workload = {"ij-ik-kj", "i=96,j=96,k=96", {}, {}};
    s.design.machine = "i7-6700k";
    s.view.name = "schedule";
    window.open(s);
    waitFor(studio());
  }
  ScheduleEditor& editor() { return *window.page("schedule").schedule(); }
  void write(const QString& text) {
    editor().text()->setPlainText(text);
    QTest::qWait(250);  // until the keys rest
    waitFor(studio());
  }
};

TEST_F(Editing, A_change_is_judged_at_once_and_stands_beside_the_best) {
  const QString best = editor().text()->toPlainText();
  EXPECT_TRUE(editor().judgement().contains("the best that is found"));
  EXPECT_FALSE(editor().takeBest()->isEnabled());
  const std::string kernel =
      to_text(scene().now->choice.schedule, scene().now->subject.contraction);
  // A comment changes nothing, and stays.
  write("# mine\n" + best);
  EXPECT_EQ(to_text(scene().now->choice.schedule, scene().now->subject.contraction), kernel);
  EXPECT_TRUE(editor().judgement().contains("as quick as the best"))
      << editor().judgement().toStdString();
  EXPECT_TRUE(editor().text()->toPlainText().startsWith("# mine"));
  write("groups m=i n=j k=k for n by 6 { for m by 8 { kernel 8x6 } }");
  ASSERT_TRUE(scene().best);
  EXPECT_TRUE(scene().best.current);
  const Evaluation& now = *scene().now;
  const Schedule expected =
      parse_schedule("groups m=i n=j k=k for n by 6 { for m by 8 { kernel 8x6 } }",
                     now.subject.contraction, "test");
  EXPECT_EQ(now.choice.schedule, expected);
  EXPECT_EQ(now.time(),
            predict(now.subject.contraction, expected, now.subject.machine).timing.total);
  EXPECT_GE(now.time() / scene().best->time(), 1);
  EXPECT_TRUE(editor().best()->toPlainText().startsWith(best.trimmed()));
  // One visit is one step of the history.
  studio().history()->undo();
  waitFor(studio());
  EXPECT_TRUE(studio().session().design.schedule.empty());
  EXPECT_EQ(editor().text()->toPlainText(), best);
}

TEST(Schedule_text, Tiles_are_turned_by_whole_register_tiles) {
  const QString text = "groups m=i n=j k=k\nfor k by 20 {\n  for m by 50 {\n    kernel 8x6\n  }\n}";
  const auto turned = [&](int line, int column, int steps) {
    return withTileTurned(text, line, column, steps)
        .value_or("none")
        .split('\n')
        .value(line)
        .trimmed();
  };
  EXPECT_EQ(turned(2, 12, 1), "for m by 56 {");
  EXPECT_EQ(turned(2, 13, 2), "for m by 64 {");
  EXPECT_EQ(turned(2, 12, -1), "for m by 48 {");
  EXPECT_EQ(turned(2, 12, -100), "for m by 8 {");
  EXPECT_EQ(turned(1, 9, 1), "for k by 24 {");
  EXPECT_EQ(turned(1, 9, -1), "for k by 16 {");
  EXPECT_EQ(withTileTurned("for k by 3 {\n  kernel 8x6\n}", 0, 9, -1), std::nullopt);
  EXPECT_EQ(turned(3, 11, 1), "kernel 9x6");
  EXPECT_EQ(turned(3, 14, -1), "kernel 8x5");
  for (const auto& [line, column] : {std::pair{0, 5}, {1, 2}, {4, 2}, {9, 0}, {-1, 0}}) {
    EXPECT_FALSE(withTileTurned(text, line, column, 1)) << line << " " << column;
  }
}

TEST(Schedule_text, Only_lines_around_one_thing_are_exchanged) {
  const QString text =
      "groups m=i n=j k=k\nfor n by 48 {\n  pack B in L1 {\n    for m by 8 {\n      kernel "
      "8x6\n    }\n  }\n}";
  EXPECT_EQ(withLinesExchanged(text, 1).value_or("none"),
            "groups m=i n=j k=k\npack B in L1 {\n  for n by 48 {\n    for m by 8 {\n      kernel "
            "8x6\n    }\n  }\n}");
  for (const int line : {-1, 0, 3, 4, 7, 20}) EXPECT_FALSE(withLinesExchanged(text, line)) << line;
}

// With the keys and with the mouse; what follows is judged, and simulated when it rests.
TEST_F(Editing, Tiles_are_dragged_and_loops_moved) {
  write(
      "groups m=i n=j k=k\nfor n by 48 {\n  for m by 16 {\n    for n by 6 {\n      for m by 8 {\n"
      "        kernel 8x6\n      }\n    }\n  }\n}");
  QPlainTextEdit& box = *editor().text();
  QTextCursor cursor(box.document()->findBlockByNumber(2));
  cursor.setPosition(cursor.block().position() + 12);
  box.setTextCursor(cursor);
  const auto line = [&](int n) { return box.document()->findBlockByNumber(n).text().trimmed(); };
  QTest::keyClick(&box, Qt::Key_Up, Qt::ControlModifier);
  EXPECT_EQ(line(2), "for m by 24 {");
  QTest::keyClick(&box, Qt::Key_Up, Qt::AltModifier);
  EXPECT_EQ(line(1), "for m by 24 {");
  EXPECT_EQ(line(2), "for n by 48 {");
  EXPECT_EQ(box.textCursor().blockNumber(), 1);
  QTest::keyClick(&box, Qt::Key_Down, Qt::AltModifier);
  EXPECT_EQ(line(2), "for m by 24 {");
  QTest::qWait(250);
  waitFor(studio());
  EXPECT_NE(studio().session().design.schedule.find("for m by 24"), std::string::npos);
  EXPECT_TRUE(scene().simulation.current);
  EXPECT_TRUE(editor().judgement().contains("simulated line by line"))
      << editor().judgement().toStdString();
  // By three steps, and back by undo in the box.
  const QPoint at = box.cursorRect().center();
  QTest::mousePress(box.viewport(), Qt::LeftButton, {}, at);
  for (const int by : {7, 13, 19}) {
    const QPointF to = at + QPoint(by, 0);
    QMouseEvent moved(QEvent::MouseMove, to, box.viewport()->mapToGlobal(to), Qt::NoButton,
                      Qt::LeftButton, {});
    QApplication::sendEvent(box.viewport(), &moved);
  }
  EXPECT_EQ(line(2), "for m by 48 {");
  QTest::mouseRelease(box.viewport(), Qt::LeftButton, {}, at + QPoint(19, 0));
  box.undo();
  EXPECT_EQ(line(2), "for m by 24 {");
}

TEST_F(Editing, What_is_no_schedule_is_refused_with_its_line_and_stays_as_it_is_typed) {
  const Schedule before = scene().now->choice.schedule;
  write("groups m=i n=j k=k\nfor n by 6 {\n  for q by 8 { kernel 8x6 }\n}");
  EXPECT_TRUE(editor().judgement().startsWith("schedule:3:")) << editor().judgement().toStdString();
  EXPECT_EQ(editor().text()->extraSelections().size(), 1);
  EXPECT_EQ(scene().now->choice.schedule, before);
  EXPECT_TRUE(editor().text()->toPlainText().contains("for q by 8"));
  // It reads, but its kernel does not fit into the registers.
  write("groups m=i n=j k=k for n by 48 { for m by 48 { kernel 48x48 } }");
  EXPECT_EQ(scene().now->choice.schedule, before);
  EXPECT_TRUE(editor().judgement().contains("registers")) << editor().judgement().toStdString();
  write("groups m=i n=j k=k for n by 6 { for m by 8 { kernel 8x6 } }");
  EXPECT_EQ(editor().text()->extraSelections().size(), 0);
  EXPECT_FALSE(studio().session().design.schedule.empty());
  QTest::mouseClick(editor().takeBest(), Qt::LeftButton);
  waitFor(studio());
  EXPECT_EQ(scene().now->choice.schedule, before);
}

}  // namespace
}  // namespace tcsim::gui
