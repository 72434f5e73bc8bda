#include "gui/widgets/message.hpp"

#include <QPainter>
#include <QTextOption>

namespace tcsim::gui {

void paintMessage(QPainter& painter, const QRectF& area, const Theme& theme, const QFont& font,
                  const QString& title, const QString& words) {
  painter.fillRect(area, theme.paper());
  QRectF room = area.adjusted(12, 8, -12, -8);
  QTextOption wrapped;
  wrapped.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  QFont bold = font;
  bold.setBold(true);
  painter.setPen(theme.text());
  painter.setFont(bold);
  painter.drawText(room, title, wrapped);
  // Right below it, where a page that is higher than its window shows it too.
  room.setTop(room.top() + painter.boundingRect(room, title, wrapped).height() +
              QFontMetricsF(font).height() / 2);
  painter.setFont(font);
  painter.drawText(room, words, wrapped);
}

}  // namespace tcsim::gui
