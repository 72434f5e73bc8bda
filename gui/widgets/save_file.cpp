#include "gui/widgets/save_file.hpp"

#include <QSaveFile>

#include "core/error.hpp"

namespace tcsim::gui {

void saveFile(const QString& file, const QByteArray& bytes) {
  QSaveFile out(file);
  if (!out.open(QIODevice::WriteOnly) || out.write(bytes) < 0 || !out.commit()) {
    throw InputError(file.toStdString(), "the file cannot be written", "name another place");
  }
}

}  // namespace tcsim::gui
