#include "gui/widgets/plot_labels.hpp"

#include <qcustomplot.h>

#include <QRegularExpression>
#include <algorithm>
#include <cmath>

#include "gui/widgets/words_room.hpp"

namespace tcsim::gui {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

class Labels {
 public:
  Labels(const Plot& plot, QCustomPlot& canvas, const Theme& theme)
      : plot_(plot),
        canvas_(canvas),
        theme_(theme),
        plain_(canvas.font()),
        bold_(canvas.font()),
        room_(canvas.axisRect()->rect()),
        // What stands behind a bar may go on to the edge of the picture.
        places_(room_.adjusted(0, 0, canvas.viewport().right() - room_.right() - 3, 0)) {
    bold_.setBold(true);
  }

  QStringList place() {
    if (canvas_.legend->visible()) places_.take(canvas_.legend->outerRect());
    if (plot_.hollow) stale();
    takeLines();
    for (const Region& r : plot_.regions) {
      if (!r.label.empty()) region(r);
    }
    for (const Rule& r : plot_.rules) rule(r);
    for (const Label& l : plot_.labels) label(l);
    for (const Bar& b : plot_.bars) {
      bar(b);
      inside(b);
    }
    return leftOut_;
  }

 private:
  struct Look {
    QFont font;
    QColor colour;
    QMargins padding;
    bool onPaper = true;  // on a patch of it, so that what is behind does not disturb
  };

  static QSizeF sizeOf(const QString& words, const Look& look) {
    const QSize size =
        QFontMetrics(look.font).boundingRect(0, 0, 0, 0, Qt::TextDontClip, words).size();
    return size.grownBy(look.padding);
  }

  // At the first free place of those that `where` says for the size of the words.
  template <class Where>
  bool put(const QString& words, const Look& look, const Where& where) {
    const auto place = places_.firstFree(where(sizeOf(words, look)));
    if (!place) return false;
    auto* t = new QCPItemText(&canvas_);
    t->position->setType(QCPItemPosition::ptAbsolute);
    t->position->setCoords(place->topLeft());
    t->setPositionAlignment(Qt::AlignLeft | Qt::AlignTop);
    t->setText(words);
    t->setFont(look.font);
    t->setColor(look.colour);
    t->setPadding(look.padding);
    t->setClipToAxisRect(false);
    if (look.onPaper) {
      QColor paper = theme_.paper();
      paper.setAlphaF(0.82F);
      t->setBrush(paper);
    }
    return true;
  }

  template <class Where>
  void putOrLeaveOut(const QString& words, const Look& look, const Where& where) {
    if (!put(words, look, where)) leftOut_ << words;
  }

  // Words beside bars do not cross the ends of outlines and upright lines, and lie on no mark; nor
  // do those of marks.
  void takeLines() {
    constexpr double wide = 3;
    const auto upright = [&](double at, double from, double to) {
      const double low = std::min(from, to), high = std::max(from, to);
      places_.take(QRectF(at - wide / 2, low, wide, high - low));
    };
    for (const Bar& b : plot_.bars) {
      if (b.ghost && b.label.empty()) {
        upright(x(b.to), y(b.at - b.thickness / 2), y(b.at + b.thickness / 2));
      }
    }
    const bool marks = !plot_.bars.empty() || std::any_of(plot_.labels.begin(), plot_.labels.end(),
                                                          [](const Label& l) { return l.ofMark; });
    for (const Line& l : plot_.lines) {
      if (!plot_.bars.empty() && l.joined && l.x.size() == 2 && l.x[0] == l.x[1]) {
        upright(x(l.x[0]), y(l.y[0]), y(l.y[1]));
      }
      if (!marks || !l.marked || l.joined) continue;
      const double half = markSize(l);
      for (std::size_t i = 0; i < l.x.size(); ++i) {
        places_.take(QRectF(x(l.x[i]) - half, y(l.y[i]) - half, 2 * half, 2 * half));
      }
    }
  }

  // Half of it, as plot_painter.cpp draws it.
  static double markSize(const Line& l) { return 2 + 1.1 * l.width; }

  double x(double v) const { return canvas_.xAxis->coordToPixel(v); }
  double y(double v) const { return canvas_.yAxis->coordToPixel(v); }
  // Left edge of words that are to be around a middle but within the diagram.
  double leftOf(double middle, double width) const {
    return std::clamp(middle - width / 2, room_.left(),
                      std::max(room_.left(), room_.right() - width));
  }

  void stale() {
    const Look look{plain_, theme_.warning(), {6, 2, 6, 2}};
    const auto where = [&](QSizeF size) {
      const double left = leftOf(room_.center().x(), size.width());
      return std::vector<QRectF>{
          {QPointF(left, room_.bottom() - size.height() - 4), size},
          {QPointF(room_.left() + 2, room_.bottom() - size.height() - 4), size},
          {QPointF(left, room_.center().y()), size},
          {QPointF(left, room_.top() + 4), size}};
    };
    if (put(QObject::tr("of the inputs before; the new ones are being computed"), look, where))
      return;
    putOrLeaveOut(QObject::tr("of the inputs before"), look, where);
  }

  // In the first row that is free: a name may be wider than its band.
  void region(const Region& r) {
    const double from = std::max(x(r.from), room_.left()), to = std::min(x(r.to), room_.right());
    putOrLeaveOut(text(r.label), {bold_, theme_.text(), {2, 1, 2, 1}, false}, [&](QSizeF size) {
      std::vector<QRectF> all;
      for (int row = 0; row < 4; ++row) {
        all.emplace_back(
            QPointF(leftOf((from + to) / 2, size.width()), room_.top() + 3 + row * size.height()),
            size);
      }
      return all;
    });
  }

  void rule(const Rule& r) {
    const Look look{plain_, theme_.text(), {5, 1, 5, 1}};
    putOrLeaveOut(text(r.label), look, [&](QSizeF size) {
      return r.vertical ? besideLine(x(r.at), size) : alongLine(y(r.at), size);
    });
  }

  // Below the names of the bands, toward the middle of the diagram.
  std::vector<QRectF> besideLine(double at, QSizeF size) const {
    constexpr double begin = 0.13;  // of the height
    std::vector<QRectF> all;
    const bool leftFirst = at > room_.left() + 0.7 * room_.width();
    for (double top = room_.top() + begin * room_.height(); top < room_.bottom() - size.height();
         top += size.height()) {
      for (const bool left : {leftFirst, !leftFirst}) {
        all.emplace_back(QPointF(left ? at - size.width() : at, top), size);
      }
    }
    return all;
  }

  std::vector<QRectF> alongLine(double at, QSizeF size) const {
    std::vector<QRectF> all;
    for (const double left :
         {room_.right() - size.width(), room_.left(), leftOf(room_.center().x(), size.width())}) {
      for (const double top : {at - size.height(), at}) all.emplace_back(QPointF(left, top), size);
    }
    return all;
  }

  void label(const Label& l) {
    const Look look{bold_, theme_.colour(l.ink), {5, 2, 5, 2}};
    putOrLeaveOut(text(l.text), look, [&](QSizeF size) {
      std::vector<QRectF> all;
      if (l.ofMark) return besideMark(l, size);
      for (const int row : {0, 1, -1, 2, -2, 3, -3}) {
        all.emplace_back(
            QPointF(leftOf(x(l.x), size.width()), y(l.y) - size.height() / 2 + row * size.height()),
            size);
      }
      return all;
    });
  }

  // Above the mark or below it, in rows that go away from it.
  std::vector<QRectF> besideMark(const Label& l, QSizeF size) const {
    constexpr double off = 9;  // of the first row from the mark's middle
    constexpr int rows = 8;
    std::vector<QRectF> all;
    for (int row = 0; row < rows; ++row) {
      for (const bool above : {true, false}) {
        const double away = off + row * size.height();
        const double top = above ? y(l.y) - away - size.height() : y(l.y) + away;
        all.emplace_back(QPointF(leftOf(x(l.x), size.width()), top), size);
      }
    }
    return all;
  }

  void inside(const Bar& b) {
    if (b.inside.empty()) return;
    const Look look{plain_, theme_.text(), {2, 0, 2, 0}};
    const QString words = text(b.inside);
    const QSizeF size = sizeOf(words, look);
    const double left = std::min(x(b.from), x(b.to)), right = std::max(x(b.from), x(b.to));
    if (size.width() > right - left) return;
    if (size.height() > std::abs(y(b.at + b.thickness / 2) - y(b.at - b.thickness / 2))) return;
    put(words, look, [&](QSizeF) {
      return std::vector<QRectF>{
          {QPointF((left + right - size.width()) / 2, y(b.at) - size.height() / 2), size}};
    });
  }

  // Behind the bar's end, or before it where the words would leave the picture. What stands behind
  // wide gaps in the words is left out where there is no room for all of them.
  void bar(const Bar& b) {
    if (b.label.empty()) return;
    Look look{b.strong ? bold_ : plain_, theme_.text(), {7, 1, 7, 1}};
    const double end = x(b.to), middle = y(b.at);
    static const QRegularExpression gaps("\\s{2,}");
    const QString words = text(b.label);
    std::vector<QString> tries{words};
    for (auto gap = gaps.globalMatch(words); gap.hasNext();) {
      tries.insert(tries.begin() + 1, words.left(gap.next().capturedStart()));
    }
    // An outline around it, and marks on it and beside it, may end further out.
    std::vector<double> ends{end};
    for (const Bar& other : plot_.bars) {
      if (other.ghost && std::abs(other.at - b.at) < b.thickness / 2) {
        ends.push_back(x(other.to) + 2);
      }
    }
    for (const Line& l : plot_.lines) {
      if (!l.marked || l.joined) continue;
      for (std::size_t i = 0; i < l.x.size(); ++i) {
        if (std::abs(l.y[i] - b.at) < b.thickness && x(l.x[i]) + markSize(l) > end) {
          ends.push_back(x(l.x[i]) + markSize(l));
        }
      }
    }
    std::ranges::sort(ends);
    for (const QString& some : tries) {
      const bool done = put(some, look, [&](QSizeF size) {
        const double top = middle - size.height() / 2;
        std::vector<QRectF> all;
        for (const double left : ends) all.emplace_back(QPointF(left, top), size);
        all.emplace_back(QPointF(end - size.width(), top), size);
        all.emplace_back(QPointF(end - size.width() - 4, top), size);
        // Further in, where a line goes up before the end.
        for (double left = end - 1.5 * size.width(); left > room_.left();
             left -= size.width() / 2) {
          all.emplace_back(QPointF(left, top), size);
        }
        all.emplace_back(QPointF(places_.area().right() - size.width(), top), size);
        return all;
      });
      if (!done) continue;
      if (some != words) leftOut_ << words;
      return;
    }
    leftOut_ << words;
  }

  const Plot& plot_;
  QCustomPlot& canvas_;
  Theme theme_;
  QFont plain_, bold_;
  QRectF room_;
  Places places_;
  QStringList leftOut_;
};

}  // namespace

QStringList placeLabels(const Plot& plot, QCustomPlot& canvas, const Theme& theme) {
  return Labels(plot, canvas, theme).place();
}

}  // namespace tcsim::gui
