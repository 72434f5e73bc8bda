// Asks where to save something.
#pragma once

#include <QString>

class QWidget;

namespace tcsim::gui {

// A file of one of `filters` ("SVG picture (*.svg);;PDF (*.pdf)"), or empty. A name without an
// ending gets that of the filter that is chosen, before it is asked whether to replace a file.
QString saveName(QWidget* parent, const QString& title, const QString& suggested,
                 const QString& filters);

}  // namespace tcsim::gui
