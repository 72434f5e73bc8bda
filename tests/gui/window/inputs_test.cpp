// What somebody types, turns and scrolls on the left side.
#include <gtest/gtest.h>
#include <unistd.h>

#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QLabel>
#include <QUndoStack>
#include <QWheelEvent>
#include <filesystem>
#include <fstream>

#include "gui/study/study_dialog.hpp"
#include "gui/study/study_window.hpp"
#include "gui/window/verdict.hpp"
#include "tests/cli/run.hpp"
#include "tests/gui/window.hpp"
#include "tests/scratch.hpp"

namespace tcsim::gui {
namespace {

class Typing : public Window {
 protected:
  void label(const char* text) {
    window.inputs().workload()->setEditText(text);
    QTest::keyClick(window.inputs().workload()->lineEdit(), Qt::Key_Return);
    waitFor(studio());
  }
  void sizes(const char* text) {
    window.inputs().sizes()->setText(text);
    QTest::keyClick(window.inputs().sizes(), Qt::Key_Return);
    waitFor(studio());
  }
  const WorkloadRequest& workload() { return studio().session().design.workload; }
};

TEST_F(Typing, A_label_may_be_written_with_blanks) {
  openExample(2);
  label("aebf, dfce -> abcd");
  EXPECT_EQ(workload().name, "aebf,dfce->abcd");
  EXPECT_EQ(workload().sizes, "a=64,b=64,c=64,d=64,e=64,f=64");
  EXPECT_EQ(window.inputs().problem(), "");
  label(" ij - ik - kj ");
  EXPECT_EQ(workload().name, "ij-ik-kj");
}

TEST_F(Typing, Sizes_follow_the_indices_of_the_label) {
  openExample(2);
  label("ij-ik-kj");
  sizes("i=8,j=16,k=32");
  EXPECT_EQ(workload().sizes, "i=8,j=16,k=32");
  label("ijB-ikB-kj");  // k stays, B is new
  EXPECT_EQ(workload().sizes, "B=64,i=8,j=16,k=32");
  label("im-ik-km");  // j and B are gone
  EXPECT_EQ(workload().sizes, "i=8,k=32,m=64");
  EXPECT_EQ(window.inputs().sizes()->text(), "i=8,k=32,m=64");
  EXPECT_EQ(studio().error(), "");
  // What is typed of the same label is left as it is.
  sizes("i = 12, k = 4, m = 20");
  EXPECT_EQ(workload().sizes, "i = 12, k = 4, m = 20");
}

TEST_F(Typing, What_is_no_workload_is_refused_in_the_command_lines_words) {
  openExample(2);
  label("ij-ik-kj");
  const Session before = studio().session();
  const int steps = studio().history()->count();
  const auto expectRefused = [&](const char* typed, const std::vector<std::string>& more) {
    std::vector<std::string> args{"predict", typed, "--machine", "i7-6700k"};
    args.insert(args.end(), more.begin(), more.end());
    const cli::Ran said = cli::tcsim(args);
    EXPECT_EQ("tcsim: " + window.inputs().problem().toStdString() + "\n", said.err) << typed;
    EXPECT_EQ(studio().session(), before) << typed;
    EXPECT_EQ(studio().history()->count(), steps) << typed;
    EXPECT_EQ(studio().error(), "") << typed;
  };
  const std::vector<std::string> size{"--size", "a=64,b=64,c=64,d=64,e=64,f=64,g=64,z=64"};
  for (const char* typed : {"abcdef-zzzdegc", "abcdef-degc-zzz", "aab-bc-ca", "ab-cd-ef"}) {
    label(typed);
    EXPECT_EQ(window.inputs().workload()->currentText(), typed);
    expectRefused(typed, size);
  }
  label("tccg:99");
  expectRefused("tccg:99", {});
  label("tccg:1 x");
  expectRefused("tccg:1 x", {});
  window.inputs().workload()->setEditText("ij-ik-kj");
  sizes("i=0,j=1,k=1");
  expectRefused("ij-ik-kj", {"--size", "i=0,j=1,k=1"});
  sizes("i=9,j=9,k=9");
  EXPECT_EQ(workload().sizes, "i=9,j=9,k=9");
  EXPECT_EQ(window.inputs().problem(), "");
}

TEST_F(Typing, A_program_is_opened_if_it_is_a_contraction_and_refused_in_words_if_not) {
  const auto file = [](const char* name, const char* text) {
    const auto path = test::scratch(name + std::string(".program"));
    std::ofstream(path) << text;
    return path.string();
  };
  const std::string chain =
      file("chain",
           "program chain dims i=8 j=3 k=4 l=5 f64 input A[i, k] f64 input B[k, j] "
           "f64 intermediate T[i, j] f64 input D[j, l] f64 output E[i, l] "
           "T[i, j] += A[i, k] * B[k, j] E[i, l] += T[i, j] * D[j, l]");
  const std::string product =
      file("mm",
           "program mm dims i=64 j=64 k=64 f64 input A[i, k] f64 input B[k, j] f64 output C[i, j] "
           "C[i, j] += A[i, k] * B[k, j]");
  openExample(2);
  const Session before = studio().session();
  label(chain.c_str());
  EXPECT_EQ(window.inputs().problem(),
            "chain: it has 2 statements: chains are not done yet; one statement that multiplies "
            "two tensors is");
  EXPECT_EQ(studio().session(), before);
  label(product.c_str());
  EXPECT_EQ(window.inputs().problem(), "");
  EXPECT_EQ(workload().name, product);
  EXPECT_EQ(studio().error(), "");
  // The file becomes one that is refused: a session that names it says why.
  std::filesystem::copy_file(chain, product, std::filesystem::copy_options::overwrite_existing);
  Session session = before;
  session.design.workload = {product, "", {}, {}};
  session.design.schedule.clear();
  studio().open(session);
  waitFor(studio());
  label("ij-ik-kj");
  EXPECT_EQ(studio().error(), "");
  studio().open(session);
  waitFor(studio());
  EXPECT_TRUE(studio().error().contains("chains are not done yet"))
      << studio().error().toStdString();
  std::filesystem::remove(chain);
  std::filesystem::remove(product);
}

TEST_F(Typing, A_convolution_begins_with_usual_sizes_in_single_precision) {
  openExample(2);
  label("conv2d");
  EXPECT_EQ(window.inputs().problem(), "");
  EXPECT_EQ(workload().name, "conv2d");
  EXPECT_EQ(workload().sizes, "k=64,c=64,y=56,x=56,r=3,s=3");
  EXPECT_EQ(workload().layout, std::nullopt);
  EXPECT_EQ(find_workload(workload()).type(), ElementType::f32);
  EXPECT_EQ(studio().error(), "");
  label("O[k, y] += I[c, 2*y + r] * W[k, c, r]");
  EXPECT_EQ(window.inputs().problem(), "");
  EXPECT_EQ(workload().sizes, "c=64,k=64,r=64,y=64");
  EXPECT_EQ(studio().error(), "");
}

TEST_F(Typing, A_refused_workload_on_the_start_page_opens_nothing) {
  label("abcdef-zzzdegc");
  EXPECT_FALSE(studio().hasSession());
  EXPECT_NE(window.inputs().problem(), "");
}

// A bandwidth that is too much, in a unit that is not the file's.
TEST_F(Typing, An_impossible_value_stays_as_it_was_typed) {
  openExample(2);
  KnobRow& memory = row("memory.bandwidth");
  type(memory, "500GB/s");
  waitFor(studio());
  EXPECT_EQ(memory.field()->text(), "500GB/s");
  EXPECT_TRUE(memory.error().contains("500GB/s")) << memory.error().toStdString();
  EXPECT_FALSE(memory.error().contains("e+")) << memory.error().toStdString();
  // 500 GB/s of 2.4 GHz and 6.08 B/cycle: 34 times, which is beyond the slider.
  EXPECT_EQ(memory.slider()->value(), sliderSteps);
  // Others keep what they have.
  EXPECT_EQ(row("L2.capacity").field()->text(), "256 KiB");
  studio().history()->undo();
  waitFor(studio());
  EXPECT_EQ(memory.field()->text(), "6.08 B/cycle");
  EXPECT_EQ(memory.error(), "");
}

TEST_F(Typing, A_text_that_is_no_value_stays_with_what_is_wrong_with_it) {
  openExample(2);
  KnobRow& l2 = row("L2.capacity");
  type(l2, "big");
  EXPECT_TRUE(l2.error().contains("big"));
  studio().setKnob("L1.bandwidth", "40B/cycle");  // something else goes on
  waitFor(studio());
  EXPECT_EQ(l2.field()->text(), "big");
  EXPECT_TRUE(l2.error().contains("big"));
  type(l2, "512KiB");
  waitFor(studio());
  EXPECT_EQ(l2.field()->text(), "512 KiB");
  EXPECT_EQ(l2.error(), "");
  type(l2, "bigger");
  l2.slider()->setValue(10);
  waitFor(studio());
  EXPECT_NE(l2.field()->text(), "bigger");
  EXPECT_EQ(l2.error(), "");
}

void wheel(QWidget& over, int steps) {
  QWheelEvent event(over.rect().center(), over.mapToGlobal(over.rect().center()), {},
                    {0, 120 * steps}, Qt::NoButton, Qt::NoModifier, Qt::NoScrollPhase, false);
  QApplication::sendEvent(&over, &event);
}

template <class Control, class Value>
int expectKept(QWidget& where, const Value& value) {
  int some = 0;
  for (Control* c : where.findChildren<Control*>()) {
    if (c->objectName().startsWith("qt_") || c->hasFocus()) continue;
    const auto before = value(*c);
    wheel(*c, 1);
    wheel(*c, -1);
    wheel(*c, -1);
    EXPECT_EQ(value(*c), before) << c->accessibleName().toStdString();
    EXPECT_FALSE(c->hasFocus()) << c->accessibleName().toStdString();
    ++some;
  }
  return some;
}

int expectWheelScrolls(QWidget& where) {
  return expectKept<QComboBox>(where, [](QComboBox& b) { return b.currentIndex(); }) +
         expectKept<QAbstractSpinBox>(where, [](QAbstractSpinBox& b) { return b.text(); }) +
         expectKept<QSlider>(where, [](QSlider& s) { return s.value(); });
}

TEST_F(Typing, The_wheel_changes_nothing_that_it_only_comes_by) {
  openExample(1);
  const Session before = studio().session();
  EXPECT_GT(expectWheelScrolls(window), 10);
  StudyDialog dialog(studio());
  dialog.show();
  EXPECT_GT(expectWheelScrolls(dialog), 4);
  window.studies().show();
  EXPECT_GT(expectWheelScrolls(window.studies()), 1);
  waitFor(studio());
  EXPECT_EQ(studio().session(), before);
  // Whoever has gone to a choice may turn it.
  QComboBox& accounting = *window.findChild<QComboBox*>("accounting");
  window.activateWindow();
  QApplication::setActiveWindow(&window);
  accounting.setFocus();
  ASSERT_TRUE(accounting.hasFocus());
  const int index = accounting.currentIndex();
  wheel(accounting, -1);
  EXPECT_EQ(accounting.currentIndex(), index + 1);
}

}  // namespace
}  // namespace tcsim::gui
