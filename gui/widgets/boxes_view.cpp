#include "gui/widgets/boxes_view.hpp"

#include <QPainter>
#include <algorithm>
#include <cmath>

#include "gui/widgets/message.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/words_room.hpp"

namespace tcsim::gui {

namespace {

constexpr double edge = 12;       // around all boxes
constexpr double inside = 10;     // between a box and what is in it
constexpr double apart = 24;      // between words on a line
constexpr double leastBars = 90;  // width

QString text(const std::string& s) { return QString::fromStdString(s); }

// What stands at the top right of a box.
QStringList remarksOn(const TileBox& b) {
  QStringList all{b.tile.empty() ? QObject::tr("no tile fits") : text(b.tile)};
  if (b.capacity.empty() || b.tile.empty()) return all;
  for (const TileBox::Pinned& pin : b.pins) {
    all << QObject::tr("%1: %2 %").arg(text(pin.name), QString::number(100 * pin.filled, 'f', 0));
  }
  return all << QObject::tr("%1 % full").arg(100 * b.filled, 0, 'f', 0);
}

QString headOf(const TileBox& b) {
  return text(b.name + (b.capacity.empty() ? "" : "  " + b.capacity));
}

// A tensor: its bytes, and its halo behind the rest.
struct Row {
  QString words;
  std::vector<const TileBox::Part*> parts;
};

std::vector<Row> rowsOf(const TileBox& b) {
  std::vector<Row> rows;
  for (const TileBox::Part& p : b.parts) {
    if (p.halo && !rows.empty()) {
      rows.back().words += ", " + text(p.label);
      rows.back().parts.push_back(&p);
    } else {
      rows.push_back({text(p.label), {&p}});
    }
  }
  return rows;
}

// Where everything is, by the widths of the words. Lines are those of the font.
class Boxes {
 public:
  Boxes(const TileBoxes& boxes, const QFont& font, QSizeF size)
      : boxes_(boxes), font_(font), bold_(font), line_(QFontMetricsF(font).height()) {
    bold_.setBold(true);
    const double room = size.width() - 2 * edge;
    title_ = wrapped(text(boxes.title), bold_, room, 3);
    for (const std::string& words : {boxes.kernel, boxes.measure, boxes.legend}) {
      if (!words.empty()) below_ << wrapped(text(words), font_, room, 3);
    }
    for (const TileBox& b : boxes.boxes) {
      for (const Row& row : rowsOf(b)) names_ = std::max(names_, advance(font_, row.words));
      rows_ += std::max(1.0, static_cast<double>(b.parts.empty() ? 0 : rowsOf(b).size()));
      heads_ += static_cast<double>(headLines(b, room).size());
    }
    const auto n = static_cast<double>(boxes.boxes.size());
    top_ = 8 + (static_cast<double>(title_.size()) + 0.4) * line_;
    // Of all but the bars, which share what is left.
    const double fixed = top_ + heads_ * line_ + n * (gap() + 2 * pad()) + feet() + edge;
    const double least = line_ + 1;
    row_ = std::clamp((size.height() - fixed) / std::max(1.0, rows_), least, 4 * line_);
    height_ = fixed + rows_ * least;
    width_ = size.width();
  }

  // The least height in which nothing lies on another.
  double height() const { return height_; }

  // The least width in which each word stands within its box.
  double width() const {
    double most = names_ + apart + leastBars;
    for (const TileBox& b : boxes_.boxes) {
      most = std::max(most, advance(bold_, headOf(b)) + apart);
      for (const QString& r : remarksOn(b)) most = std::max(most, advance(font_, r));
    }
    return most + 2 * edge + 2 * inside;
  }

  void draw(QPainter& painter, const Theme& theme) {
    p_ = &painter;
    theme_ = theme;
    p_->setRenderHint(QPainter::Antialiasing);
    QRectF at(edge, 8, width_ - 2 * edge, line_);
    for (const QString& words : title_) {
      write(bold_, theme_.text(), at, words);
      at.translate(0, line_);
    }
    double top = top_;
    for (const TileBox& b : boxes_.boxes) {
      const auto heads = static_cast<double>(headLines(b, width_ - 2 * edge).size());
      const auto rows = std::max(1.0, static_cast<double>(rowsOf(b).size()));
      const QRectF r(edge, top, width_ - 2 * edge, heads * line_ + rows * row_ + 2 * pad());
      box(b, r);
      top = r.bottom() + gap();
    }
    ticks(top - gap() + 2);
    QRectF words(edge, top - gap() + 2 + 1.3 * line_, width_ - 2 * edge, line_);
    for (const QString& line : below_) {
      write(font_, theme_.faint(), words, line, Qt::AlignHCenter);
      words.translate(0, line_);
    }
  }

 private:
  static double advance(const QFont& font, const QString& words) {
    return QFontMetricsF(font).horizontalAdvance(words);
  }
  double gap() const { return 0.4 * line_; }
  double pad() const { return 4; }
  // The sizes below the last box, and the words below them.
  double feet() const { return (1.5 + static_cast<double>(below_.size())) * line_; }

  double left() const { return edge + inside + names_ + apart / 2; }
  double right() const { return width_ - edge - inside; }
  // The place of a size on the measure.
  double x(double bytes) const {
    const double share = std::log(bytes / boxes_.low) / std::log(boxes_.high / boxes_.low);
    return left() + std::clamp(share, 0.0, 1.0) * (right() - left());
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

  void write(const QFont& font, const QColor& colour, const QRectF& at, const QString& words,
             Qt::Alignment align = Qt::AlignLeft) {
    p_->setFont(font);
    p_->setPen(colour);
    p_->drawText(at, static_cast<int>(align | Qt::AlignVCenter | Qt::TextDontClip), words);
  }

  void box(const TileBox& b, const QRectF& r) {
    p_->setPen(QPen(theme_.faint(), 1.4));
    p_->setBrush(Qt::NoBrush);
    p_->drawRoundedRect(r, 6, 6);
    QRectF head(r.left() + inside, r.top() + pad(), r.width() - 2 * inside, line_);
    write(bold_, theme_.text(), head, headOf(b));
    for (const QStringList& remarks : headLines(b, r.width())) {
      double end = head.right();
      for (auto remark = remarks.rbegin(); remark != remarks.rend(); ++remark) {
        write(font_, theme_.faint(), QRectF(head.left(), head.top(), end - head.left(), line_),
              *remark, Qt::AlignRight);
        end -= advance(font_, *remark) + apart;
      }
      head.translate(0, line_);
    }
    bars(b, QRectF(head.left(), head.top(), head.width(), r.bottom() - pad() - head.top()));
  }

  void bars(const TileBox& b, const QRectF& r) {
    if (!(boxes_.high > boxes_.low)) return;
    p_->setPen(QPen(theme_.grid(), 1));
    for (const auto& [bytes, name] : boxes_.ticks) upright(x(bytes), r);
    double top = r.top();
    for (const Row& row : rowsOf(b)) {
      write(font_, theme_.text(), QRectF(r.left(), top, names_, row_), row.words);
      const double thick = std::min(0.8 * row_, 2 * line_);
      double bytes = 0, from = left();
      for (const TileBox::Part* part : row.parts) {
        bytes += part->bytes;
        const double to = x(bytes);
        fill(*part, QRectF(from, top + (row_ - thick) / 2, to - from, thick));
        from = to;
      }
      top += row_;
    }
    if (b.capacityBytes > 0) {
      p_->setPen(QPen(theme_.text(), 2.5));
      upright(x(b.capacityBytes), r);
    }
    for (const TileBox::Pinned& pin : b.pins) {  // as full as with that design
      if (!(pin.filled > 0)) continue;
      p_->setPen(QPen(theme_.colour(pin.ink), 2, theme_.dash(pin.ink)));
      upright(x(pin.filled * b.capacityBytes), r);
    }
  }

  void upright(double at, const QRectF& r) {
    p_->drawLine(QPointF(at, r.top()), QPointF(at, r.bottom()));
  }

  // A halo is hatched in its tensor's colour.
  void fill(const TileBox::Part& part, const QRectF& at) {
    const QColor colour = theme_.colour(part.ink);
    p_->setPen(QPen(colour, 1));
    if (part.halo) {
      p_->setBrush(theme_.paper());
      p_->drawRect(at);
    }
    p_->setBrush(part.halo ? QBrush(colour, Qt::BDiagPattern) : QBrush(colour));
    p_->drawRect(at);
  }

  // Those that stand apart.
  void ticks(double top) {
    double free = left() - apart;
    for (const auto& [bytes, name] : boxes_.ticks) {
      const double wide = advance(font_, text(name));
      const double from = std::min(x(bytes) - wide / 2, width_ - edge - wide);
      if (from < free) continue;
      write(font_, theme_.faint(), QRectF(from, top, wide, line_), text(name));
      free = from + wide + apart / 2;
    }
  }

  const TileBoxes& boxes_;
  QPainter* p_ = nullptr;
  Theme theme_;
  QFont font_, bold_;
  double line_;
  QStringList title_, below_;
  double names_ = 0;             // width of the longest name of a row
  double rows_ = 0, heads_ = 0;  // of all boxes
  double top_ = 0, row_ = 0, height_ = 0, width_ = 0;
};

}  // namespace

void BoxesView::show(const TileBoxes& boxes) {
  boxes_ = boxes;
  setAccessibleName(text(boxes.title));
  setAccessibleDescription(text(boxes.missing.empty() ? boxes.measure : boxes.missing));
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
