#include "gui/widgets/plot_view.hpp"

#include <qcustomplot.h>

#include <QEvent>
#include <QMouseEvent>
#include <algorithm>
#include <cmath>

#include "gui/widgets/message.hpp"
#include "gui/widgets/plot_painter.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

}  // namespace

PlotView::PlotView(QWidget* parent) : QWidget(parent), canvas_(new QCustomPlot(this)) {
  canvas_->setNoAntialiasingOnDrag(true);
  canvas_->axisRect()->setMinimumMargins(QMargins(12, 8, 24, 8));
  keepFromWheel(canvas_);
  canvas_->setFocusPolicy(Qt::NoFocus);
  // Room for a title, axes with names, and a diagram; below that a page scrolls.
  constexpr int letters = 48, lines = 20;
  setMinimumSize(letters * fontMetrics().averageCharWidth(), lines * fontMetrics().height());
  connect(canvas_, &QCustomPlot::mouseMove, this,
          [this](QMouseEvent* e) { read(e->position().toPoint()); });
  connect(canvas_, &QCustomPlot::mousePress, this, [this](QMouseEvent* e) {
    const auto found = nearest(e->position().toPoint());
    if (found) emit picked(found->first, found->second);
  });
  canvas_->setMouseTracking(true);
  canvas_->installEventFilter(this);
}

void PlotView::show(const Plot& plot) {
  // Over other axes it is another picture.
  const auto same = [](const Axis& a, const Axis& b) {
    return a.low == b.low && a.high == b.high && a.log == b.log && a.label == b.label;
  };
  if (!same(plot.x, plot_.x) || !same(plot.y, plot_.y)) {
    part_.reset();
    held_.reset();
  }
  plot_ = plot;
  setAccessibleName(text(plot.title));
  setAccessibleDescription(text(plot.missing.empty() ? plot.subtitle : plot.missing));
  rebuild();
}

void PlotView::rebuild() {
  // Words in place of a diagram are this widget's own.
  canvas_->setVisible(plot_.missing.empty());
  setToolTip({});
  if (!plot_.missing.empty()) return update();
  canvas_->setViewport(rect());
  setToolTip(
      buildPlot(part_ ? partOf(plot_, part_->x, part_->y) : plot_, *canvas_, Theme::of(palette()))
          .join('\n'));
  canvas_->replot(QCustomPlot::rpImmediateRefresh);
}

void PlotView::paintWords(QPaintDevice& device, QSize size) const {
  QPainter painter(&device);
  paintMessage(painter, QRectF(QPointF(0, 0), size), Theme::of(palette()), font(),
               text(plot_.title), text(plot_.missing));
}

void PlotView::paintEvent(QPaintEvent*) {
  if (!plot_.missing.empty()) paintWords(*this, size());
}

void PlotView::paintTo(QPaintDevice& device, QSize size) {
  if (!plot_.missing.empty()) return paintWords(device, size);
  // A picture that is too small for the words is drawn smaller as a whole.
  const double shrunk = std::min({1.0, static_cast<double>(size.width()) / minimumWidth(),
                                  static_cast<double>(size.height()) / minimumHeight()});
  QCPPainter painter(&device);
  painter.scale(shrunk, shrunk);
  size /= shrunk;
  canvas_->setViewport(QRect(QPoint(0, 0), size));
  buildPlot(plot_, *canvas_, Theme::of(palette()));
  painter.setMode(QCPPainter::pmVectorized);
  painter.setMode(QCPPainter::pmNoCaching);
  canvas_->toPainter(&painter, size.width(), size.height());
  painter.end();
  canvas_->setViewport(canvas_->rect());
}

void PlotView::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::FontChange) rebuild();
}

void PlotView::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  canvas_->resize(size());
  rebuild();  // where words go depends on the room that there is
}

PlotView::Shown PlotView::shown() const {
  return part_.value_or(Shown{{plot_.x.low, plot_.x.high}, {plot_.y.low, plot_.y.high}});
}

PlotView::Shown PlotView::whole() const {
  const auto [low, high] = plot_.wholeX.value_or(std::pair(plot_.x.low, plot_.x.high));
  return {{low, high}, {plot_.y.low, plot_.y.high}};
}

void PlotView::showPart(const Span& x, const Span& y) {
  const Shown all{{plot_.x.low, plot_.x.high}, {plot_.y.low, plot_.y.high}};
  const Shown now = part_.value_or(all);
  if (now.x == x && now.y == y) return;
  part_.reset();
  if (!(x == all.x && y == all.y)) part_ = Shown{x, y};
  rebuild();
  emit shownChanged(x.low, x.high);
}

void PlotView::zoomAt(const QPointF& at, double factor) {
  if (!plot_.missing.empty()) return;
  const Shown now = shown();
  const QRect room = canvas_->axisRect()->rect();
  const double across = std::clamp((at.x() - room.left()) / room.width(), 0.0, 1.0);
  const double up = std::clamp((room.bottom() - at.y()) / room.height(), 0.0, 1.0);
  showPart(zoomed(now.x, whole().x, plot_.x.log, across, factor),
           plot_.zoomsUpward ? zoomed(now.y, whole().y, plot_.y.log, up, factor) : now.y);
}

void PlotView::zoom(double factor) { zoomAt(canvas_->axisRect()->center(), factor); }

void PlotView::pan(double share) {
  if (!plot_.missing.empty()) return;
  const Shown now = shown();
  showPart(moved(now.x, whole().x, plot_.x.log, share), now.y);
}

void PlotView::dragTo(const QPointF& at) {
  const QRect room = canvas_->axisRect()->rect();
  const auto& [from, shown] = *held_;
  showPart(moved(shown.x, whole().x, plot_.x.log, (from.x() - at.x()) / room.width()),
           moved(shown.y, whole().y, plot_.y.log, (at.y() - from.y()) / room.height()));
}

// Zooming and moving with the mouse. A wheel without Ctrl scrolls the page.
bool PlotView::eventFilter(QObject* watched, QEvent* event) {
  if (watched != canvas_) return QWidget::eventFilter(watched, event);
  constexpr double notch = 120;  // of a wheel, in eighths of a degree
  switch (event->type()) {
    case QEvent::Wheel: {
      auto* wheel = static_cast<QWheelEvent*>(event);
      if (!wheel->modifiers().testFlag(Qt::ControlModifier)) break;
      zoomAt(wheel->position(), std::pow(zoomStep, -wheel->angleDelta().y() / notch));
      event->accept();
      return true;
    }
    case QEvent::MouseButtonPress: {
      auto* mouse = static_cast<QMouseEvent*>(event);
      const bool more = part_ || plot_.wholeX;
      if (mouse->button() == Qt::LeftButton && more && plot_.missing.empty()) {
        held_ = {mouse->position(), shown()};
      }
      break;
    }
    case QEvent::MouseMove:
      if (held_) dragTo(static_cast<QMouseEvent*>(event)->position());
      break;
    case QEvent::MouseButtonRelease:
      held_.reset();
      break;
    case QEvent::MouseButtonDblClick:
      zoom(HUGE_VAL);
      break;
    default:
      break;
  }
  return QWidget::eventFilter(watched, event);
}

void PlotView::read(const QPoint& at) {
  if (!plot_.readings.empty()) {
    const double x = canvas_->xAxis->pixelToCoord(at.x());
    const double y = canvas_->yAxis->pixelToCoord(at.y());
    const auto found = std::ranges::find_if(plot_.readings, [&](const Reading& r) {
      return r.x0 <= x && x < r.x1 && r.y0 <= y && y < r.y1;
    });
    emit reading(found == plot_.readings.end() ? QString() : text(found->text));
    return;
  }
  const Cells& c = plot_.cells;
  if (c.columns > 0) {
    const auto column = std::lround(canvas_->xAxis->pixelToCoord(at.x()));
    const auto row = std::lround(canvas_->yAxis->pixelToCoord(at.y()));
    const bool inside = column >= 0 && row >= 0 && column < static_cast<long>(c.columns) &&
                        row < static_cast<long>(c.rows);
    const auto i = static_cast<std::size_t>(row) * c.columns + static_cast<std::size_t>(column);
    emit reading(inside && i < c.readings.size() ? text(c.readings[i]) : QString());
    return;
  }
  const auto found = nearest(at);
  emit reading(found ? text(plot_.lines[found->first].readings[found->second]) : QString());
}

std::optional<std::pair<std::size_t, std::size_t>> PlotView::nearest(const QPoint& at) const {
  constexpr double reach = 40;  // pixels
  double best = reach;
  std::optional<std::pair<std::size_t, std::size_t>> found;
  for (std::size_t l = 0; l < plot_.lines.size(); ++l) {
    const Line& line = plot_.lines[l];
    for (std::size_t i = 0; i < line.readings.size(); ++i) {
      const double x = canvas_->xAxis->coordToPixel(line.x[i]) - at.x();
      // Along a line what counts is where one is, of single marks which one.
      const double y = line.joined ? 0 : canvas_->yAxis->coordToPixel(line.y[i]) - at.y();
      const double d = std::hypot(x, y);
      if (d >= best) continue;
      best = d;
      found = {l, i};
    }
  }
  return found;
}

}  // namespace tcsim::gui
