// Whoever cannot see the window, or has no mouse, reaches all of it and is told what it is.
#include <gtest/gtest.h>

#include <QAbstractButton>
#include <QAccessible>
#include <QApplication>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QScrollBar>
#include <QTableView>
#include <QTest>
#include <set>

#include "core/saved/session.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/chain_window.hpp"
#include "gui/charts/charts.hpp"
#include "gui/headless.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/study_dialog.hpp"
#include "gui/study/study_window.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/start_page.hpp"
#include "tests/core/made_up_catalog.hpp"

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
  QWidget* first = nullptr;
  for (int i = 0; i < 500; ++i) {
    QWidget* now = QApplication::focusWidget();
    if (first == nullptr) {
      first = now;
    } else if (now == first) {
      break;
    }
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

// Words and tables that are narrower than what they show.
void expectNothingCut(QWidget& window) {
  QApplication::processEvents();
  for (QWidget* w : window.findChildren<QWidget*>()) {
    const bool words = qobject_cast<QLabel*>(w) != nullptr || qobject_cast<QAbstractButton*>(w);
    if (!w->isVisible() || !words || w->objectName().startsWith("qt_")) continue;
    // Qt's own arrows, where a small window has not all tabs.
    if (w->objectName().startsWith("Scroll")) continue;
    const auto* label = qobject_cast<QLabel*>(w);
    if (label != nullptr && label->wordWrap()) {
      EXPECT_GE(w->height(), label->heightForWidth(w->width())) << label->text().toStdString();
    } else if (w->sizePolicy().horizontalPolicy() != QSizePolicy::Ignored) {
      EXPECT_GE(w->width(), w->minimumSizeHint().width()) << described(*w);
    }
  }
  for (const QTableView* table : window.findChildren<QTableView*>()) {
    if (!table->isVisible()) continue;
    if (table->horizontalScrollBarPolicy() != Qt::ScrollBarAlwaysOff) continue;
    for (int c = 0; c < table->model()->columnCount(); ++c) {
      for (int r = 0; r < table->model()->rowCount(); ++r) {
        const QString text = table->model()->index(r, c).data().toString();
        EXPECT_GE(table->columnWidth(c), table->fontMetrics().horizontalAdvance(text))
            << table->accessibleName().toStdString() << ": " << text.toStdString();
      }
    }
    EXPECT_LE(table->horizontalHeader()->length(), table->viewport()->width() + 1)
        << table->accessibleName().toStdString();
  }
}

// A suite takes seconds for each of its workloads.
bool isOfSuite(const ViewKind& kind) { return kind.id == std::string("suite"); }
constexpr const char* smallSuite = "attention:1";

TEST(Access, Nothing_is_cut_in_a_small_window_or_a_large_one) {
  MainWindow window;
  window.studio().setReadKernels(test::made_up_family);
  window.restoreDefaultLayout();
  window.show();
  Session s = examples().at(0).session;
  s.pins = {{"A", s.design}};
  s.design = s.design.with("L2.capacity", "512KiB");
  window.open(s);
  waitFor(window.studio());
  for (const QSize size : {QSize(1280, 800), QSize(2560, 1440)}) {
    window.resize(size);
    for (const ViewKind& kind : viewKinds()) {
      if (isOfSuite(kind)) continue;
      window.showView(kind.id);
      waitFor(window.studio());
      expectNothingCut(window);
    }
  }
  s.design.workload.name = smallSuite;
  s.pins = {{"A", s.design}};
  s.view.name = "suite";
  window.open(s);
  waitFor(window.studio());
  ASSERT_TRUE(window.studio().scene().suite);
  for (const QSize size : {QSize(1280, 800), QSize(2560, 1440)}) {
    window.resize(size);
    expectNothingCut(window);
  }
  window.studies().show();
  expectNothingCut(window.studies());
}

TEST(Access, Every_control_says_what_it_is_and_Tab_leads_there) {
  MainWindow window;
  window.studio().setReadKernels(test::made_up_family);
  expectNames(window);
  Session s = examples().at(0).session;
  s.design.workload.name = smallSuite;
  window.open(s);
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

TEST(Access, Chains_as_well) {
  ChainWindow window;
  expectNames(window);
  expectReachable(window);
  ChainDesign design;
  design.chain = "ap,pq,bq->ab";
  design.sizes = "a=300,p=300,q=300,b=300";
  design.memory = Bytes(1 << 16);
  design.tilesAlone = true;
  window.open(design);
  waitFor(window.planner());
  ASSERT_EQ(window.planner().scene().error, "");
  expectNames(window);
  expectReachable(window);
  expectMenusByKeys(window);
  for (const QSize size : {QSize(1280, 800), QSize(2560, 1440)}) {
    window.resize(size);
    expectNothingCut(window);
  }
}

}  // namespace
}  // namespace tcsim::gui
