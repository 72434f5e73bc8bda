#include "gui/window/main_window.hpp"

#include <QAction>
#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QProgressBar>
#include <QSaveFile>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QTimer>
#include <QToolBar>
#include <QToolButton>
#include <QUndoStack>

#include "core/error.hpp"
#include "core/session/session.hpp"
#include "gui/charts/charts.hpp"
#include "gui/session/studio.hpp"
#include "gui/widgets/table_model.hpp"
#include "gui/window/export.hpp"
#include "gui/window/inputs.hpp"
#include "gui/window/start_page.hpp"
#include "gui/window/verdict.hpp"
#include "gui/window/view_page.hpp"

namespace tcsim::gui {

namespace {

constexpr int layoutVersion = 1;

struct Shortcut {
  const char* keys;
  const char* does;
};
// Those of the menus, and of the widgets themselves.
constexpr Shortcut shortcuts[] = {
    {"Ctrl+1 ... Ctrl+7", "the views"},
    {"Alt+W, Alt+M, Alt+A", "workload, machine, accounting"},
    {"Tab, Shift+Tab", "next and previous slider, field, button"},
    {"Left, Right", "a slider by 7 %"},
    {"Page Up, Page Down", "a slider to twice and to half"},
    {"Ctrl+Z, Ctrl+Shift+Z", "undo, redo"},
    {"Ctrl+R", "reset every figure to the machine file's"},
    {"Ctrl+B", "pin this design as baseline A"},
    {"Ctrl+Shift+B", "unpin baseline A"},
    {"F7", "swap baseline A with this design"},
    {"Ctrl+T", "the table behind each chart"},
    {"F5", "simulate this schedule"},
    {"F6", "run it on this machine"},
    {"Esc", "cancel what is running"},
    {"Ctrl+O, Ctrl+S, Ctrl+Shift+S", "open, save, save as"},
    {"Ctrl+E", "export the picture"},
    {"Ctrl+Shift+E", "export the table"},
    {"Ctrl+Shift+C", "copy the table"},
    {"Ctrl+Alt+C", "copy the equivalent tcsim command"},
    {"F1", "this list"},
    {"Ctrl+Q", "quit"},
};

}  // namespace

QAction* MainWindow::act(QMenu* menu, const QString& name, const QKeySequence& keys, auto&& slot) {
  auto* action = menu->addAction(name);
  action->setShortcut(keys);
  connect(action, &QAction::triggered, this, std::forward<decltype(slot)>(slot));
  return action;
}

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      studio_(new Studio(this)),
      inputs_(new Inputs(*studio_)),
      verdict_(new Verdict(*studio_)),
      tabs_(new QTabWidget),
      centre_(new QStackedWidget) {
  setWindowTitle("tcsim");
  auto* start = new StartPage;
  connect(start, &StartPage::chosen, this, &MainWindow::open);
  connect(start, &StartPage::openFile, this, &MainWindow::openFile);
  connect(start, &StartPage::browse, this, &MainWindow::browse);
  centre_->addWidget(start);
  centre_->addWidget(tabs_);
  tabs_->setDocumentMode(true);
  for (const ViewKind& kind : viewKinds()) {
    pages_.push_back(new ViewPage(kind, *studio_));
    tabs_->addTab(pages_.back(), tr(kind.title));
  }
  setCentralWidget(centre_);
  makeDocks();
  makeMenus();
  makeStatus();
  connect(tabs_, &QTabWidget::currentChanged, this, [this](int index) {
    if (!studio_->hasSession()) return;
    ViewState v = studio_->session().view;
    v.name = pages_[static_cast<std::size_t>(index)]->kind().id;
    studio_->setView(v);
    refresh();
  });
  connect(studio_, &Studio::sessionChanged, this, &MainWindow::followSession);
  connect(studio_, &Studio::sceneChanged, this, &MainWindow::refresh);
  connect(studio_, &Studio::busyChanged, this, &MainWindow::followBusy);
  connect(studio_, &Studio::message, this,
          [this](const QString& words) { statusBar()->showMessage(words, 6000); });
  connect(studio_, &Studio::frameMeasured, this, [this] {
    frame_->setText(tr("edit to picture %1 ms (model %2 ms)")
                        .arg(studio_->frameMs(), 0, 'f', 1)
                        .arg(studio_->modelMs(), 0, 'f', 1));
  });
  connect(studio_->history(), &QUndoStack::cleanChanged, this, &MainWindow::followSession);
  resize(1280, 800);
  defaultLayout_ = saveState(layoutVersion);
  const QSettings settings;
  restoreGeometry(settings.value("geometry").toByteArray());
  restoreState(settings.value("layout").toByteArray(), layoutVersion);
  followSession();
}

MainWindow::~MainWindow() {
  // The views must not follow a studio that is going.
  studio_->disconnect(this);
  studio_->history()->disconnect();
  for (QObject* view : {static_cast<QObject*>(inputs_), static_cast<QObject*>(verdict_)}) {
    studio_->disconnect(view);
  }
}

ViewPage& MainWindow::page(const char* id) {
  for (ViewPage* p : pages_) {
    if (std::string(p->kind().id) == id) return *p;
  }
  return *pages_.front();
}

ViewPage& MainWindow::currentPage() {
  return *pages_[static_cast<std::size_t>(std::max(0, tabs_->currentIndex()))];
}

void MainWindow::makeDocks() {
  const auto dock = [this](const QString& title, const char* name, QWidget* widget,
                           Qt::DockWidgetArea area) {
    auto* d = new QDockWidget(title, this);
    d->setObjectName(name);
    d->setWidget(widget);
    addDockWidget(area, d);
    return d;
  };
  left_ = dock(tr("Design"), "design", inputs_, Qt::LeftDockWidgetArea);
  right_ = dock(tr("Verdict"), "verdict", verdict_, Qt::RightDockWidgetArea);
  resizeDocks({left_, right_}, {345, 335}, Qt::Horizontal);
}

void MainWindow::makeMenus() {
  using K = QKeySequence;
  QMenu* file = menuBar()->addMenu(tr("&File"));
  QMenu* examplesMenu = file->addMenu(tr("&Examples"));
  for (const Example& e : examples()) {
    act(examplesMenu, tr(e.question), {}, [this, s = e.session] {
      if (mayDrop()) open(s);
    });
  }
  act(file, tr("&Open session..."), K::Open, [this] { browse(); });
  QMenu* recent = file->addMenu(tr("Open &recent"));
  connect(recent, &QMenu::aboutToShow, this, [this, recent] {
    recent->clear();
    for (const QString& f : recentSessions()) {
      act(recent, f, {}, [this, f] {
        if (mayDrop()) openFile(f);
      });
    }
    if (recent->isEmpty()) recent->addAction(tr("none yet"))->setEnabled(false);
  });
  act(file, tr("&Save session"), K::Save, [this] { save(); });
  act(file, tr("Save session &as..."), K(tr("Ctrl+Shift+S")), [this] { saveAs(); });
  file->addSeparator();
  act(file, tr("&Export picture..."), K(tr("Ctrl+E")), [this] { askExport(); });
  act(file, tr("Export &table..."), K(tr("Ctrl+Shift+E")), [this] { exportTable(); });
  file->addSeparator();
  act(file, tr("&Quit"), K(tr("Ctrl+Q")), [this] { close(); });

  QMenu* edit = menuBar()->addMenu(tr("&Edit"));
  QAction* undo = studio_->history()->createUndoAction(this, tr("&Undo"));
  undo->setShortcut(K(tr("Ctrl+Z")));
  QAction* redo = studio_->history()->createRedoAction(this, tr("&Redo"));
  redo->setShortcut(K(tr("Ctrl+Shift+Z")));
  // In the tool bar the names of the edits would move everything behind them.
  undo->setIconText(tr("Undo"));
  redo->setIconText(tr("Redo"));
  edit->addAction(undo);
  edit->addAction(redo);
  QAction* reset = act(edit, tr("Re&set all figures"), K(tr("Ctrl+R")), [this] {
    Design d = studio_->session().design;
    d.overrides.clear();
    studio_->edit(d, tr("reset all figures"));
  });
  edit->addSeparator();
  act(edit, tr("Copy &picture"), K(), [this] { copyPicture(); });
  act(edit, tr("Copy &table"), K(tr("Ctrl+Shift+C")), [this] { copyTable(); });
  act(edit, tr("Copy the equivalent tcsim &command"), K(tr("Ctrl+Alt+C")), [this] {
    QApplication::clipboard()->setText(equivalentCommand());
    statusBar()->showMessage(tr("copied: %1").arg(equivalentCommand()), 8000);
  });

  QMenu* view = menuBar()->addMenu(tr("&View"));
  int number = 1;
  for (const ViewKind& kind : viewKinds()) {
    act(view, tr(kind.title), K(QString("Ctrl+%1").arg(number++)),
        [this, id = kind.id] { showView(id); });
  }
  view->addSeparator();
  tables_ = act(view, tr("&Table behind each chart"), K(tr("Ctrl+T")),
                [this](bool on) { setTablesShown(on); });
  tables_->setCheckable(true);
  view->addAction(left_->toggleViewAction());
  view->addAction(right_->toggleViewAction());
  act(view, tr("Restore &default layout"), K(), [this] { restoreDefaultLayout(); });

  QMenu* compare = menuBar()->addMenu(tr("&Compare"));
  QAction* pin =
      act(compare, tr("&Pin as baseline A"), K(tr("Ctrl+B")), [this] { studio_->pinBaseline(); });
  swap_ =
      act(compare, tr("&Swap with baseline A"), K(tr("F7")), [this] { studio_->swapBaseline(); });
  unpin_ = act(compare, tr("&Unpin baseline A"), K(tr("Ctrl+Shift+B")),
               [this] { studio_->clearBaseline(); });

  QMenu* run = menuBar()->addMenu(tr("&Run"));
  QAction* simulate = act(run, tr("&Simulate"), K(tr("F5")), [this] {
    showView("traffic");
    studio_->simulate();
  });
  act(run, tr("&Run on this machine"), K(tr("F6")), [this] {
    showView("traffic");
    studio_->run();
  });
  act(run, tr("&Cancel"), K(tr("Esc")), [this] { studio_->cancelJob(); });

  QMenu* help = menuBar()->addMenu(tr("&Help"));
  act(help, tr("&Shortcuts"), K::HelpContents, [this] { showShortcuts(); });
  act(help, tr("&About tcsim"), K(), [this] {
    QMessageBox::about(
        this, tr("About tcsim"),
        tr("<b>tcsim %1</b><p>How much data a tensor contraction moves, how long "
           "that takes, and what would change if the hardware changed.<p>Apache-2.0; "
           "this window uses Qt 6 (LGPL-3) and QCustomPlot (GPL-3).")
            .arg(QApplication::applicationVersion()));
  });

  auto* bar = addToolBar(tr("Tools"));
  bar->setObjectName("tools");
  bar->setMovable(false);
  bar->setToolButtonStyle(Qt::ToolButtonTextOnly);
  bar->addAction(undo);
  bar->addAction(redo);
  bar->addAction(reset);
  bar->addSeparator();
  bar->addAction(pin);
  bar->addAction(swap_);
  bar->addSeparator();
  bar->addAction(simulate);
  bar->addAction(tables_);
}

void MainWindow::makeStatus() {
  busyWords_ = new QLabel;
  progress_ = new QProgressBar;
  progress_->setRange(0, 1000);
  progress_->setMaximumWidth(160);
  progress_->setMaximumHeight(fontMetrics().height());
  progress_->setTextVisible(false);
  progress_->setAccessibleName(tr("progress"));
  cancel_ = new QToolButton;
  cancel_->setText(tr("Cancel"));
  frame_ = new QLabel;
  frame_->setToolTip(tr("From the last edit to the end of painting what followed from it"));
  statusBar()->addPermanentWidget(busyWords_);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_);
  statusBar()->addPermanentWidget(frame_);
  connect(cancel_, &QToolButton::clicked, studio_, &Studio::cancelJob);
  const auto show = [this](double share) { progress_->setValue(static_cast<int>(1000 * share)); };
  connect(&studio_->job(), &Worker::progressed, this, show);
  connect(&studio_->exploring(), &Worker::progressed, this, show);
  connect(&studio_->mapping(), &Worker::progressed, this, show);
  followBusy();
}

void MainWindow::followBusy() {
  // What ends within the blink of an eye is not worth a bar.
  const bool job = studio_->job().isBusy() || studio_->mapping().isBusy();
  progress_->setVisible(job);
  cancel_->setVisible(job);
  busyWords_->setText(studio_->job().isBusy() ? tr("working") : job ? tr("map") : QString());
  if (!job) progress_->setValue(0);
}

void MainWindow::refresh() {
  if (!studio_->hasSession()) return;
  currentPage().refresh();
  // After what the other widgets have to lay out and paint.
  QTimer::singleShot(0, studio_, &Studio::painted);
}

void MainWindow::followSession() {
  const bool some = studio_->hasSession();
  centre_->setCurrentIndex(some ? 1 : 0);
  if (some) {
    const std::string& name = studio_->session().view.name;
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      if (name == pages_[i]->kind().id) tabs_->setCurrentIndex(static_cast<int>(i));
    }
  }
  const bool pinned = studio_->session().baseline.has_value();
  swap_->setEnabled(pinned);
  unpin_->setEnabled(pinned);
  const QString what = file_.isEmpty() ? tr("unsaved session") : QFileInfo(file_).fileName();
  setWindowTitle(some ? tr("%1[*] - tcsim").arg(what) : QStringLiteral("tcsim"));
  setWindowModified(some && !studio_->history()->isClean());
}

void MainWindow::open(const Session& session) {
  file_.clear();
  studio_->open(session);
}

bool MainWindow::openFile(const QString& file) {
  try {
    const Session session = load_session(file.toStdString());
    viewKind(session.view.name);
    file_ = file;
    studio_->open(session);
    rememberSession(file);
    followSession();
    return true;
  } catch (const std::exception& e) {
    failed(QString::fromUtf8(e.what()));
    return false;
  }
}

bool MainWindow::saveFile(const QString& file) {
  QSaveFile out(file);
  const QByteArray text = QByteArray::fromStdString(to_toml(studio_->session()));
  if (!out.open(QIODevice::WriteOnly) || out.write(text) != text.size() || !out.commit()) {
    failed(tr("%1 cannot be written: %2").arg(file, out.errorString()));
    return false;
  }
  file_ = file;
  studio_->history()->setClean();
  rememberSession(file);
  followSession();
  return true;
}

void MainWindow::browse() {
  if (!mayDrop()) return;
  const QString file = QFileDialog::getOpenFileName(this, tr("Open a session"), {},
                                                    tr("Sessions (*.toml);;All files (*)"));
  if (!file.isEmpty()) openFile(file);
}

bool MainWindow::save() { return file_.isEmpty() ? saveAs() : saveFile(file_); }

bool MainWindow::saveAs() {
  if (!studio_->hasSession()) return true;
  QString file = QFileDialog::getSaveFileName(this, tr("Save the session"),
                                              file_.isEmpty() ? "session.toml" : file_,
                                              tr("Sessions (*.toml)"));
  if (file.isEmpty()) return false;
  if (QFileInfo(file).suffix().isEmpty()) file += ".toml";
  return saveFile(file);
}

bool MainWindow::mayDrop() {
  if (!studio_->hasSession() || studio_->history()->isClean()) return true;
  const auto answer = QMessageBox::question(
      this, tr("Save the session?"), tr("This session has edits that are not saved."),
      QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
  if (answer == QMessageBox::Save) return save();
  return answer == QMessageBox::Discard;
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!mayDrop()) {
    event->ignore();
    return;
  }
  QSettings settings;
  settings.setValue("geometry", saveGeometry());
  settings.setValue("layout", saveState(layoutVersion));
  event->accept();
}

void MainWindow::showView(const char* id) {
  for (std::size_t i = 0; i < pages_.size(); ++i) {
    if (std::string(id) == pages_[i]->kind().id) tabs_->setCurrentIndex(static_cast<int>(i));
  }
}

void MainWindow::setTablesShown(bool shown) {
  tables_->setChecked(shown);
  for (ViewPage* p : pages_) p->setTableShown(shown);
}

void MainWindow::restoreDefaultLayout() {
  restoreState(defaultLayout_, layoutVersion);
  setTablesShown(false);
  resize(1280, 800);
  resizeDocks({left_, right_}, {345, 335}, Qt::Horizontal);
}

void MainWindow::exportPicture(const QString& file) {
  exportView(currentPage().kind(), studio_->scene(), file, palette());
  statusBar()->showMessage(tr("written: %1").arg(file), 6000);
}

void MainWindow::askExport() {
  if (!studio_->hasSession()) return;
  const QString id = currentPage().kind().id;
  const QString file = QFileDialog::getSaveFileName(this, tr("Export the picture"), id + ".svg",
                                                    tr("Pictures (*.svg *.png *.pdf)"));
  if (file.isEmpty()) return;
  try {
    exportPicture(file);
  } catch (const std::exception& e) {
    failed(QString::fromUtf8(e.what()));
  }
}

void MainWindow::exportTable() {
  if (!studio_->hasSession()) return;
  const QString id = currentPage().kind().id;
  QString file =
      QFileDialog::getSaveFileName(this, tr("Export the table"), id + ".csv", tr("Tables (*.csv)"));
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().toLower() != "csv") file += ".csv";
  try {
    exportPicture(file);
  } catch (const std::exception& e) {
    failed(QString::fromUtf8(e.what()));
  }
}

void MainWindow::copyTable() {
  const Table table = currentPage().kind().table(studio_->scene());
  QApplication::clipboard()->setText(QString::fromStdString(toTabs(table)));
  statusBar()->showMessage(tr("the table is copied"), 4000);
}

void MainWindow::copyPicture() {
  if (!studio_->hasSession()) return;
  QApplication::clipboard()->setImage(
      imageOf(currentPage().kind(), studio_->scene(), palette(), pictureSize, 2));
  statusBar()->showMessage(tr("the picture is copied"), 4000);
}

QString MainWindow::equivalentCommand() const {
  const Session& s = studio_->session();
  if (!studio_->hasSession()) return "tcsim --help";
  const Scene& scene = studio_->scene();
  std::string command = "report";
  std::vector<std::string> more;
  if (s.view.name == "bottleneck" && scene.curve) {
    command = "whatif";
    more = {"--vary", scene.curve->vary};
  } else if (s.view.name == "map" && scene.map) {
    command = "whatif";
    more = {"--vary", scene.map->vary[0], "--vary", scene.map->vary[1]};
  } else if (s.view.name == "traffic") {
    command = "simulate";
  } else if (s.view.name == "schedule" || s.view.name == "tiles") {
    command = "optimize";
    if (!s.design.schedule.empty()) command = "predict";
  }
  return QString::fromStdString(command_line(command, s.design, more));
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

void MainWindow::failed(const QString& why) { QMessageBox::warning(this, tr("tcsim"), why); }

}  // namespace tcsim::gui
