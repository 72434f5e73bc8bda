#include "gui/widgets/boxes_view.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/widgets/message.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/words_room.hpp"

namespace tcsim::gui {

namespace {

constexpr double edge = 12;    // around all boxes
constexpr double inside = 10;  // between a box and what is in it
constexpr double swatch = 15;  // of a part whose words stand elsewhere
constexpr double apart = 24;   // between words on a line

QString text(const std::string& s) { return QString::fromStdString(s); }

// What stands at the top right of a box.
QStringList remarksOn(const TileBox& b) {
  QStringList all{b.tile.empty() ? QObject::tr("no tile fits") : text(b.tile)};
  if (b.capacity.empty() || b.tile.empty()) return all;
  if (b.filledBefore >= 0) {
    all << QObject::tr("baseline A %1 % full").arg(100 * b.filledBefore, 0, 'f', 0);
  }
  return all << QObject::tr("%1 % full").arg(100 * b.filled, 0, 'f', 0);
}

QString headOf(const TileBox& b) {
  return text(b.name + (b.capacity.empty() ? "" : "  " + b.capacity));
}

// Where everything is, by the widths of the words. Lines are those of the font.
class Boxes {
 public:
  Boxes(const TileBoxes& boxes, const QFont& font, QSizeF size)
      : boxes_(boxes), font_(font), bold_(font), line_(QFontMetricsF(font).height()) {
    bold_.setBold(true);
    title_ = wrapped(text(boxes.title), bold_, size.width() - 2 * edge, 3);
    legend_ = wrapped(text(boxes.legend), font_, size.width() - 2 * edge, 3);
    QRectF r(edge, 8, size.width() - 2 * edge, size.height() - 8 - edge);
    if (!legend_.isEmpty()) r.setBottom(r.bottom() - legendLines() * line_ - 4);
    r.setTop(r.top() + (static_cast<double>(title_.size()) + 0.6) * line_);
    first_ = r;
    for (std::size_t i = 0; i < boxes.boxes.size(); ++i) {
      heads_ = std::max(heads_, static_cast<int>(headLines(boxes.boxes[i], r.width()).size()));
      feet_ = std::max(feet_, feetOf(boxes.boxes[i], r.width()));
      r = within(r, 0);
    }
    // Bars share the height, as long as they stay bars.
    const auto n = static_cast<double>(boxes.boxes.size());
    const double each = (first_.height() - 3 * line_) / (n + 1);
    const double least = line_ + 8;
    bar_ = std::clamp(each - around(), least, 3.2 * line_);
    height_ =
        first_.top() + n * (least + around() + 0.6 * line_) + (1.5 + legendLines()) * line_ + edge;
  }

  // The least height in which nothing lies on another.
  double height() const { return height_; }

  // The least width in which each word stands within its box.
  double width() const {
    double most = 0, taken = 2 * edge;
    for (const TileBox& b : boxes_.boxes) {
      double own = advance(bold_, headOf(b)) + apart;
      for (const QString& r : remarksOn(b)) own = std::max(own, advance(font_, r));
      double parts = 0;
      for (const TileBox::Part& p : b.parts) {
        parts = b.capacity.empty() ? parts + shareOf(b, p, 0) : std::max(parts, besides(p));
      }
      own = std::max(own, parts);
      most = std::max(most, own + taken + 2 * inside);
      taken += 2 * mostSide;
    }
    return most;
  }

  void draw(QPainter& painter, const Theme& theme) {
    p_ = &painter;
    theme_ = theme;
    p_->setRenderHint(QPainter::Antialiasing);
    QRectF at(edge, 8, first_.width(), line_);
    for (const QString& words : title_) {
      write(bold_, theme_.text(), at, words);
      at.translate(0, line_);
    }
    QRectF r = first_;
    for (std::size_t i = 0; i < boxes_.boxes.size(); ++i) {
      box(boxes_.boxes[i], r, i);
      r = within(r, bar_ + around());
    }
    write(bold_, theme_.text(), r, text(boxes_.kernel), Qt::AlignHCenter);
    QRectF below(first_.left(), first_.bottom() + 4, first_.width(), line_);
    for (const QString& words : legend_) {
      write(font_, theme_.faint(), below, words, Qt::AlignHCenter);
      below.translate(0, line_);
    }
  }

 private:
  static constexpr double mostSide = 18;

  static double advance(const QFont& font, const QString& words) {
    return QFontMetricsF(font).horizontalAdvance(words);
  }

  double legendLines() const { return static_cast<double>(legend_.size()); }

  // Of a box but for its bar: lines of words above it and below, and what parts it from the next.
  double around() const { return (1.4 + heads_ + feet_) * line_; }

  QRectF within(const QRectF& r, double step) const {
    const double side = std::min(mostSide, r.width() * 0.02);
    return r.adjusted(side, step, -side, -line_ * 0.6);
  }

  // The remarks on as few lines as they fit; the first begins with the box's name.
  QList<QStringList> headLines(const TileBox& b, double width) const {
    QList<QStringList> lines{{}};
    double free = width - 2 * inside - advance(bold_, headOf(b)) - apart;
    for (const QString& remark : remarksOn(b)) {
      const double words = advance(font_, remark);
      if (words > free) {
        lines << QStringList{};
        free = width - 2 * inside;
      }
      lines.back() << remark;
      free -= words + apart;
    }
    return lines;
  }

  double shareOf(const TileBox& b, const TileBox::Part& part, double width) const {
    const double words = advance(font_, text(part.label)) + 12;
    return b.capacity.empty() ? words + 14 : part.share * width;
  }

  // Words do not stand on a halo's hatching.
  bool fitsInBar(const TileBox& b, const TileBox::Part& part, double width) const {
    return !part.halo && advance(font_, text(part.label)) + 12 <= shareOf(b, part, width);
  }

  double besides(const TileBox::Part& part) const {
    return advance(font_, text(part.label)) + swatch + 17;
  }

  // Lines below the bar, for the parts that find room neither in it nor behind it.
  int feetOf(const TileBox& b, double width) const {
    width -= 2 * inside;
    double free = 0, end = 0;
    int lines = 0;
    for (const TileBox::Part& p : b.parts) end += shareOf(b, p, width);
    free = width - std::max(end, b.filledBefore * width) - inside;
    for (const TileBox::Part& p : b.parts) {
      if (fitsInBar(b, p, width)) continue;
      if (besides(p) > free) {
        ++lines;
        free = width;
      }
      free -= besides(p);
    }
    return lines;
  }

  void write(const QFont& font, const QColor& colour, const QRectF& at, const QString& words,
             Qt::Alignment align = Qt::AlignLeft) {
    p_->setFont(font);
    p_->setPen(colour);
    p_->drawText(at, static_cast<int>(align | Qt::AlignVCenter | Qt::TextDontClip), words);
  }

  void box(const TileBox& b, const QRectF& r, std::size_t depth) {
    p_->setPen(QPen(theme_.faint(), 1.4));
    QColor fill = theme_.dark ? QColor(Qt::white) : QColor(Qt::black);
    fill.setAlphaF(0.012F * static_cast<float>(depth));
    p_->setBrush(fill);
    p_->drawRoundedRect(r, 6, 6);
    const QRectF inner = r.adjusted(inside, 4, -inside, 0);
    QRectF head(inner.left(), inner.top(), inner.width(), line_);
    write(bold_, theme_.text(), head, headOf(b));
    for (const QStringList& remarks : headLines(b, r.width())) {
      double right = head.right();
      for (auto remark = remarks.rbegin(); remark != remarks.rend(); ++remark) {
        write(font_, theme_.faint(), QRectF(head.left(), head.top(), right - head.left(), line_),
              *remark, Qt::AlignRight);
        right -= advance(font_, *remark) + apart;
      }
      head.translate(0, line_);
    }
    bar(b, QRectF(inner.left(), inner.top() + heads_ * line_ + 4, inner.width(), bar_));
  }

  // The cache from empty to full, with each tensor's part; memory's has no end and shows names.
  void bar(const TileBox& b, const QRectF& r) {
    if (!b.capacity.empty()) {
      p_->setPen(QPen(theme_.grid(), 1));
      p_->setBrush(Qt::NoBrush);
      p_->drawRect(r);
    }
    double x = r.left();
    for (const TileBox::Part& part : b.parts) {
      const QRectF at(x, r.top(), shareOf(b, part, r.width()), r.height());
      fill(part, at, QPen(theme_.paper(), 1));
      const QColor ink = theme_.dark || part.ink == Ink::B ? QColor(Qt::black) : QColor(Qt::white);
      if (fitsInBar(b, part, r.width())) {
        write(font_, ink, at, text(part.label), Qt::AlignHCenter);
      }
      x = at.right();
    }
    if (b.filledBefore >= 0) {  // as full as in the baseline
      const double at = r.left() + b.filledBefore * r.width();
      p_->setPen(QPen(theme_.text(), 2, Qt::DashLine));
      p_->drawLine(QPointF(at, r.top() - 3), QPointF(at, r.bottom() + 3));
      x = std::max(x, at);
    }
    outside(b, r, x + inside);
  }

  // A halo is hatched in its tensor's colour.
  void fill(const TileBox::Part& part, const QRectF& at, const QPen& pen) {
    p_->setPen(pen);
    const QColor colour = theme_.colour(part.ink);
    if (part.halo) {
      p_->setBrush(theme_.paper());
      p_->drawRect(at);
    }
    p_->setBrush(part.halo ? QBrush(colour, Qt::BDiagPattern) : QBrush(colour));
    p_->drawRect(at);
  }

  void outside(const TileBox& b, const QRectF& r, double free) {
    double middle = r.center().y();
    for (const TileBox::Part& part : b.parts) {
      if (fitsInBar(b, part, r.width())) continue;
      if (free + besides(part) > r.right()) {
        middle = std::max(middle, r.bottom() - line_ / 2 + 2) + line_;
        free = r.left();
      }
      fill(part, QRectF(free, middle - 5, 10, 10), Qt::NoPen);
      write(font_, theme_.text(), QRectF(free + swatch, middle - line_ / 2, r.width(), line_),
            text(part.label));
      free += besides(part);
    }
  }

  const TileBoxes& boxes_;
  QPainter* p_ = nullptr;
  Theme theme_;
  QFont font_, bold_;
  double line_;
  QStringList title_, legend_;
  QRectF first_;              // the outermost box
  int heads_ = 1, feet_ = 0;  // lines of words above and below each bar
  double bar_ = 0;            // height
  double height_ = 0;
};

}  // namespace

void BoxesView::show(const TileBoxes& boxes) {
  boxes_ = boxes;
  setAccessibleName(text(boxes.title));
  const double wide = Boxes(boxes_, font(), size()).width();
  setMinimumWidth(static_cast<int>(std::ceil(wide)));
  fitHeight();
  update();
}

// As narrow as it is now, the words may take more lines.
void BoxesView::fitHeight() {
  setMinimumHeight(static_cast<int>(std::ceil(Boxes(boxes_, font(), size()).height())));
}

void BoxesView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  fitHeight();
}

void BoxesView::paintTo(QPainter& painter, QSize size) const {
  const QRectF all(QPointF(0, 0), size);
  const Theme theme = Theme::of(palette());
  if (!boxes_.missing.empty()) {
    paintMessage(painter, all, theme, font(), text(boxes_.title), text(boxes_.missing));
  } else {
    painter.fillRect(all, theme.paper());
    // A picture that is too small for the words is drawn smaller as a whole.
    double shrunk = 1;
    constexpr double step = 0.95, least = 0.2;
    const auto fits = [&] {
      const Boxes laid(boxes_, font(), QSizeF(size) / shrunk);
      return laid.width() * shrunk <= size.width() && laid.height() * shrunk <= size.height();
    };
    while (shrunk > least && !fits()) shrunk *= step;
    painter.scale(shrunk, shrunk);
    Boxes(boxes_, font(), QSizeF(size) / shrunk).draw(painter, theme);
  }
}

void BoxesView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintTo(painter, size());
}

}  // namespace tcsim::gui
