// A schedule that is edited as text: judged at once, refused in words, with the best beside it.
#include <QPlainTextEdit>
#include <QPushButton>
#include <QTest>
#include <QUndoStack>

#include "core/machine/toml.hpp"
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
