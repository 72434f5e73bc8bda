// Words in place of a picture: why there is nothing to see, and what mends it.
#pragma once

#include <QFont>
#include <QRectF>
#include <QString>

#include "gui/widgets/theme.hpp"

class QPainter;

namespace tcsim::gui {

// The title at the top and the words below it; both are wrapped to the width.
void paintMessage(QPainter& painter, const QRectF& area, const Theme& theme, const QFont& font,
                  const QString& title, const QString& words);

}  // namespace tcsim::gui
