#include "gui/widgets/boxes_view.hpp"

#include <QPainter>
#include <algorithm>

#include "gui/widgets/theme.hpp"

namespace tcsim::gui {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

class Boxes {
 public:
  Boxes(QPainter& painter, const Theme& theme, const QFont& font)
      : p_(painter), theme_(theme), font_(font), bold_(font), line_(QFontMetricsF(font).height()) {
    bold_.setBold(true);
  }

  void draw(const TileBoxes& boxes, QRectF all) {
    p_.fillRect(all, theme_.paper());
    p_.setRenderHint(QPainter::Antialiasing);
    QRectF r = all.adjusted(12, 8, -12, -12);
    write(bold_, theme_.text(), QRectF(r.left(), r.top(), r.width(), line_), boxes.title);
    r.setTop(r.top() + 1.6 * line_);
    if (!boxes.missing.empty()) {
      p_.setPen(theme_.faint());
      p_.setFont(font_);
      p_.drawText(all, Qt::AlignCenter, text(boxes.missing));
      return;
    }
    // Bars share the height, as long as they stay bars.
    const double each = (r.height() - 3 * line_) / static_cast<double>(boxes.boxes.size() + 1);
    bar_ = std::clamp(each - 2.4 * line_, line_ + 8, 3.2 * line_);
    const double step = bar_ + 2.4 * line_;
    for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
      box(boxes.boxes[i], r, i);
      const double side = std::min(18.0, r.width() * 0.02);
      r.adjust(side, step, -side, -line_ * 0.6);
    }
    p_.setFont(bold_);
    p_.setPen(theme_.text());
    p_.drawText(r, Qt::AlignHCenter | Qt::AlignVCenter, text(boxes.kernel));
  }

 private:
  void write(const QFont& font, const QColor& colour, const QRectF& at, const std::string& words,
             Qt::Alignment align = Qt::AlignLeft) {
    p_.setFont(font);
    p_.setPen(colour);
    p_.drawText(at, static_cast<int>(align | Qt::AlignVCenter), text(words));
  }

  void box(const TileBox& b, const QRectF& r, std::size_t depth) {
    p_.setPen(QPen(theme_.faint(), 1.4));
    QColor fill = theme_.dark ? QColor(Qt::white) : QColor(Qt::black);
    fill.setAlphaF(0.012F * static_cast<float>(depth));
    p_.setBrush(fill);
    p_.drawRoundedRect(r, 6, 6);
    const QRectF inner = r.adjusted(10, 4, -10, 0);
    const QRectF first(inner.left(), inner.top(), inner.width(), line_ + 2);
    std::string name = b.name + (b.capacity.empty() ? "" : "  " + b.capacity);
    write(bold_, theme_.text(), first, name);
    std::string words = b.tile.empty() ? "no tile fits" : b.tile;
    if (!b.capacity.empty() && !b.tile.empty()) {
      if (b.filledBefore >= 0) {
        words += QObject::tr("    baseline A %1 % full")
                     .arg(100 * b.filledBefore, 0, 'f', 0)
                     .toStdString();
      }
      words += QObject::tr("    %1 % full").arg(100 * b.filled, 0, 'f', 0).toStdString();
    }
    write(font_, theme_.faint(), first, words, Qt::AlignRight);
    bar(b, QRectF(inner.left(), first.bottom() + 2, inner.width(), bar_));
  }

  // The cache from empty to full, with each tensor's part; memory's has no end and shows names.
  void bar(const TileBox& b, const QRectF& r) {
    double x = r.left();
    const bool bounded = !b.capacity.empty();
    if (bounded) {
      p_.setPen(QPen(theme_.grid(), 1));
      p_.setBrush(Qt::NoBrush);
      p_.drawRect(r);
    }
    const QFontMetricsF metrics(font_);
    double free = r.left();  // where words that found no room in their part may begin
    std::vector<std::pair<const TileBox::Part*, QRectF>> outside;
    for (const TileBox::Part& part : b.parts) {
      const double words = metrics.horizontalAdvance(text(part.label)) + 12;
      const double width = bounded ? part.share * r.width() : words + 14;
      const QRectF at(x, r.top(), width, r.height());
      p_.setPen(QPen(theme_.paper(), 1));
      p_.setBrush(theme_.colour(part.ink));
      p_.drawRect(at);
      if (words <= width) {
        p_.setFont(font_);
        p_.setPen(theme_.dark || part.ink == Ink::B ? QColor(Qt::black) : QColor(Qt::white));
        p_.drawText(at, Qt::AlignCenter, text(part.label));
      } else {
        outside.emplace_back(&part, at);
      }
      x += width;
      free = x;
    }
    free += 10;
    if (b.filledBefore >= 0) {  // as full as in the baseline
      const double at = r.left() + b.filledBefore * r.width();
      p_.setPen(QPen(theme_.text(), 2, Qt::DashLine));
      p_.drawLine(QPointF(at, r.top() - 3), QPointF(at, r.bottom() + 3));
    }
    for (const auto& [part, at] : outside) {
      const double words = metrics.horizontalAdvance(text(part->label));
      const QRectF swatch(free, r.center().y() - 5, 10, 10);
      p_.setPen(Qt::NoPen);
      p_.setBrush(theme_.colour(part->ink));
      if (free + words + 16 > r.right()) break;
      p_.drawRect(swatch);
      p_.setFont(font_);
      p_.setPen(theme_.text());
      p_.drawText(QRectF(free + 15, r.top(), words + 4, r.height()),
                  Qt::AlignLeft | Qt::AlignVCenter, text(part->label));
      free += words + 32;
    }
  }

  QPainter& p_;
  Theme theme_;
  QFont font_, bold_;
  double line_;
  double bar_ = 0;  // height
};

}  // namespace

BoxesView::BoxesView(QWidget* parent) : QWidget(parent) { setMinimumSize(320, 380); }

void BoxesView::show(const TileBoxes& boxes) {
  boxes_ = boxes;
  setAccessibleName(text(boxes.title));
  update();
}

void BoxesView::paintTo(QPainter& painter, QSize size) const {
  Boxes(painter, Theme::of(palette()), font()).draw(boxes_, QRectF(QPointF(0, 0), size));
}

void BoxesView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintTo(painter, size());
}

}  // namespace tcsim::gui
