// What a file is that somebody drops on the window, by what it holds.
#pragma once

#include <QString>

namespace tcsim::gui {

enum class FileKind { session, study, machine, costModel, program, results, unknown };
// Of a file or a folder. What cannot be read is unknown.
FileKind kindOfFile(const QString& file);

}  // namespace tcsim::gui
