// The main window's menus, tool bar and shortcuts.
#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QDir>
#include <QDockWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QStatusBar>
#include <QStyle>
#include <QTabWidget>
#include <QToolBar>
#include <QToolButton>
#include <QUndoStack>
#include <cmath>

#include "core/data/shipped.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/zoom.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/study_window.hpp"
#include "gui/window/help_window.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/pins_dialog.hpp"
#include "gui/window/session_file.hpp"
#include "gui/window/start_page.hpp"

namespace tcsim::gui {

namespace {

struct Shortcut {
  const char* keys;
  const char* does;
};
// Those of the menus, and of the widgets themselves.
constexpr Shortcut shortcuts[] = {
    {"Ctrl+1 ... Ctrl+9, Ctrl+0, Ctrl+L, Ctrl+M, Ctrl+U", "the views"},
    {"Alt+W, Alt+M, Alt+A", "workload, machine, accounting"},
    {"Tab, Shift+Tab", "next and previous slider, field, button"},
    {"Left, Right", "a slider by 7 %"},
    {"Page Up, Page Down", "a slider to twice and to half"},
    {"Ctrl+Z, Ctrl+Shift+Z", "undo, redo"},
    {"Ctrl+R", "reset every figure to the machine file's"},
    {"Ctrl+B", "pin this design, to compare with"},
    {"Ctrl+Shift+B", "unpin the design that was pinned last"},
    {"Ctrl+Alt+B", "the pinned designs, and their names"},
    {"F7", "swap the design that was pinned last with this one"},
    {"Ctrl++, Ctrl+-, Ctrl+Home", "zoom in, out, the whole picture"},
    {"Ctrl+Left, Ctrl+Right", "what lies beside it"},
    {"Ctrl+Up, Ctrl+Down", "in the schedule: the tile at the cursor larger, smaller"},
    {"Alt+Up, Alt+Down", "in the schedule: the line past its neighbour"},
    {"Ctrl and the wheel, drag, double click", "the same with a mouse"},
    {"Ctrl+T", "the table behind each chart"},
    {"F5", "simulate this schedule"},
    {"F6", "run it on this machine"},
    {"Esc", "cancel what is running"},
    {"Ctrl+O, Ctrl+S, Ctrl+Shift+S", "open, save, save as"},
    {"Ctrl+Shift+O", "studies, and results of sweeps"},
    {"Ctrl+N", "a study of this session"},
    {"Ctrl+K", "chains that do not fit into memory"},
    {"Ctrl+E", "export the picture"},
    {"Ctrl+Shift+E", "export the table"},
    {"Ctrl+Shift+C", "copy the table"},
    {"Ctrl+Alt+C", "copy the equivalent tcsim command"},
    {"F1", "this list"},
    {"Shift+F1", "the page of the manual about the window"},
    {"Ctrl+Q", "quit"},
};

// Shipped ones and this one.
std::vector<std::string> machinesToPin() {
  std::vector<std::string> all;
  try {
    all = shipped_machines();
  } catch (const std::exception&) {  // as where they are chosen: there is this one at least
  }
  all.emplace_back(hostMachine);
  return all;
}

QFileInfoList shippedStudies() {
  try {
    const QDir folder(QString::fromStdString((data_dir() / "data" / "studies").string()));
    return folder.entryInfoList({"*.toml"}, QDir::Files, QDir::Name);
  } catch (const std::exception&) {
    return {};
  }
}

}  // namespace

QAction* MainWindow::act(QMenu* menu, const QString& name, const QKeySequence& keys, auto&& slot) {
  auto* action = menu->addAction(name);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, std::forward<decltype(slot)>(slot));
  return action;
}

void MainWindow::makeMenus() {
  using K = QKeySequence;
  QMenu* file = menuBar()->addMenu(tr("&File"));
  QMenu* examplesMenu = file->addMenu(tr("&Examples"));
  for (const Example& e : examples()) {
    act(examplesMenu, tr(e.question), {}, [this, s = e.session] {
      if (file_->mayDrop()) open(s);
    });
  }
  act(file, tr("&Open session..."), K::Open, [this] { file_->browse(); });
  QMenu* recent = file->addMenu(tr("Open &recent"));
  connect(recent, &QMenu::aboutToShow, this, [this, recent] {
    recent->clear();
    for (const QString& f : recentSessions()) {
      act(recent, f, {}, [this, f] {
        if (file_->mayDrop()) file_->open(f);
      });
    }
    if (recent->isEmpty()) recent->addAction(tr("none yet"))->setEnabled(false);
  });
  const auto needs = [this](QAction* action) { needSession_.push_back(action); };
  needs(act(file, tr("&Save session"), K::Save, [this] { file_->save(); }));
  needs(act(file, tr("Save session &as..."), K(tr("Ctrl+Shift+S")), [this] { file_->saveAs(); }));
  file->addSeparator();
  act(file, tr("Stu&dies and results of sweeps..."), K(tr("Ctrl+Shift+O")),
      [this] { showStudies(); });
  needs(act(file, tr("&New study of this session..."), K(tr("Ctrl+N")), [this] {
    showStudies();
    studies().newFromSession();
  }));
  QMenu* studiesMenu = file->addMenu(tr("S&hipped studies"));
  connect(studiesMenu, &QMenu::aboutToShow, this, [this, studiesMenu] {
    studiesMenu->clear();
    for (const QFileInfo& study : shippedStudies()) {
      act(studiesMenu, study.completeBaseName(), {}, [this, f = study.filePath()] { take(f); });
    }
    if (studiesMenu->isEmpty()) {
      studiesMenu->addAction(tr("none ship with this build"))->setEnabled(false);
    }
  });
  act(file, tr("Open &chain..."), K(tr("Ctrl+K")), [this] { showChains(); });
  file->addSeparator();
  needs(act(file, tr("E&xport picture..."), K(tr("Ctrl+E")), [this] { askExport(); }));
  needs(act(file, tr("Export &table..."), K(tr("Ctrl+Shift+E")), [this] { exportTable(); }));
  file->addSeparator();
  act(file, tr("&Quit"), K(tr("Ctrl+Q")), [this] { close(); });

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  undo_ = studio_->history()->createUndoAction(this, tr("&Undo"));
  undo_->setShortcut(K(tr("Ctrl+Z")));
  redo_ = studio_->history()->createRedoAction(this, tr("&Redo"));
  redo_->setShortcut(K(tr("Ctrl+Shift+Z")));
  // In the tool bar the names of edits and pins would move everything behind them.
  undo_->setIconText(tr("Undo"));
  redo_->setIconText(tr("Redo"));
  edit->addAction(undo_);
  edit->addAction(redo_);
  reset_ = act(edit, tr("Re&set all figures"), K(tr("Ctrl+R")), [this] {
    Design d = studio_->session().design;
    d.overrides.clear();
    studio_->edit(d, tr("reset all figures"));
  });
  edit->addSeparator();
  needs(act(edit, tr("Copy &picture"), K(), [this] { copyPicture(); }));
  needs(act(edit, tr("Copy &table"), K(tr("Ctrl+Shift+C")), [this] { copyTable(); }));
  act(edit, tr("Copy the equivalent tcsim &command"), K(tr("Ctrl+Alt+C")), [this] {
    QApplication::clipboard()->setText(equivalentCommand());
    statusBar()->showMessage(tr("copied: %1").arg(equivalentCommand()), 8000);
  });

  QMenu* view = menuBar()->addMenu(tr("&View"));
  constexpr int digits = 10;
  constexpr char letters[] = "LMU";  // of those behind them
  int number = 1;
  auto* views = new QMenu(this);
  for (const ViewKind& kind : viewKinds()) {
    const QString keys = number > digits ? QString("Ctrl+%1").arg(letters[number - digits - 1])
                                         : QString("Ctrl+%1").arg(number % digits);
    ++number;
    views->addAction(act(view, tr(kind.title), K(keys), [this, id = kind.id] { showView(id); }));
  }
  // There are more of them than tabs beside one another on many screens.
  auto* all = new QToolButton;
  all->setText(tr("Views"));
  all->setMenu(views);
  all->setPopupMode(QToolButton::InstantPopup);
  all->setAutoRaise(true);
  all->setAccessibleName(tr("all views"));
  tabs_->setCornerWidget(all);
  view->addSeparator();
  const auto zoom = [&](const QString& name, const QString& keys, double factor) {
    needs(act(view, name, K(keys), [this, factor] { currentPage().zoom(factor); }));
  };
  zoom(tr("Zoom &in"), "Ctrl++", 1 / zoomStep);
  zoom(tr("Zoom &out"), "Ctrl+-", zoomStep);
  zoom(tr("The &whole picture"), "Ctrl+Home", HUGE_VAL);
  for (const double share : {-0.25, 0.25}) {
    needs(act(view, share < 0 ? tr("&Left") : tr("&Right"),
              K(share < 0 ? "Ctrl+Left" : "Ctrl+Right"),
              [this, share] { currentPage().pan(share); }));
  }
  view->addSeparator();
  tables_ = act(view, tr("&Table behind each chart"), K(tr("Ctrl+T")),
                [this](bool on) { setTablesShown(on); });
  tables_->setCheckable(true);
  view->addAction(left_->toggleViewAction());
  view->addAction(right_->toggleViewAction());
  act(view, tr("Restore &default layout"), K(), [this] { restoreDefaultLayout(); });

  QMenu* compare = menuBar()->addMenu(tr("&Compare"));
  pin_ = act(compare, tr("&Pin this design"), K(tr("Ctrl+B")), [this] { studio_->pin(); });
  QMenu* others = compare->addMenu(tr("Pin it on another &machine"));
  connect(others, &QMenu::aboutToShow, this, [this, others] {
    others->clear();
    for (const std::string& machine : machinesToPin()) {
      act(others, QString::fromStdString(machine), {},
          [this, machine] { studio_->pinOn(machine); });
    }
  });
  needs(others->menuAction());
  const auto last = [this] { return studio_->session().pins.size() - 1; };
  swap_ = act(compare, tr("&Swap with the last pin"), K(tr("F7")),
              [this, last] { studio_->swapPin(last()); });
  unpin_ = act(compare, tr("&Unpin the last pin"), K(tr("Ctrl+Shift+B")),
               [this, last] { studio_->unpin(last()); });
  pin_->setIconText(tr("Pin"));
  swap_->setIconText(tr("Swap"));
  unpinAll_ = act(compare, tr("Unpin &all"), K(), [this] { studio_->unpinAll(); });
  compare->addSeparator();
  pins_ = act(compare, tr("Pinned &designs..."), K(tr("Ctrl+Alt+B")), [this] { showPins(); });

  QMenu* run = menuBar()->addMenu(tr("&Run"));
  simulate_ = act(run, tr("&Simulate"), K(tr("F5")), [this] {
    showView("traffic");
    studio_->simulate();
  });
  needs(act(run, tr("&Run on this machine"), K(tr("F6")), [this] {
    showView("traffic");
    studio_->run();
  }));
  act(run, tr("&Cancel"), K(tr("Esc")), [this] { studio_->cancelJob(); });

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  act(help, tr("&Shortcuts"), K::HelpContents, [this] { showShortcuts(); });
  act(help, tr("&The window"), K(tr("Shift+F1")), [this] { showHelp("gui"); });
  act(help, tr("&Would more help?"), K(), [this] { showHelp("whatif"); });
  QMenu* pages = help->addMenu(tr("All &pages"));
  connect(pages, &QMenu::aboutToShow, this, [this, pages] {
    pages->clear();
    for (const QString& page : HelpWindow::pages()) {
      act(pages, page, {}, [this, page] { showHelp(page); });
    }
    if (pages->isEmpty()) pages->addAction(tr("none ship with this build"))->setEnabled(false);
  });
  help->addSeparator();
  act(help, tr("&About tcsim"), K(), [this] {
    QMessageBox::about(
        this, tr("About tcsim"),
        tr("<b>tcsim %1</b><p>How much data a tensor contraction moves, how long "
           "that takes, and what would change if the hardware changed.<p>Apache-2.0; "
           "this window uses Qt 6 (LGPL-3) and QCustomPlot (GPL-3).")
            .arg(QApplication::applicationVersion()));
  });

  for (QAction* action : {pin_, simulate_}) needs(action);
  // Of what is not possible the tooltip says why.
  for (QMenu* menu : menuBar()->findChildren<QMenu*>()) menu->setToolTipsVisible(true);
  makeToolBar();
}

// Icons of the desktop's theme, or the style's own.
void MainWindow::makeToolBar() {
  bar_ = addToolBar(tr("Tools"));
  bar_->setObjectName("tools");
  bar_->setMovable(false);
  const int small = style()->pixelMetric(QStyle::PM_SmallIconSize);
  bar_->setIconSize(QSize(small, small));
  const auto add = [this](QAction* action, const char* theme, QStyle::StandardPixmap own,
                          const QString& tip) {
    action->setIcon(QIcon::fromTheme(theme, style()->standardIcon(own)));
    action->setIconVisibleInMenu(false);
    action->setProperty(plainTip, tip);
    action->setToolTip(tip);
    bar_->addAction(action);
  };
  add(undo_, "edit-undo", QStyle::SP_ArrowBack, tr("Undo the last edit (Ctrl+Z)"));
  add(redo_, "edit-redo", QStyle::SP_ArrowForward, tr("Do again what was undone (Ctrl+Shift+Z)"));
  add(reset_, "edit-clear-all", QStyle::SP_BrowserReload,
      tr("Every figure back to the machine file's (Ctrl+R)"));
  bar_->addSeparator();
  add(pin_, "bookmark-new", QStyle::SP_DialogSaveButton,
      tr("Keep this design to compare with (Ctrl+B)"));
  add(swap_, "object-flip-horizontal", QStyle::SP_FileDialogBack,
      tr("The design that was pinned last becomes this one, and the other way round (F7)"));
  bar_->addSeparator();
  add(simulate_, "media-playback-start", QStyle::SP_MediaPlay,
      tr("Count every line that this schedule moves (F5)"));
  add(tables_, "view-list-details", QStyle::SP_FileDialogDetailedView,
      tr("The numbers behind each chart (Ctrl+T)"));
  // The history enables these two by itself.
  const auto explain = [](QAction* action, const QString& why) {
    return [action, why](bool possible) {
      action->setToolTip(possible ? action->property(plainTip).toString() : why);
    };
  };
  const auto undo = explain(undo_, tr("Nothing has been edited"));
  const auto redo = explain(redo_, tr("Nothing has been undone"));
  connect(studio_->history(), &QUndoStack::canUndoChanged, undo_, undo);
  connect(studio_->history(), &QUndoStack::canRedoChanged, redo_, redo);
  undo(false);
  redo(false);
  styleToolBar();
}

void MainWindow::styleToolBar() {
  if (bar_ == nullptr) return;
  constexpr int wide = 150;  // letters
  const bool room = width() >= wide * fontMetrics().averageCharWidth();
  bar_->setToolButtonStyle(room ? Qt::ToolButtonTextBesideIcon : Qt::ToolButtonTextOnly);
}

void MainWindow::showPins() {
  if (pinsDialog_ == nullptr) pinsDialog_ = new PinsDialog(*studio_, this);
  pinsDialog_->show();
  pinsDialog_->raise();
}

QString MainWindow::shortcutList() {
  QString rows;
  for (const Shortcut& s : shortcuts) {
    rows += QString("<tr><td><b>%1</b>&nbsp;&nbsp;</td><td>%2</td></tr>").arg(s.keys, s.does);
  }
  return "<table>" + rows + "</table>";
}

void MainWindow::showShortcuts() {
  QMessageBox box(QMessageBox::NoIcon, tr("Shortcuts"), shortcutList(), QMessageBox::Close, this);
  box.exec();
}

}  // namespace tcsim::gui
