#include "gui/window/main_window.hpp"

#include <QAction>
#include <QCloseEvent>
#include <QDockWidget>
#include <QFileInfo>
#include <QLabel>
#include <QSettings>
#include <QStackedWidget>
#include <QStatusBar>
#include <QTabWidget>
#include <QTimer>
#include <QToolButton>
#include <QUndoStack>
#include <algorithm>

#include "core/saved/session.hpp"
#include "gui/chain/chain_planner.hpp"
#include "gui/chain/chain_window.hpp"
#include "gui/charts/charts.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/study_window.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/window/help_window.hpp"
#include "gui/window/inputs.hpp"
#include "gui/window/session_file.hpp"
#include "gui/window/start_page.hpp"
#include "gui/window/verdict.hpp"
#include "gui/window/view_page.hpp"

namespace tcsim::gui {

namespace {

constexpr int layoutVersion = 1;
// Of a knob that was chosen as one of which more would help.
constexpr const char* moreRange = "0.5x..4x";
constexpr QSize defaultSize(1280, 800);
// Widths in letters: of the views at least, of the views between two panels, of a panel.
constexpr int leastCentre = 40, goodCentre = 60, panelLetters = 59;

}  // namespace

MainWindow::MainWindow(QWidget* parent)
    : QMainWindow(parent),
      studio_(new Studio(this)),
      file_(new SessionFile(*studio_, this)),
      inputs_(new Inputs(*studio_)),
      verdict_(new Verdict(*studio_)),
      tabs_(new QTabWidget),
      centre_(new QStackedWidget) {
  setWindowTitle("tcsim");
  setAcceptDrops(true);
  auto* start = new StartPage;
  connect(start, &StartPage::chosen, this, &MainWindow::open);
  connect(start, &StartPage::openFile, this, [this](const QString& file) { file_->open(file); });
  connect(start, &StartPage::browse, file_, &SessionFile::browse);
  connect(start, &StartPage::chainWanted, this, [this](const QString& chain) {
    showChains();
    ChainDesign design = chains().planner().design();
    design.chain = chain.toStdString();
    chains().open(design);
  });
  connect(verdict_, &Verdict::knobChosen, this, [this](const QString& knob) {
    if (!studio_->hasSession()) return;
    ViewState v = studio_->session().view;
    v.name = "bottleneck";
    v.knob = knob.toStdString();
    v.range = moreRange;
    studio_->setView(v);
    showView("bottleneck");
  });
  connect(file_, &SessionFile::changed, this, &MainWindow::followSession);
  centre_->addWidget(scrolled(start, tr("examples and recent sessions")));
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
  resizeOnScreen(*this, defaultSize);
  placeDocks();
  defaultLayout_ = saveState(layoutVersion);
  const QSettings settings;
  restoreGeometry(settings.value("geometry").toByteArray());
  restoreState(settings.value("layout").toByteArray(), layoutVersion);
  narrow_ = isNarrow();
  followSession();
}

MainWindow::~MainWindow() {
  studies_.reset();
  chains_.reset();
  help_.reset();
  // The views must not follow a studio that is going.
  studio_->disconnect(this);
  studio_->history()->disconnect();
  for (QObject* view : {static_cast<QObject*>(inputs_), static_cast<QObject*>(verdict_)}) {
    studio_->disconnect(view);
  }
}

StudyWindow& MainWindow::studies() {
  if (!studies_) {
    studies_ = std::make_unique<StudyWindow>(*studio_);
    studies_->setAttribute(Qt::WA_QuitOnClose, false);
  }
  return *studies_;
}

void MainWindow::showStudies() {
  studies().show();
  studies().raise();
  studies().activateWindow();
}

ChainWindow& MainWindow::chains() {
  if (!chains_) {
    chains_ = std::make_unique<ChainWindow>();
    chains_->setAttribute(Qt::WA_QuitOnClose, false);
    ChainDesign design;
    if (studio_->hasSession()) design.machine = studio_->session().design.machine;
    chains_->open(design);
  }
  return *chains_;
}

void MainWindow::showChains() {
  chains().show();
  chains().raise();
  chains().activateWindow();
}

bool MainWindow::openFile(const QString& file) { return file_->open(file); }
bool MainWindow::saveFile(const QString& file) { return file_->saveTo(file); }

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
  centre_->setMinimumWidth(leastCentre * fontMetrics().averageCharWidth());
}

bool MainWindow::isNarrow() const {
  return width() < (2 * panelLetters + goodCentre) * fontMetrics().averageCharWidth();
}

void MainWindow::placeDocks() {
  narrow_ = isNarrow();
  for (QDockWidget* d : {left_, right_}) {
    d->setFloating(false);
    d->show();
  }
  addDockWidget(Qt::LeftDockWidgetArea, left_);
  if (narrow_) {
    tabifyDockWidget(left_, right_);
    left_->raise();
  } else {
    addDockWidget(Qt::RightDockWidgetArea, right_);
  }
  squeezed_ = true;
  // Once they are where they belong.
  QTimer::singleShot(0, this, &MainWindow::widenDocks);
}

// As wide as their words take.
void MainWindow::widenDocks() {
  const int wanted = panelLetters * fontMetrics().averageCharWidth();
  QList<QDockWidget*> docks{left_};
  if (!narrow_) docks << right_;
  resizeDocks(docks, QList<int>(docks.size(), wanted), Qt::Horizontal);
  squeezed_ = std::any_of(docks.begin(), docks.end(),
                          [&](const QDockWidget* d) { return d->width() < wanted; });
}

void MainWindow::resizeEvent(QResizeEvent* event) {
  QMainWindow::resizeEvent(event);
  styleToolBar();
  const bool ours = isNarrow() == narrow_;
  if (ours && squeezed_) widenDocks();
  if (ours) return;
  narrow_ = !narrow_;
  // Who has moved or closed a panel keeps it so.
  for (const QDockWidget* d : {left_, right_}) {
    if (d->isFloating() || d->isHidden()) return;
  }
  const bool stacked = tabifiedDockWidgets(left_).contains(right_);
  const bool beside = dockWidgetArea(left_) == Qt::LeftDockWidgetArea &&
                      dockWidgetArea(right_) == Qt::RightDockWidgetArea;
  if (narrow_ ? beside : stacked) placeDocks();
}

void MainWindow::makeStatus() {
  setStatusBar(new StatusLine);
  busyWords_ = new QLabel;
  progress_ = new ShareBar;
  cancel_ = new QToolButton;
  cancel_->setText(tr("Cancel"));
  frame_ = new QLabel;
  frame_->setToolTip(tr("From the last edit to the end of painting what followed from it"));
  statusBar()->addPermanentWidget(busyWords_);
  statusBar()->addPermanentWidget(progress_);
  statusBar()->addPermanentWidget(cancel_);
  statusBar()->addPermanentWidget(frame_);
  connect(cancel_, &QToolButton::clicked, studio_, &Studio::cancelJob);
  connect(&studio_->job(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&studio_->exploring(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&studio_->mapping(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&studio_->bounding(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&studio_->lookingCloser(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&studio_->summingUp(), &Worker::progressed, progress_, &ShareBar::setShare);
  connect(&studio_->comparing(), &Worker::progressed, progress_, &ShareBar::setShare);
  followBusy();
}

void MainWindow::followBusy() {
  // What ends within the blink of an eye is not worth a bar.
  const bool bounds = studio_->bounding().isBusy();
  const bool closer = studio_->lookingCloser().isBusy();
  const std::string& view = studio_->session().view.name;
  const bool pins = studio_->comparing().isBusy() && (view == "map" || view == "suite");
  const bool suite = studio_->summingUp().isBusy();
  const bool job =
      studio_->job().isBusy() || studio_->mapping().isBusy() || bounds || closer || suite || pins;
  progress_->setVisible(job);
  cancel_->setVisible(job);
  busyWords_->setText(studio_->job().isBusy() ? tr("working")
                      : bounds                ? tr("bounds")
                      : closer                ? tr("simulating")
                      : suite                 ? tr("suite")
                      : pins                  ? tr("pinned designs")
                      : job                   ? tr("map")
                                              : QString());
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
  const auto enable = [](QAction* action, bool enabled, const QString& why) {
    action->setEnabled(enabled);
    action->setToolTip(enabled ? action->property(plainTip).toString() : why);
  };
  for (QAction* action : needSession_) {
    enable(action, some, tr("Choose a workload and a machine first"));
  }
  const std::vector<Pin>& pins = studio_->session().pins;
  for (QAction* action : {swap_, unpin_, unpinAll_, pins_}) {
    enable(action, !pins.empty(), tr("No design is pinned: pin this one with Ctrl+B"));
  }
  // Names may have '&' in them, which menus take for themselves.
  const QString last = pins.empty() ? tr("the last pin")
                                    : QString::fromStdString(pins.back().name).replace("&", "&&");
  swap_->setText(tr("&Swap with %1").arg(last));
  unpin_->setText(tr("&Unpin %1").arg(last));
  enable(reset_, some && !studio_->session().design.overrides.empty(),
         tr("Every figure is the machine file's"));
  const QString what =
      file_->name().isEmpty() ? tr("unsaved session") : QFileInfo(file_->name()).fileName();
  setWindowTitle(some ? tr("%1[*] - tcsim").arg(what) : QStringLiteral("tcsim"));
  setWindowModified(some && !studio_->history()->isClean());
}

void MainWindow::open(const Session& session) {
  file_->forget();
  studio_->open(session);
}

void MainWindow::closeEvent(QCloseEvent* event) {
  if (!file_->mayDrop() || (studies_ && !studies_->mayClose())) {
    event->ignore();
    return;
  }
  if (studies_) studies_->hide();
  if (chains_) chains_->hide();
  if (help_) help_->hide();
  QSettings settings;
  settings.setValue("geometry", saveGeometry());
  settings.setValue("layout", saveState(layoutVersion));
  event->accept();
}

HelpWindow& MainWindow::help() {
  if (!help_) help_ = std::make_unique<HelpWindow>();
  return *help_;
}

void MainWindow::showHelp(const QString& page) {
  help().open(page);
  help().show();
  help().raise();
  help().activateWindow();
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
  resizeOnScreen(*this, defaultSize);
  placeDocks();
}

}  // namespace tcsim::gui
