#include "gui/widgets/save_name.hpp"

#include <QFileDialog>
#include <QFileInfo>
#include <QRegularExpression>

namespace tcsim::gui {

namespace {

// "svg" of "SVG picture (*.svg)".
QString endingOf(const QString& filter) {
  return QRegularExpression("\\(\\*\\.(\\w+)").match(filter).captured(1);
}

}  // namespace

QString saveName(QWidget* parent, const QString& title, const QString& suggested,
                 const QString& filters) {
  const QFileInfo before(suggested);
  QFileDialog dialog(parent, title, before.path(), filters);
  dialog.setAcceptMode(QFileDialog::AcceptSave);
  dialog.setFileMode(QFileDialog::AnyFile);
  for (const QString& filter : dialog.nameFilters()) {
    if (endingOf(filter) == before.suffix().toLower()) dialog.selectNameFilter(filter);
  }
  dialog.selectFile(before.fileName());
  const auto follow = [&] { dialog.setDefaultSuffix(endingOf(dialog.selectedNameFilter())); };
  QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, follow);
  follow();
  return dialog.exec() == QDialog::Accepted ? dialog.selectedFiles().value(0) : QString();
}

}  // namespace tcsim::gui
