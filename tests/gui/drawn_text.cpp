#include "tests/gui/drawn_text.hpp"

#include <QAbstractScrollArea>
#include <QAbstractItemView>
#include <QDockWidget>
#include <QMainWindow>
#include <QPaintEngine>
#include <QPainter>
#include <QScrollBar>
#include <QTabBar>
#include <QToolButton>
#include <algorithm>

#include "gui/widgets/plot_view.hpp"

namespace tcsim::gui {

namespace {

constexpr double slack = 1.5;  // points: what rounding and side bearings may take

class Engine : public QPaintEngine {
 public:
  explicit Engine(std::vector<DrawnText>& texts) : QPaintEngine(AllFeatures), texts_(texts) {}
  bool begin(QPaintDevice*) override { return true; }
  bool end() override { return true; }
  void updateState(const QPaintEngineState&) override {}
  void drawPixmap(const QRectF&, const QPixmap&, const QRectF&) override {}
  void drawPath(const QPainterPath&) override {}
  void drawPolygon(const QPointF*, int, PolygonDrawMode) override {}
  Type type() const override { return User; }
  void drawTextItem(const QPointF& p, const QTextItem& item) override {
    if (item.text().trimmed().isEmpty()) return;
    const QTransform to = painter()->deviceTransform();
    const QRectF at(p.x(), p.y() - item.ascent(), item.width(), item.ascent() + item.descent());
    const QRectF clip = painter()->hasClipping() ? to.mapRect(painter()->clipBoundingRect())
                                                 : QRectF(-1e6, -1e6, 2e6, 2e6);
    texts_.push_back({item.text(), to.mapRect(at), clip, {}});
  }

 private:
  std::vector<DrawnText>& texts_;
};

std::string nameOf(const QWidget& w) {
  std::string path;
  for (const QWidget* p = &w; p != nullptr && path.size() < 120; p = p->parentWidget()) {
    path += (path.empty() ? "" : " in ") + std::string(p->metaObject()->className());
    if (!p->accessibleName().isEmpty()) path += " '" + p->accessibleName().toStdString() + "'";
  }
  return path;
}

std::string words(const DrawnText& t) {
  return '"' + t.text.toStdString() + "\" of " + t.by +
         QString(" at %1,%2 %3x%4")
             .arg(t.at.x())
             .arg(t.at.y())
             .arg(t.at.width())
             .arg(t.at.height())
             .toStdString();
}

bool scrolls(const QScrollBar* bar, Qt::ScrollBarPolicy policy) {
  return policy != Qt::ScrollBarAlwaysOff && bar->maximum() > bar->minimum();
}

// Whether a part of a widget that is beyond its edges can be brought into view.
bool scrollsAcross(const QWidget& w) {
  if (const auto* tabs = qobject_cast<const QTabBar*>(&w)) {
    const auto buttons = tabs->findChildren<QToolButton*>();
    return std::any_of(buttons.begin(), buttons.end(), [](auto* b) { return b->isVisible(); });
  }
  const auto* area = qobject_cast<const QAbstractScrollArea*>(w.parentWidget());
  return area != nullptr && area->viewport() == &w &&
         scrolls(area->horizontalScrollBar(), area->horizontalScrollBarPolicy());
}

bool scrollsUpward(const QWidget& w) {
  const auto* area = qobject_cast<const QAbstractScrollArea*>(w.parentWidget());
  return area != nullptr && area->viewport() == &w &&
         scrolls(area->verticalScrollBar(), area->verticalScrollBarPolicy());
}

// A header scrolls with its table.
const QWidget& scroller(const QWidget& w) {
  const QWidget* header = w.parentWidget();
  if (header == nullptr || !header->inherits("QHeaderView")) return w;
  const auto* table = qobject_cast<const QAbstractScrollArea*>(header->parentWidget());
  return table == nullptr ? w : *table->viewport();
}

// Follows a text from its widget to the window. `at` becomes what of it is seen there; a fault is
// said if a part cannot be seen at all.
std::string follow(const QWidget& from, const QWidget& window, QRectF& at) {
  QRectF reached = at;  // where it can be brought
  for (const QWidget* w = &from;; w = w->parentWidget()) {
    const QRectF all(w->rect());
    if (reached.left() < all.left() - slack || reached.right() > all.right() + slack) {
      if (!scrollsAcross(scroller(*w))) return "is cut at a side by " + nameOf(*w);
      reached.setWidth(std::min(reached.width(), all.width()));
      reached.moveLeft(std::clamp(reached.left(), all.left(), all.right() - reached.width()));
    }
    if (reached.top() < all.top() - slack || reached.bottom() > all.bottom() + slack) {
      if (!scrollsUpward(*w)) return "is cut above or below by " + nameOf(*w);
      reached.setHeight(std::min(reached.height(), all.height()));
      reached.moveTop(std::clamp(reached.top(), all.top(), all.bottom() - reached.height()));
    }
    at = at.intersected(all);
    if (w == &window) return {};
    reached.translate(w->pos());
    at.translate(w->pos());
  }
}

bool onOneAnother(const QRectF& a, const QRectF& b) {
  const QRectF both = a.intersected(b);
  return both.width() > slack && both.height() > slack;
}

void addOverlaps(const std::vector<DrawnText>& texts, std::vector<std::string>& faults) {
  for (std::size_t i = 0; i < texts.size(); ++i) {
    for (std::size_t j = i + 1; j < texts.size(); ++j) {
      if (!onOneAnother(texts[i].at, texts[j].at)) continue;
      faults.push_back(words(texts[i]) + " lies on " + words(texts[j]));
    }
  }
}

bool clipped(const DrawnText& t) {
  return !t.clip.adjusted(-slack, -slack, slack, slack).contains(t.at);
}

std::vector<DrawnText> textsOf(QWidget& w) {
  TextRecorder device(w, w.size());
  if (auto* plot = qobject_cast<PlotView*>(&w)) {
    plot->paintTo(device, w.size());
  } else {
    w.render(&device, {}, {}, QWidget::RenderFlags());
  }
  for (DrawnText& t : device.texts) t.by = nameOf(w);
  return device.texts;
}

bool scrollsAtAll(const QWidget& w) { return scrollsAcross(scroller(w)) || scrollsUpward(w); }

// Qt puts a panel that is behind another one, with a tab for each, beyond the window's corner.
bool isBehind(const QWidget& w) {
  for (const QWidget* p = &w; p != nullptr; p = p->parentWidget()) {
    const auto* panel = qobject_cast<const QDockWidget*>(p);
    const auto* window = qobject_cast<const QMainWindow*>(p->parentWidget());
    if (panel == nullptr || window == nullptr) continue;
    const bool tabs = !window->tabifiedDockWidgets(const_cast<QDockWidget*>(panel)).isEmpty();
    return tabs && !window->rect().intersects(panel->geometry());
  }
  return false;
}

// The widget's own, or that of the cell of a table.
bool hasToolTip(const QWidget& w, const DrawnText& t) {
  const auto* table = qobject_cast<const QAbstractItemView*>(w.parentWidget());
  if (table == nullptr || table->viewport() != &w) return !w.toolTip().isEmpty();
  return !table->indexAt(t.at.center().toPoint()).data(Qt::ToolTipRole).toString().isEmpty();
}

void addWidget(QWidget& w, QWidget& window, Shown& shown) {
  if (isBehind(w)) return;
  if (!w.isVisible() || w.window() != window.window() || w.inherits("QCustomPlot")) return;
  for (DrawnText t : textsOf(w)) {
    if (t.text.contains(QChar(0x2026)) && !hasToolTip(w, t)) {
      shown.faults.push_back(words(t) + " is shortened, and no tool tip has the rest");
    }
    if (clipped(t) && !scrollsAtAll(w)) shown.faults.push_back(words(t) + " is cut by its widget");
    const std::string cut = follow(w, window, t.at);
    if (!cut.empty()) shown.faults.push_back(words(t) + " " + cut);
    if (!t.at.isEmpty()) shown.texts.push_back(t);
  }
}

}  // namespace

TextRecorder::TextRecorder(const QWidget& like, QSize size)
    : dpi_(like.logicalDpiX()), size_(size), engine_(std::make_unique<Engine>(texts)) {}
TextRecorder::~TextRecorder() = default;

QPaintEngine* TextRecorder::paintEngine() const { return engine_.get(); }

int TextRecorder::metric(PaintDeviceMetric metric) const {
  switch (metric) {
    case PdmWidth:
      return size_.width();
    case PdmHeight:
      return size_.height();
    case PdmWidthMM:
      return static_cast<int>(size_.width() * 25.4 / dpi_);
    case PdmHeightMM:
      return static_cast<int>(size_.height() * 25.4 / dpi_);
    case PdmDpiX:
    case PdmDpiY:
    case PdmPhysicalDpiX:
    case PdmPhysicalDpiY:
      return dpi_;
    case PdmDevicePixelRatio:
      return 1;
    case PdmDevicePixelRatioScaled:
      return static_cast<int>(devicePixelRatioFScale());
    case PdmNumColors:
      return 0;
    case PdmDepth:
      return 32;
    default:
      return QPaintDevice::metric(metric);
  }
}

Shown shownBy(QWidget& window) {
  Shown shown;
  addWidget(window, window, shown);
  for (QWidget* w : window.findChildren<QWidget*>()) addWidget(*w, window, shown);
  addOverlaps(shown.texts, shown.faults);
  return shown;
}

std::vector<std::string> faultsOf(const std::vector<DrawnText>& texts, const QRectF& picture) {
  std::vector<std::string> faults;
  const QRectF all = picture.adjusted(-slack, -slack, slack, slack);
  for (const DrawnText& t : texts) {
    if (!all.contains(t.at) || clipped(t)) faults.push_back(words(t) + " is cut");
  }
  addOverlaps(texts, faults);
  return faults;
}

}  // namespace tcsim::gui
