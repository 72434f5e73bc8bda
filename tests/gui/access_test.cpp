// Whoever cannot see the window, or has no mouse, reaches all of it and is told what it is.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QApplication>
#include <QMenu>
#include <QMenuBar>
#include <QScrollBar>
#include <QTest>
#include <set>

#include "gui/charts/charts.hpp"
#include "gui/headless.hpp"
#include "gui/session/studio.hpp"
#include "gui/study/study_dialog.hpp"
#include "gui/study/study_window.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"

namespace tcsim::gui {
namespace {

std::string described(const QWidget& w) {
  std::string path;
  for (const QWidget* p = &w; p != nullptr; p = p->parentWidget()) {
    path = std::string(p->metaObject()->className()) + "(" + p->objectName().toStdString() + ")" +
           (path.empty() ? "" : " > " + path);
  }
  return path;
}

// All that can have the focus, but for what Qt makes within its own widgets.
std::vector<QWidget*> reachable(QWidget& window) {
  std::vector<QWidget*> all;
  for (QWidget* w : window.findChildren<QWidget*>()) {
    if ((w->focusPolicy() & Qt::TabFocus) == 0 || w->objectName().startsWith("qt_")) continue;
    if (qobject_cast<QScrollBar*>(w) != nullptr || w->window() != &window) continue;
    all.push_back(w);
  }
  return all;
}

void expectNames(QWidget& window) {
  const auto all = reachable(window);
  EXPECT_GT(all.size(), 3u);
  for (QWidget* w : all) {
    // A spin box and an editable choice speak for the field in them.
    if (w->focusProxy() != nullptr) continue;
    QAccessibleInterface* spoken = QAccessible::queryAccessibleInterface(w);
    ASSERT_NE(spoken, nullptr) << described(*w);
    EXPECT_NE(spoken->text(QAccessible::Name).trimmed(), "") << described(*w);
  }
}

// Where Tab leads, from where it begins, until it comes back.
std::set<QWidget*> tabbed(QWidget& window) {
  window.show();
  window.activateWindow();
  QApplication::setActiveWindow(&window);
  std::set<QWidget*> met;
  for (int i = 0; i < 500; ++i) {
    QWidget* now = QApplication::focusWidget();
    if (now != nullptr) met.insert(now);
    // Ctrl leads out of texts, which keep Tab for themselves.
    QTest::keyClick(now != nullptr ? now : &window, Qt::Key_Tab);
    if (QApplication::focusWidget() == now) {
      QTest::keyClick(now != nullptr ? now : &window, Qt::Key_Tab, Qt::ControlModifier);
    }
  }
  return met;
}

void expectReachable(QWidget& window) {
  const auto met = tabbed(window);
  for (QWidget* w : reachable(window)) {
    if (!w->isVisible() || !w->isEnabled() || w->focusProxy() != nullptr) continue;
    EXPECT_TRUE(met.contains(w)) << described(*w);
  }
}

void expectMenusByKeys(const QMainWindow& window) {
  for (const QAction* menu : window.menuBar()->actions()) {
    EXPECT_TRUE(menu->text().contains('&')) << menu->text().toStdString();
    std::set<QChar> taken;
    for (const QAction* action : menu->menu()->actions()) {
      const auto at = action->text().indexOf('&');
      if (action->isSeparator() || at < 0) continue;
      EXPECT_TRUE(taken.insert(action->text().at(at + 1).toLower()).second)
          << menu->text().toStdString() << " has two of " << action->text().toStdString();
    }
  }
}

TEST(Access, Every_control_says_what_it_is_and_Tab_leads_there) {
  MainWindow window;
  expectNames(window);
  window.open(examples().at(0).session);
  waitFor(window.studio());
  window.setTablesShown(true);
  expectNames(window);
  for (const ViewKind& kind : viewKinds()) {
    window.showView(kind.id);
    waitFor(window.studio());
    expectReachable(window);
  }
  expectMenusByKeys(window);
}

TEST(Access, Studies_and_their_dialog_as_well) {
  MainWindow window;
  window.open(examples().at(0).session);
  waitFor(window.studio());
  expectNames(window.studies());
  expectReachable(window.studies());
  expectMenusByKeys(window.studies());
  StudyDialog dialog(window.studio());
  expectNames(dialog);
  expectReachable(dialog);
}

}  // namespace
}  // namespace tcsim::gui
