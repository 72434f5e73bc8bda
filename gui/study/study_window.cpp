#include "gui/study/study_window.hpp"

#include <QApplication>
#include <QClipboard>
#include <QCloseEvent>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QStatusBar>
#include <QTabWidget>
#include <cmath>

#include "core/units/text.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/results_page.hpp"
#include "gui/study/study_dialog.hpp"
#include "gui/study/study_editor.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/save_name.hpp"

namespace tcsim::gui {

namespace {

constexpr double sameNumber = 1e-9;
constexpr int studyTab = 0, resultsTab = 1;

}  // namespace

StudyWindow::StudyWindow(Studio& studio, QWidget* parent)
    : QMainWindow(parent),
      studio_(studio),
      tabs_(new QTabWidget),
      editor_(new StudyEditor),
      results_(new ResultsPage) {
  tabs_->setDocumentMode(true);
  tabs_->addTab(scrolled(editor_, tr("Study")), tr("Study"));
  tabs_->addTab(scrolled(results_, tr("Results")), tr("Results"));
  setCentralWidget(tabs_);
  makeMenus();
  resizeOnScreen(*this, {1000, 760});
  connect(editor_, &StudyEditor::stateChanged, this, &StudyWindow::follow);
  connect(editor_, &StudyEditor::fileWanted, this, [this] {
    if (saveAs()) editor_->run();
  });
  connect(editor_, &StudyEditor::showWanted, this, &StudyWindow::openResults);
  connect(editor_, &StudyEditor::finished, this, &StudyWindow::openResults);
  connect(results_, &ResultsPage::pointOpened, this,
          [this](const Design& design, const PointKey& point, double seconds) {
            openPoint(design,
                      tr("design %1 of %2")
                          .arg(point.design)
                          .arg(QString::fromStdString(results_->folder()->study())),
                      seconds);
          });
  connect(&studio_, &Studio::sceneChanged, this, &StudyWindow::compare);
  connect(&studio_, &Studio::verdictChanged, this, &StudyWindow::follow);
  setStatusBar(new StatusLine);
  follow();
}

void StudyWindow::makeMenus() {
  using K = QKeySequence;
  QMenu* file = menuBar()->addMenu(tr("&File"));
  const auto act = [this](QMenu* menu, const QString& name, const K& keys, auto&& slot) {
    QAction* action = menu->addAction(name);
    action->setShortcut(keys);
    connect(action, &QAction::triggered, this, slot);
    return action;
  };
  act(file, tr("&Open study..."), K::Open, [this] { browseStudy(); });
  save_ = act(file, tr("&Save study"), K::Save, [this] { save(); });
  act(file, tr("Save study &as..."), K(tr("Ctrl+Shift+S")), [this] { saveAs(); });
  file->addSeparator();
  act(file, tr("Open &results..."), K(tr("Ctrl+Shift+O")), [this] { browseResults(); });
  file->addSeparator();
  act(file, tr("&Close"), K(tr("Ctrl+W")), [this] { close(); });
  QMenu* study = menuBar()->addMenu(tr("&Study"));
  new_ = act(study, tr("&New from the session..."), K(tr("Ctrl+N")), [this] { newFromSession(); });
  act(study, tr("&Run or resume the sweep"), K(tr("F5")), [this] { editor_->run(); });
  act(study, tr("&Cancel the sweep"), K(tr("Esc")), [this] { editor_->cancel(); });
  act(study, tr("Copy the equivalent tcsim co&mmand"), K(tr("Ctrl+Alt+C")), [this] {
    QApplication::clipboard()->setText(editor_->command());
    statusBar()->showMessage(tr("copied: %1").arg(editor_->command()), 8000);
  });
}

void StudyWindow::follow() {
  const QString name =
      editor_->file().isEmpty() ? tr("new study") : QFileInfo(editor_->file()).fileName();
  const bool some = !editor_->text().isEmpty();
  setWindowTitle(some ? tr("%1[*] - studies - tcsim").arg(name) : tr("Studies - tcsim"));
  setWindowModified(some && editor_->isModified());
  save_->setEnabled(some);
  new_->setEnabled(studio_.scene().now != nullptr && studio_.base() != nullptr);
}

bool StudyWindow::openStudy(const QString& file) {
  tabs_->setCurrentIndex(studyTab);
  return editor_->open(file);
}

void StudyWindow::openResults(const QString& folder) {
  tabs_->setCurrentIndex(resultsTab);
  results_->open(folder.toStdString());
}

void StudyWindow::newFromSession() {
  if (editor_->isRunning() || !new_->isEnabled() || !mayDrop()) return;
  StudyDialog dialog(studio_, this);
  if (dialog.exec() != QDialog::Accepted) return;
  tabs_->setCurrentIndex(studyTab);
  editor_->setText(QString::fromStdString(to_toml(dialog.draft())));
}

bool StudyWindow::save() {
  return editor_->file().isEmpty() ? saveAs() : editor_->save(editor_->file());
}

bool StudyWindow::saveAs() {
  const QString file =
      saveName(this, tr("Save the study"),
               editor_->file().isEmpty() ? "study.toml" : editor_->file(), tr("Studies (*.toml)"));
  return !file.isEmpty() && editor_->save(file);
}

void StudyWindow::browseStudy() {
  if (editor_->isRunning() || !mayDrop()) return;
  const QString file = QFileDialog::getOpenFileName(this, tr("Open a study"), {},
                                                    tr("Studies (*.toml);;All files (*)"));
  if (!file.isEmpty()) openStudy(file);
}

void StudyWindow::browseResults() {
  const QString folder = QFileDialog::getExistingDirectory(this, tr("Open results of a sweep"));
  if (!folder.isEmpty()) openResults(folder);
}

bool StudyWindow::mayDrop() {
  if (editor_->text().isEmpty() || !editor_->isModified()) return true;
  const auto answer = QMessageBox::question(
      this, tr("Save the study?"), tr("This study has edits that are not saved."),
      QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
  if (answer == QMessageBox::Save) return save();
  return answer == QMessageBox::Discard;
}

bool StudyWindow::mayClose() {
  if (!mayDrop()) return false;
  if (!editor_->isRunning()) return true;
  const auto answer = QMessageBox::question(
      this, tr("Stop the sweep?"),
      tr("A sweep is under way. What is computed is kept, and it can be resumed."),
      QMessageBox::Yes | QMessageBox::Cancel, QMessageBox::Yes);
  if (answer == QMessageBox::Yes) editor_->cancel();
  return answer == QMessageBox::Yes;
}

void StudyWindow::closeEvent(QCloseEvent* event) {
  // A sweep goes on while the window is closed; the main window asks before it ends it.
  event->setAccepted(mayDrop());
}

void StudyWindow::openPoint(const Design& design, const QString& name, double predictedSeconds) {
  comparison_.clear();
  opened_ = Opened{design, predictedSeconds};
  if (studio_.hasSession()) {
    studio_.edit(design, name);
  } else {
    Session s;
    s.design = design;
    studio_.open(s);
  }
  compare();
}

void StudyWindow::compare() {
  const EvaluationPtr& now = studio_.scene().now;
  if (!opened_ || !now || !(now->subject.design == opened_->design)) return;
  const double here = now->time().value(), there = opened_->seconds;
  comparison_ =
      std::abs(here / there - 1) <= sameNumber
          ? tr("opened: %1, as in the sweep").arg(QString::fromStdString(to_display(now->time())))
          : tr("opened: %1, but %2 in the sweep; its machine file or tcsim have changed since")
                .arg(QString::fromStdString(to_display(now->time())),
                     QString::fromStdString(to_display(Seconds(there))));
  statusBar()->showMessage(comparison_);
  opened_.reset();
}

}  // namespace tcsim::gui
