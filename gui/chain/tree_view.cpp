#include "gui/chain/tree_view.hpp"

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>
#include <QToolTip>
#include <algorithm>
#include <cmath>

#include "gui/widgets/message.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/words_room.hpp"

namespace tcsim::gui {

namespace {

using Place = ChainTree::Place;
using Node = ChainTree::Node;

constexpr double margin = 10;  // around the whole tree
constexpr double aside = 8;    // of the words in a box
constexpr double gap = 12;     // between neighbours
constexpr double lid = 4;      // half the height of a drum's lid
constexpr double stub = 4;     // of a line between a box and the words on it

QString asWords(const std::string& s) { return QString::fromStdString(s); }

QFont boldOf(QFont font) {
  font.setBold(true);
  return font;
}

bool isOnDisk(Place place) { return place != Place::memory; }

// A tidy tree: a node stands above the middle of what is below it.
class Layout {
 public:
  Layout(const ChainTree& tree, const QFont& font)
      : tree_(tree),
        plain_(font),
        bold_(boldOf(font)),
        line_(plain_.height()),
        boxHeight_(2 * line_ + 4 * lid + 2),
        level_(boxHeight_ + 4 * stub + line_) {
    made_.boxes.resize(tree.nodes.size());
    made_.labels.resize(tree.nodes.size());
    const double top = margin + line_;
    double left = margin, bottom = top;
    for (const int root : tree.roots) {
      left += place(root, left, top + 2 * stub + line_) + gap;
    }
    for (const QRectF& box : made_.boxes) bottom = std::max(bottom, box.bottom());
    const double title = bold_.horizontalAdvance(asWords(tree.title)) + 2 * margin;
    made_.size = {std::max(left - gap + margin, title), bottom + margin};
  }

  const TreeLayout& made() const { return made_; }

 private:
  const Node& node(int i) const { return tree_.nodes[static_cast<std::size_t>(i)]; }

  double boxWidth(const Node& n) const {
    return std::max(bold_.horizontalAdvance(asWords(n.name)),
                    plain_.horizontalAdvance(asWords(n.about))) +
           2 * aside;
  }
  double labelWidth(const Node& n) const { return plain_.horizontalAdvance(asWords(n.moved)) + 6; }

  double width(int i) const {
    const Node& n = node(i);
    double below = 0;
    for (const int b : n.below) below += width(b) + gap;
    return std::max({boxWidth(n), labelWidth(n), below - gap});
  }

  double place(int i, double left, double top) {
    const Node& n = node(i);
    const double all = width(i);
    double below = 0;
    for (const int b : n.below) below += width(b) + gap;
    double from = left + (all - (below - gap)) / 2;
    double middle = left + all / 2;
    if (!n.below.empty()) {
      double first = 0, last = 0;
      for (const int b : n.below) {
        from += place(b, from, top + level_) + gap;
        const double at = made_.boxes[static_cast<std::size_t>(b)].center().x();
        if (b == n.below.front()) first = at;
        last = at;
      }
      const double half = std::max(boxWidth(n), labelWidth(n)) / 2;
      middle = std::clamp((first + last) / 2, left + half, left + all - half);
    }
    const double w = boxWidth(n), l = labelWidth(n);
    made_.boxes[static_cast<std::size_t>(i)] = QRectF(middle - w / 2, top, w, boxHeight_);
    made_.labels[static_cast<std::size_t>(i)] =
        QRectF(middle - l / 2, top - stub - line_, l, line_);
    return all;
  }

  const ChainTree& tree_;
  const QFontMetricsF plain_, bold_;
  const double line_, boxHeight_, level_;
  TreeLayout made_;
};

class TreePainter {
 public:
  TreePainter(QPainter& painter, const ChainTree& tree, const QFont& font, const Theme& theme)
      : p_(painter), tree_(tree), font_(font), theme_(theme), at_(Layout(tree, font).made()) {}

  void draw(double width) {
    p_.setRenderHint(QPainter::Antialiasing);
    title(width);
    p_.translate(std::max(0.0, (width - at_.size.width()) / 2), 0);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) edges(i);
    for (std::size_t i = 0; i < tree_.nodes.size(); ++i) {
      label(i);
      box(tree_.nodes[i], at_.boxes[i]);
    }
  }

 private:
  void write(const QFont& font, const QColor& colour, const QRectF& at, const std::string& words) {
    p_.setFont(font);
    p_.setPen(colour);
    p_.drawText(at, static_cast<int>(Qt::AlignCenter | Qt::TextDontClip), asWords(words));
  }

  void title(double width) {
    const double line = QFontMetricsF(font_).height();
    QRectF at(margin, margin / 2, width - 2 * margin, line);
    p_.setFont(boldOf(font_));
    p_.setPen(theme_.text());
    for (const QString& words : wrapped(asWords(tree_.title), boldOf(font_), at.width(), 1)) {
      p_.drawText(at, static_cast<int>(Qt::AlignLeft | Qt::AlignVCenter | Qt::TextDontClip), words);
      at.translate(0, line);
    }
  }

  QColor inkOf(const Node& n) const {
    if (n.place == Place::memory && n.level > 0 && !tree_.hollow) {
      return theme_.colour(n.level == 1 ? Ink::B : Ink::C);
    }
    return inkOf(n.place);
  }
  QColor inkOf(Place place) const {
    if (tree_.hollow) return theme_.faint();
    if (place == Place::cutPoint) return theme_.colour(Ink::link3);
    if (place == Place::memory) return theme_.colour(Ink::A);
    return theme_.faint();
  }

  QPen edgePen(Place place) const {
    QPen pen(inkOf(place), place == Place::memory ? 3 : place == Place::cutPoint ? 2 : 1.4);
    if (place == Place::cutPoint) pen.setStyle(Qt::DashLine);
    return pen;
  }

  // From each of those below up to a line under the node, and the way of an output to disk.
  void edges(std::size_t i) {
    const Node& n = tree_.nodes[i];
    p_.setBrush(Qt::NoBrush);
    const QRectF& above = at_.boxes[i];
    for (const int b : n.below) {
      const auto below = static_cast<std::size_t>(b);
      const QRectF& from = at_.boxes[below];
      p_.setPen(edgePen(tree_.nodes[below].place));
      const double turn = at_.labels[below].top() - stub;
      const double into =
          std::clamp(from.center().x(), above.left() + aside, above.right() - aside);
      QPainterPath path(QPointF(from.center().x(), from.top()));
      path.lineTo(from.center().x(), turn);
      path.lineTo(into, turn);
      path.lineTo(into, above.bottom());
      p_.drawPath(path);
    }
    if (n.place == Place::output) {
      p_.setPen(edgePen(n.place));
      p_.drawLine(QPointF(above.center().x(), above.top()),
                  QPointF(above.center().x(), at_.labels[i].top() - stub / 2));
    }
  }

  void label(std::size_t i) {
    p_.setPen(Qt::NoPen);
    p_.setBrush(theme_.paper());
    p_.drawRect(at_.labels[i]);
    const Place place = tree_.nodes[i].place;
    const bool coloured = place == Place::cutPoint && !tree_.hollow;
    write(font_,
          coloured       ? inkOf(place)
          : tree_.hollow ? theme_.faint()
                         : theme_.text(),
          at_.labels[i], tree_.nodes[i].moved);
  }

  void box(const Node& n, const QRectF& r) {
    const QColor ink = inkOf(n);
    QColor fill = ink;
    fill.setAlphaF(tree_.hollow || n.place == Place::input || n.place == Place::output ? 0.0F
                   : theme_.dark                                                       ? 0.3F
                                                                                       : 0.16F);
    p_.setPen(QPen(ink, n.place == Place::cutPoint || n.place == Place::memory ? 2 : 1.4));
    p_.setBrush(theme_.paper());
    for (const QBrush& brush : {QBrush(theme_.paper()), QBrush(fill)}) {
      p_.setBrush(brush);
      if (isOnDisk(n.place)) {
        p_.drawPath(drum(r));
      } else {
        p_.drawRoundedRect(r, 6, 6);
      }
    }
    p_.setBrush(Qt::NoBrush);
    if (isOnDisk(n.place)) {
      p_.drawArc(QRectF(r.left(), r.top(), r.width(), 2 * lid), 180 * 16, 180 * 16);
    }
    const double line = QFontMetricsF(font_).height();
    const QColor words = tree_.hollow ? theme_.faint() : theme_.text();
    const double top = isOnDisk(n.place) ? r.top() + 2 * lid + 1 : r.center().y() - line;
    write(boldOf(font_), words, QRectF(r.left(), top, r.width(), line), n.name);
    write(font_, words, QRectF(r.left(), top + line, r.width(), line), n.about);
  }

  static QPainterPath drum(const QRectF& r) {
    QPainterPath path;
    path.moveTo(r.left(), r.top() + lid);
    path.arcTo(QRectF(r.left(), r.top(), r.width(), 2 * lid), 180, -180);
    path.lineTo(r.right(), r.bottom() - lid);
    path.arcTo(QRectF(r.left(), r.bottom() - 2 * lid, r.width(), 2 * lid), 0, -180);
    path.closeSubpath();
    return path;
  }

  QPainter& p_;
  const ChainTree& tree_;
  const QFont font_;
  const Theme theme_;
  const TreeLayout at_;
};

}  // namespace

TreeView::TreeView(QWidget* parent) : QWidget(parent) { setMouseTracking(true); }

TreeLayout TreeView::laidOut() const { return Layout(tree_, font()).made(); }

void TreeView::show(const ChainTree& tree) {
  tree_ = tree;
  setAccessibleName(asWords(tree.title));
  QStringList all;
  for (const Node& n : tree.nodes) all << asWords(n.reading);
  setAccessibleDescription(tree.missing.empty() ? all.join('\n') : asWords(tree.missing));
  fit();
  update();
}

void TreeView::fit() {
  const QSizeF size =
      tree_.missing.empty() ? laidOut().size : QSizeF(20, 8) * fontMetrics().height();
  setMinimumSize(static_cast<int>(std::ceil(size.width())),
                 static_cast<int>(std::ceil(size.height())));
}

void TreeView::paintTo(QPainter& painter, QSize size) const {
  const Theme theme = Theme::of(palette());
  const QRectF all(QPointF(0, 0), size);
  if (!tree_.missing.empty()) {
    return paintMessage(painter, all, theme, font(), asWords(tree_.title), asWords(tree_.missing));
  }
  painter.fillRect(all, theme.paper());
  TreePainter(painter, tree_, font(), theme).draw(size.width());
}

void TreeView::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  paintTo(painter, size());
}

void TreeView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit();
}

int TreeView::nodeAt(const QPointF& at) const {
  if (!tree_.missing.empty()) return -1;
  const TreeLayout made = laidOut();
  const QPointF moved = at - QPointF(std::max(0.0, (width() - made.size.width()) / 2), 0);
  for (std::size_t i = 0; i < made.boxes.size(); ++i) {
    if (made.boxes[i].united(made.labels[i]).contains(moved)) return static_cast<int>(i);
  }
  return -1;
}

void TreeView::mouseMoveEvent(QMouseEvent* event) {
  const int i = nodeAt(event->position());
  emit reading(i < 0 ? QString() : asWords(tree_.nodes[static_cast<std::size_t>(i)].reading));
}

bool TreeView::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  const int i = nodeAt(help->pos());
  if (i < 0) {
    QToolTip::hideText();
    event->ignore();
  } else {
    QToolTip::showText(help->globalPos(), asWords(tree_.nodes[static_cast<std::size_t>(i)].reading),
                       this);
  }
  return true;
}

}  // namespace tcsim::gui
