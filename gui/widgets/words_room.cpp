#include "gui/widgets/words_room.hpp"

#include <QFontMetricsF>
#include <QTextLayout>
#include <algorithm>

namespace tcsim::gui {

namespace {

void addWrapped(const QString& paragraph, const QFont& font, double width, QStringList& lines) {
  QTextLayout layout(paragraph, font);
  QTextOption option;
  option.setWrapMode(QTextOption::WrapAtWordBoundaryOrAnywhere);
  layout.setTextOption(option);
  layout.beginLayout();
  for (QTextLine line = layout.createLine(); line.isValid(); line = layout.createLine()) {
    line.setLineWidth(width);
    lines << paragraph.mid(line.textStart(), line.textLength()).trimmed();
  }
  layout.endLayout();
}

}  // namespace

QStringList wrapped(const QString& words, const QFont& font, double width, int most) {
  QStringList lines;
  for (const QString& paragraph : words.split('\n')) addWrapped(paragraph, font, width, lines);
  if (lines.size() > most) {
    const QString last = lines[most - 1] + " " + lines[most];
    lines = lines.mid(0, most);
    lines.back() = QFontMetricsF(font).elidedText(last + QChar(0x2026), Qt::ElideRight, width);
  }
  return lines;
}

std::optional<QRectF> Places::firstFree(const std::vector<QRectF>& places) {
  for (const QRectF& place : places) {
    if (!area_.contains(place)) continue;
    const bool free = std::none_of(taken_.begin(), taken_.end(),
                                   [&](const QRectF& other) { return other.intersects(place); });
    if (!free) continue;
    take(place);
    return place;
  }
  return {};
}

}  // namespace tcsim::gui
