#include "gui/widgets/layouts.hpp"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QPainter>
#include <QResizeEvent>
#include <QScreen>
#include <QScrollArea>
#include <QStyle>
#include <QStyleOptionFrame>
#include <algorithm>

namespace tcsim::gui {

QWidget* scrolled(QWidget* page, const QString& name) {
  auto* scroll = new QScrollArea;
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setAccessibleName(name);
  scroll->setWidget(page);
  return scroll;
}

void resizeOnScreen(QWidget& window, QSize size) {
  // The desktop's frame is only known once the window is there.
  const int title = window.style()->pixelMetric(QStyle::PM_TitleBarHeight);
  const QSize screen = window.screen()->availableGeometry().size();
  window.resize(size.boundedTo(screen - QSize(0, title)));
}

int fieldWidth(const QLineEdit& field, const QFont& font, const QString& text) {
  QStyleOptionFrame frame;
  frame.initFrom(&field);
  frame.lineWidth = field.style()->pixelMetric(QStyle::PM_DefaultFrameWidth, &frame, &field);
  constexpr int margins = 2 * 2 + 1;  // QLineEdit's own, and the cursor
  const QSize words(QFontMetrics(font).horizontalAdvance(text) + margins,
                    QFontMetrics(font).height());
  return field.style()->sizeFromContents(QStyle::CT_LineEdit, &frame, words, &field).width();
}

FlowLayout::FlowLayout(QWidget* parent) : QLayout(parent) {
  setContentsMargins(0, 0, 0, 0);
  setSpacing(6);
}

FlowLayout::~FlowLayout() { qDeleteAll(items_); }

void FlowLayout::addPair(QWidget* name, QWidget* widget) {
  auto* both = new QWidget;
  auto* row = new QHBoxLayout(both);
  row->setContentsMargins(0, 0, 0, 0);
  row->addWidget(name);
  row->addWidget(widget);
  addWidget(both);
}

QSize FlowLayout::sizeHint() const {
  QSize all(0, 0);
  for (const QLayoutItem* item : items_) {
    const QSize size = item->sizeHint();
    all = QSize(all.width() + size.width() + spacing(), std::max(all.height(), size.height()));
  }
  return all;
}

QSize FlowLayout::minimumSize() const {
  QSize widest(0, 0);
  for (const QLayoutItem* item : items_) widest = widest.expandedTo(item->minimumSize());
  return widest;
}

void FlowLayout::setGeometry(const QRect& area) {
  QLayout::setGeometry(area);
  place(area, true);
}

int FlowLayout::place(const QRect& area, bool now) const {
  int x = area.left(), y = area.top(), line = 0;
  for (QLayoutItem* item : items_) {
    const QSize size = item->sizeHint();
    if (x > area.left() && x + size.width() > area.left() + area.width()) {
      x = area.left();
      y += line + spacing();
      line = 0;
    }
    const QSize shown(std::min(size.width(), area.width()), size.height());
    if (now) item->setGeometry(QRect(QPoint(x, y), shown));
    x += size.width() + spacing();
    line = std::max(line, size.height());
  }
  return y + line - area.top();
}

ReadingLabel::ReadingLabel(QWidget* parent) : QLabel(parent) {
  setTextFormat(Qt::PlainText);  // names that people give may look like HTML
  setWordWrap(true);
  setTextInteractionFlags(Qt::TextSelectableByMouse);
  setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Minimum);
  setMinimumHeight(fontMetrics().height());
}

void ReadingLabel::read(const QString& words) {
  setText(words);
  setMinimumHeight(std::max(minimumHeight(), heightForWidth(width())));
}

void ReadingLabel::resizeEvent(QResizeEvent* event) {
  QLabel::resizeEvent(event);
  if (event->size().width() == event->oldSize().width()) return;
  setMinimumHeight(std::max(fontMetrics().height(), heightForWidth(width())));
}

StatusLine::StatusLine(QWidget* parent) : QStatusBar(parent) {
  connect(this, &QStatusBar::messageChanged, this, &QWidget::setToolTip);
}

void StatusLine::paintEvent(QPaintEvent*) {
  constexpr int margin = 6;
  int right = width() - margin;
  for (const QObject* child : children()) {
    const auto* w = qobject_cast<const QWidget*>(child);
    if (w != nullptr && w->isVisible()) right = std::min(right, w->x() - margin);
  }
  const QRect room(margin, 0, right - margin, height());
  QPainter painter(this);
  painter.setPen(palette().color(QPalette::WindowText));
  painter.drawText(room, Qt::AlignLeft | Qt::AlignVCenter | Qt::TextSingleLine,
                   fontMetrics().elidedText(currentMessage(), Qt::ElideRight, room.width()));
}

ShareBar::ShareBar(QWidget* parent) : QProgressBar(parent) {
  setRange(0, steps);
  setMaximumWidth(160);
  setMaximumHeight(fontMetrics().height());
  setTextVisible(false);
  setAccessibleName(tr("progress"));
}

void ShareBar::setShare(double share) { setValue(static_cast<int>(steps * share)); }

}  // namespace tcsim::gui
