// Writes a file, whole or not at all.
#pragma once

#include <QByteArray>
#include <QString>

namespace tcsim::gui {

// Throws InputError if the file cannot be written.
void saveFile(const QString& file, const QByteArray& bytes);

}  // namespace tcsim::gui
