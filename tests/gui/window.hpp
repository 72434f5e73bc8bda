// A window to try, and hands for it.
#pragma once

#include <gtest/gtest.h>

#include <QLineEdit>
#include <QSlider>
#include <QTemporaryDir>
#include <QTest>
#include <initializer_list>

#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/knob_row.hpp"
#include "gui/window/inputs.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"
#include "tests/core/made_up_catalog.hpp"

namespace tcsim::gui {

inline void drag(KnobRow& row, std::initializer_list<int> positions) {
  row.slider()->setSliderDown(true);
  for (int p : positions) {
    row.slider()->setValue(p);
    QTest::qWait(5);
  }
  row.slider()->setSliderDown(false);
}

inline void type(KnobRow& row, const char* text) {
  row.field()->selectAll();
  QTest::keyClicks(row.field(), text);
  QTest::keyClick(row.field(), Qt::Key_Return);
}

class Window : public testing::Test {
 protected:
  Window() {
    studio().setReadKernels(test::made_up_family);
    window.show();
  }
  Studio& studio() { return window.studio(); }
  const Scene& scene() { return window.studio().scene(); }
  KnobRow& row(const char* knob) {
    KnobRow* r = window.inputs().row(knob);
    EXPECT_NE(r, nullptr) << knob;
    return *r;
  }
  void openExample(std::size_t i) {
    window.open(examples().at(i).session);
    waitFor(studio());
  }

  MainWindow window;
  QTemporaryDir folder;
};

}  // namespace tcsim::gui
