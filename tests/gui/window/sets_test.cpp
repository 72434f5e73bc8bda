// The view of the sets of a cache in the window.
#include <gtest/gtest.h>

#include <QComboBox>

#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/plot_view.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/view_page.hpp"
#include "tests/gui/window.hpp"

namespace tcsim::gui {
namespace {

TEST_F(Window, Sets_follow_the_level_and_are_simulated_when_asked) {
  Session s;
  s.design.workload = {"ij-ik-kj", "i=60,j=50,k=40", {}, {}};
  s.design.machine = "i7-6700k";
  s.view.name = "sets";
  window.open(s);
  waitFor(studio());
  ASSERT_TRUE(scene().sets && scene().sets.current);  // it takes no time
  EXPECT_EQ(scene().sets->use.level.name, "L1");
  EXPECT_EQ(window.equivalentCommand(),
            "tcsim simulate ij-ik-kj --size i=60,j=50,k=40 --machine i7-6700k --sets L1");
  const auto choose = [&](const char* name, const char* text) {
    for (auto* box : window.page("sets").findChildren<QComboBox*>()) {
      if (box->accessibleName() != name) continue;
      const int at = box->findText(text);
      ASSERT_GE(at, 0) << text;
      box->setCurrentIndex(at);
      emit box->activated(at);
    }
    waitFor(studio());
  };
  choose("level", "L2");
  ASSERT_TRUE(scene().sets.current);
  EXPECT_EQ(scene().sets->use.level.name, "L2");
  EXPECT_EQ(studio().session().view.level, "L2");
  choose("show", "misses, by tensor");
  EXPECT_EQ(window.page("sets").plot()->plot().title, "L2: misses, by tensor");
  // A figure that moves no line leaves them; one that does has them simulated again.
  const auto seen = scene().sets.value;
  studio().setKnob("memory.bandwidth", "3B/cycle");
  waitFor(studio());
  if (scene().now->choice.schedule == seen->schedule) {
    EXPECT_EQ(scene().sets.value, seen);
  }
  studio().setKnob("L2.capacity", "128KiB");
  waitFor(studio());
  EXPECT_NE(scene().sets.value, seen);
  EXPECT_TRUE(scene().sets.current);
  // What takes a while waits until it is asked for, and stops.
  openExample(0);
  window.showView("sets");
  waitFor(studio());
  EXPECT_FALSE(scene().sets.current);
  studio().simulateInDetail();
  EXPECT_TRUE(studio().lookingCloser().isBusy());
  studio().cancelJob();
  waitFor(studio());
  EXPECT_FALSE(scene().sets.current);
}

}  // namespace
}  // namespace tcsim::gui
