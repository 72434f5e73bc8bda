// What of the main window goes to files and to the clipboard.
#include <QApplication>
#include <QClipboard>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMessageBox>
#include <QMimeData>
#include <QStatusBar>
#include <QTimer>
#include <QUrl>

#include "core/saved/session.hpp"
#include "gui/studio/studio.hpp"
#include "gui/study/study_window.hpp"
#include "gui/widgets/save_name.hpp"
#include "gui/window/dropped.hpp"
#include "gui/window/export.hpp"
#include "gui/window/main_window.hpp"
#include "gui/window/session_file.hpp"
#include "gui/window/start_page.hpp"
#include "gui/window/view_page.hpp"

namespace tcsim::gui {

void MainWindow::exportPicture(const QString& file) {
  exportView(currentPage().kind(), studio_->scene(), file, palette());
  statusBar()->showMessage(tr("written: %1").arg(file), 6000);
}

void MainWindow::askExport() {
  if (!studio_->hasSession()) return;
  const ViewKind& kind = currentPage().kind();
  QString kinds = tr("SVG picture (*.svg);;PNG picture (*.png);;PDF (*.pdf)");
  if (kind.draws == ViewKind::Draws::text) kinds += tr(";;Text (*.txt);;C (*.c)");
  const QString file = saveName(this, tr("Export the picture"), QString(kind.id) + ".svg", kinds);
  if (file.isEmpty()) return;
  try {
    exportPicture(file);
  } catch (const std::exception& e) {
    complain(QString::fromUtf8(e.what()));
  }
}

void MainWindow::exportTable() {
  if (!studio_->hasSession()) return;
  const QString id = currentPage().kind().id;
  QString file = saveName(this, tr("Export the table"), id + ".csv", tr("Tables (*.csv)"));
  if (file.isEmpty()) return;
  if (QFileInfo(file).suffix().toLower() != "csv") file += ".csv";
  try {
    exportPicture(file);
  } catch (const std::exception& e) {
    complain(QString::fromUtf8(e.what()));
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
  if (s.view.name == "kernels") return "tcsim list kernels";
  const Scene& scene = studio_->scene();
  std::string command = "report";
  std::vector<std::string> more;
  if (s.view.name == "bottleneck" && scene.curve) {
    command = "whatif";
    more = {"--vary", scene.curve->vary};
  } else if (s.view.name == "map" && scene.map) {
    command = "whatif";
    more = {"--vary", scene.map->vary[0], "--vary", scene.map->vary[1]};
  } else if (s.view.name == "bounds" && scene.bounds && scene.now) {
    command = "bounds";
    const BoundCurve& b = *scene.bounds.value;
    const auto bytes = [&](std::int64_t elements) {
      return std::to_string(elements * size_of(b.type).value()) + "B";
    };
    more = {"--curve", bytes(b.capacities.front()) + ".." + bytes(b.capacities.back())};
    // It does not ask a machine what counts.
    if (s.design.accounting.empty() && b.moves == bounds::Moves::loads) {
      more.insert(more.end(), {"--accounting", "paper"});
    }
    if (b.lru.empty()) more.emplace_back("--no-simulate");
    if (scene.run) more.emplace_back("--run");
  } else if (s.view.name == "sets" && scene.now) {
    command = "simulate";
    more = {"--sets", cacheNamed(scene.now->subject.machine, s.view.level)};
  } else if (s.view.name == "timeline" && scene.now) {
    command = "simulate";
    more = {"--timeline", std::to_string(timelineFrames)};
    if (!(s.view.part == TouchRange{})) {
      more.insert(more.end(), {"--timeline-part", to_text(s.view.part)});
    }
  } else if (s.view.name == "cost" && !s.design.cost.empty()) {
    command = "whatif";
  } else if (s.view.name == "traffic") {
    command = "simulate";
  } else if (s.view.name == "schedule" || s.view.name == "tiles") {
    command = "optimize";
    if (!s.design.schedule.empty()) command = "predict";
  }
  return QString::fromStdString(command_line(command, s.design, more));
}

// As an edit where there is a session, otherwise as a session of the first example's workload.
void MainWindow::edit(const std::function<void(Design&)>& change, const QString& name) {
  Session s = studio_->session();
  if (!studio_->hasSession()) s = examples().front().session;
  change(s.design);
  if (studio_->hasSession()) {
    studio_->edit(s.design, name);
  } else {
    studio_->open(s);
  }
}

bool MainWindow::take(const QString& file) {
  const std::string path = file.toStdString();
  switch (kindOfFile(file)) {
    case FileKind::session:
      return file_->mayDrop() && file_->open(file);
    case FileKind::study:
      showStudies();
      return studies().openStudy(file);
    case FileKind::results:
      showStudies();
      studies().openResults(file);
      return true;
    case FileKind::machine:
      edit(
          [&](Design& d) {
            d.machine = path;
            d.overrides.clear();
          },
          tr("machine %1").arg(file));
      return true;
    case FileKind::costModel:
      edit([&](Design& d) { d.cost = path; }, tr("cost model %1").arg(file));
      return true;
    case FileKind::program:
      edit(
          [&](Design& d) {
            d.workload = {path, "", {}, {}};
            d.schedule.clear();
          },
          tr("workload %1").arg(file));
      return true;
    case FileKind::unknown:
      break;
  }
  complain(
      tr("%1 is no session, study, machine, cost model, program or folder of results").arg(file));
  return false;
}

void MainWindow::dragEnterEvent(QDragEnterEvent* event) {
  const QList<QUrl> urls = event->mimeData()->urls();
  if (urls.size() == 1 && urls.front().isLocalFile()) event->acceptProposedAction();
}

void MainWindow::dropEvent(QDropEvent* event) {
  const QString file = event->mimeData()->urls().value(0).toLocalFile();
  if (file.isEmpty()) return;
  event->acceptProposedAction();
  // Once the drag is over: there may be a box to answer.
  QTimer::singleShot(0, this, [this, file] { take(file); });
}

void MainWindow::complain(const QString& why) { QMessageBox::warning(this, tr("tcsim"), why); }

}  // namespace tcsim::gui
