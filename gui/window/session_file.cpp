#include "gui/window/session_file.hpp"

#include <QFileDialog>
#include <QMessageBox>
#include <QSaveFile>
#include <QUndoStack>

#include "core/saved/session.hpp"
#include "gui/charts/charts.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/save_name.hpp"
#include "gui/window/start_page.hpp"

namespace tcsim::gui {

SessionFile::SessionFile(Studio& studio, QWidget* window)
    : QObject(window), studio_(studio), window_(window) {}

void SessionFile::forget() { name_.clear(); }

bool SessionFile::open(const QString& file) {
  try {
    const Session session = load_session(file.toStdString());
    viewKind(session.view.name);
    name_ = file;
    studio_.open(session);
    rememberSession(file);
    emit changed();
    return true;
  } catch (const std::exception& e) {
    complain(QString::fromUtf8(e.what()));
    return false;
  }
}

bool SessionFile::saveTo(const QString& file) {
  QSaveFile out(file);
  const QByteArray text = QByteArray::fromStdString(to_toml(studio_.session()));
  if (!out.open(QIODevice::WriteOnly) || out.write(text) != text.size() || !out.commit()) {
    complain(tr("%1 cannot be written: %2").arg(file, out.errorString()));
    return false;
  }
  name_ = file;
  studio_.history()->setClean();
  rememberSession(file);
  emit changed();
  return true;
}

void SessionFile::browse() {
  if (!mayDrop()) return;
  const QString file = QFileDialog::getOpenFileName(window_, tr("Open a session"), {},
                                                    tr("Sessions (*.toml);;All files (*)"));
  if (!file.isEmpty()) open(file);
}

bool SessionFile::save() { return name_.isEmpty() ? saveAs() : saveTo(name_); }

bool SessionFile::saveAs() {
  if (!studio_.hasSession()) return true;
  const QString file = saveName(window_, tr("Save the session"),
                                name_.isEmpty() ? "session.toml" : name_, tr("Sessions (*.toml)"));
  return !file.isEmpty() && saveTo(file);
}

bool SessionFile::mayDrop() {
  if (!studio_.hasSession() || studio_.history()->isClean()) return true;
  const auto answer = QMessageBox::question(
      window_, tr("Save the session?"), tr("This session has edits that are not saved."),
      QMessageBox::Save | QMessageBox::Discard | QMessageBox::Cancel, QMessageBox::Save);
  if (answer == QMessageBox::Save) return save();
  return answer == QMessageBox::Discard;
}

void SessionFile::complain(const QString& why) { QMessageBox::warning(window_, tr("tcsim"), why); }

}  // namespace tcsim::gui
