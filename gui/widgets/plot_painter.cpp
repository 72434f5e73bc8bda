#include "gui/widgets/plot_painter.hpp"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

#include "core/explore/uncertainty.hpp"
#include "gui/widgets/plot_labels.hpp"
#include "gui/widgets/words_room.hpp"

namespace tcsim::gui {

namespace {

QString text(const std::string& s) { return QString::fromStdString(s); }

QColor faded(QColor c, double alpha) {
  c.setAlphaF(static_cast<float>(alpha));
  return c;
}

// Builds a QCustomPlot from a Plot.
class Painter {
 public:
  Painter(const Plot& plot, QCustomPlot& canvas, const Theme& theme)
      : plot_(plot), canvas_(canvas), theme_(theme), font_(canvas.font()) {}

  QStringList build() {
    clear();
    canvas_.setBackground(QBrush(theme_.paper()));
    titles();
    axis(*canvas_.xAxis, plot_.x);
    axis(*canvas_.yAxis, plot_.y);
    cells();
    for (const Region& r : plot_.regions) region(r);
    if (!plot_.bars.empty()) canvas_.yAxis->grid()->setVisible(false);
    for (const Bar& b : plot_.bars) bar(b);
    for (const Band& b : plot_.bands) band(b);
    for (const Line& l : plot_.lines) line(l);
    for (const Rule& r : plot_.rules) rule(r);
    for (const bool halo : {true, false}) {
      for (const Segment& s : plot_.outlines) outline(s, halo);
    }
    legend();
    // Each step takes room from those that follow.
    layOut();
    fitAxisLabels();
    fitLegend();
    thin(*canvas_.xAxis, plot_.x.ticks);
    thin(*canvas_.yAxis, plot_.y.ticks);
    if (scale_ != nullptr) thin(*scale_->axis(), scaleTicks_);
    layOut();
    leftOut_ << placeLabels(plot_, canvas_, theme_);
    return leftOut_;
  }

 private:
  // Where everything is, as the next painting will have it.
  void layOut() {
    for (auto phase : {QCPLayoutElement::upPreparation, QCPLayoutElement::upMargins,
                       QCPLayoutElement::upLayout}) {
      canvas_.plotLayout()->update(phase);
    }
  }

  void clear() {
    canvas_.clearPlottables();
    canvas_.clearItems();
    insetLegend();
    auto* layout = canvas_.plotLayout();
    auto* diagram = canvas_.xAxis->axisRect();
    diagram->layout()->take(diagram);
    layout->clear();
    layout->addElement(0, 0, diagram);
    canvas_.legend->setVisible(false);
    for (QCPAxis* a : {canvas_.xAxis, canvas_.yAxis}) a->grid()->setVisible(true);
    canvas_.axisRect()->setBackground(QBrush(theme_.paper()));
  }

  void titles() {
    auto* layout = canvas_.plotLayout();
    QFont strong = font_;
    strong.setPointSizeF(font_.pointSizeF() * 1.15);
    strong.setBold(true);
    const QSize room = canvas_.viewport().size();
    // Both together leave most of the height to the diagram.
    constexpr double share = 0.3;
    int lines = std::max(2, static_cast<int>(share * room.height() / QFontMetrics(font_).height()));
    int row = 0;
    const auto add = [&](const std::string& words, const QFont& font, const QColor& colour,
                         int most) {
      if (words.empty()) return;
      layout->insertRow(row);
      const QStringList shown = wrapped(text(words), font, room.width() - 16, most);
      if (shown.back().endsWith(QChar(0x2026))) leftOut_ << text(words);
      lines = std::max(1, lines - static_cast<int>(shown.size()));
      auto* element = new QCPTextElement(&canvas_, shown.join('\n'), font);
      element->setTextColor(colour);
      element->setTextFlags(Qt::AlignLeft);
      element->setMargins(QMargins(6, row == 0 ? 4 : 0, 6, 2));
      layout->addElement(row++, 0, element);
    };
    add(plot_.title, strong, theme_.text(), 2);
    add(plot_.subtitle, font_, theme_.faint(), lines);
  }

  void axis(QCPAxis& a, const Axis& from) {
    a.setLabel(text(from.label));
    a.setLabelColor(theme_.text());
    a.setTickLabelColor(theme_.text());
    a.setLabelFont(font_);
    a.setTickLabelFont(font_);
    for (auto set : {&QCPAxis::setBasePen, &QCPAxis::setTickPen, &QCPAxis::setSubTickPen}) {
      (a.*set)(QPen(theme_.faint()));
    }
    a.grid()->setPen(QPen(theme_.grid()));
    a.grid()->setZeroLinePen(QPen(theme_.grid()));
    a.grid()->setSubGridVisible(false);
    // The lowest name beside the one axis reaches down to those below the other.
    if (a.orientation() == Qt::Horizontal) {
      a.setTickLabelPadding(static_cast<int>(QFontMetricsF(font_).height() / 2) + 1);
    }
    if (from.log) {
      a.setScaleType(QCPAxis::stLogarithmic);
      a.setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
      a.setNumberFormat("gb");
      a.setNumberPrecision(0);
    } else {
      a.setScaleType(QCPAxis::stLinear);
      a.setTicker(QSharedPointer<QCPAxisTicker>(new QCPAxisTicker));
      a.setNumberFormat("gb");
      a.setNumberPrecision(6);
    }
    if (!from.ticks.empty()) setTicks(a, from.ticks, 1);
    a.setRange(from.low, from.high);
  }

  using Ticks = std::vector<std::pair<double, std::string>>;

  // Every so many of them.
  void setTicks(QCPAxis& a, const Ticks& ticks, std::size_t step) {
    QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
    for (std::size_t i = 0; i < ticks.size(); i += step) {
      ticker->addTick(ticks[i].first, text(ticks[i].second));
    }
    ticker->setSubTickCount(0);
    a.setTicker(ticker);
  }

  // Leaves out what would lie on its neighbour.
  void thin(QCPAxis& a, const Ticks& ticks) {
    const bool across = a.orientation() == Qt::Horizontal;
    const QFontMetricsF metrics(font_);
    const double length = across ? a.axisRect()->width() : a.axisRect()->height();
    if (ticks.empty()) {
      constexpr int most = 5;  // QCustomPlot's own
      const double each = across ? metrics.horizontalAdvance("0.00000") : 2 * metrics.height();
      a.ticker()->setTickCount(std::clamp(static_cast<int>(length / each), 2, most));
      return;
    }
    const double gap = across ? metrics.horizontalAdvance("0") : 0;
    const auto size = [&](std::size_t i) {
      return across ? metrics.horizontalAdvance(text(ticks[i].second)) : metrics.height();
    };
    const auto fits = [&](std::size_t step) {
      for (std::size_t i = step; i < ticks.size(); i += step) {
        const std::size_t j = i - step;
        const double apart =
            std::abs(a.coordToPixel(ticks[i].first) - a.coordToPixel(ticks[j].first));
        if (apart < (size(i) + size(j)) / 2 + gap) return false;
      }
      return true;
    };
    std::size_t step = 1;
    while (step < ticks.size() && !fits(step)) ++step;
    setTicks(a, ticks, step);
  }

  // Two lines where one is longer than the axis.
  void fitAxisLabels() {
    std::vector<QCPAxis*> all{canvas_.xAxis, canvas_.yAxis};
    if (scale_ != nullptr) all.push_back(scale_->axis());
    for (QCPAxis* a : all) {
      if (a->label().isEmpty()) continue;
      const double length =
          a->orientation() == Qt::Horizontal ? a->axisRect()->width() : a->axisRect()->height();
      const QStringList lines = wrapped(a->label(), font_, std::max(20.0, length), 2);
      if (lines.back().endsWith(QChar(0x2026))) leftOut_ << a->label();
      a->setLabel(lines.join('\n'));
    }
    layOut();
  }

  // As if it were drawn with `alpha` on the paper, but nothing shines through.
  QColor mixed(Ink ink, double alpha) const {
    const QColor c = theme_.colour(ink), p = theme_.paper();
    const auto mix = [&](int a, int b) { return static_cast<int>(alpha * a + (1 - alpha) * b); };
    return {mix(c.red(), p.red()), mix(c.green(), p.green()), mix(c.blue(), p.blue())};
  }

  void corners(QCPItemRect& r, double x0, double y0, double x1, double y1) {
    r.topLeft->setCoords(x0, y1);
    r.bottomRight->setCoords(x1, y0);
  }

  void region(const Region& r) {
    auto* box = new QCPItemRect(&canvas_);
    box->setLayer("background");
    corners(*box, r.from, plot_.y.low, r.to, plot_.y.high);
    box->setPen(Qt::NoPen);
    box->setBrush(faded(theme_.colour(r.ink), theme_.dark ? 0.26 : 0.16));
  }

  void bar(const Bar& b) {
    auto* box = new QCPItemRect(&canvas_);
    corners(*box, b.from, b.at - b.thickness / 2, b.to, b.at + b.thickness / 2);
    const QColor edge = theme_.colour(b.ink);
    const bool hatched = theme_.pattern(b.ink) != Qt::SolidPattern;
    if (b.ghost) {
      box->setBrush(Qt::NoBrush);
      box->setPen(QPen(edge, 1.6, Qt::DashLine));
    } else {
      box->setBrush(mixed(b.ink, hatched ? 0.3 : b.strong ? 1 : b.shade));
      box->setPen(QPen(b.strong ? theme_.text() : edge, b.strong ? 2 : 1));
      if (hatched) {
        auto* over = new QCPItemRect(&canvas_);
        corners(*over, b.from, b.at - b.thickness / 2, b.to, b.at + b.thickness / 2);
        over->setPen(Qt::NoPen);
        over->setBrush(QBrush(edge, theme_.pattern(b.ink)));
      }
    }
  }

  void band(const Band& b) {
    const QList<double> x(b.x.begin(), b.x.end());
    const auto edge = [&](const std::vector<double>& y) {
      auto* g = canvas_.addGraph();
      // In order, so that of several at one place the first is the first.
      g->setData(x, QList<double>(y.begin(), y.end()), true);
      g->setPen(Qt::NoPen);
      g->removeFromLegend();
      return g;
    };
    auto* low = edge(b.low);
    const auto fill = [&](const QBrush& brush) {
      auto* high = edge(b.high);
      high->setBrush(brush);
      high->setChannelFillGraph(low);
      return high;
    };
    auto* high = fill(faded(theme_.colour(b.ink), b.shade));
    if (theme_.pattern(b.ink) != Qt::SolidPattern) {
      fill(QBrush(theme_.colour(b.ink), theme_.pattern(b.ink)));
    }
    if (b.name.empty()) return;
    high->setName(text(b.name));
    high->addToLegend();
    canvas_.legend->setVisible(true);
  }

  void line(const Line& l) {
    auto* g = canvas_.addGraph();
    QList<double> x(l.x.begin(), l.x.end()), y(l.y.begin(), l.y.end());
    g->setData(x, y);
    const QColor colour = theme_.colour(l.ink);
    const Qt::PenStyle style = l.dashed || l.hollow ? Qt::DashLine : theme_.dash(l.ink);
    g->setPen(QPen(l.hollow ? faded(colour, 0.55) : colour, l.joined ? l.width : 1.5, style));
    g->setLineStyle(l.joined ? QCPGraph::lsLine : QCPGraph::lsNone);
    if (l.marked) {
      const double size = l.joined ? 6 : 4 + 2.2 * l.width;
      const auto shape =
          l.ink == Ink::here ? QCPScatterStyle::ssDiamond : QCPScatterStyle::ssCircle;
      g->setScatterStyle({shape, QPen(l.ink == Ink::here ? theme_.paper() : colour, 1.5),
                          QBrush(l.hollow ? theme_.paper() : colour), size});
    }
    if (l.name.empty()) {
      g->removeFromLegend();
    } else {
      g->setName(text(l.name));
      canvas_.legend->setVisible(true);
    }
  }

  void rule(const Rule& r) {
    auto* l = new QCPItemLine(&canvas_);
    if (r.vertical) {
      l->start->setCoords(r.at, plot_.y.low);
      l->end->setCoords(r.at, plot_.y.high);
    } else {
      l->start->setCoords(plot_.x.low, r.at);
      l->end->setCoords(plot_.x.high, r.at);
    }
    l->setPen(QPen(theme_.colour(r.ink), 1.5, r.dashed ? Qt::DashLine : Qt::SolidLine));
  }

  void outline(const Segment& s, bool halo) {
    auto* l = new QCPItemLine(&canvas_);
    l->start->setCoords(s.x0, s.y0);
    l->end->setCoords(s.x1, s.y1);
    const double width = s.ghost ? (halo ? 4 : 2) : (halo ? 5 : 2);
    QPen pen(halo ? Qt::white : Qt::black, width, Qt::SolidLine, Qt::SquareCap);
    if (s.ghost) pen.setCapStyle(Qt::FlatCap);
    if (s.ghost && !halo) pen.setStyle(theme_.dash(s.ink));
    l->setPen(pen);
  }

  void cells() {
    const Cells& c = plot_.cells;
    if (c.columns == 0) return;
    auto* map = new QCPColorMap(canvas_.xAxis, canvas_.yAxis);
    map->data()->setSize(static_cast<int>(c.columns), static_cast<int>(c.rows));
    map->data()->setRange(QCPRange(0, static_cast<double>(c.columns - 1)),
                          QCPRange(0, static_cast<double>(c.rows - 1)));
    double low = HUGE_VAL, high = 0;
    for (std::size_t i = 0; i < c.values.size(); ++i) {
      map->data()->setCell(static_cast<int>(i % c.columns), static_cast<int>(i / c.columns),
                           c.values[i]);
      if (std::isnan(c.values[i])) continue;
      low = std::min(low, c.values[i]);
      high = std::max(high, c.values[i]);
    }
    // Of all the same there is no scale.
    const bool flat = high > 0 && high < low * (1 + no_gain_below);
    if (!(high > low)) high = low + 1;
    QCPColorGradient gradient;  // viridis, bright where it is good
    gradient.clearColorStops();
    const char* stops[] = {"#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"};
    for (int i = 0; i < 5; ++i)
      gradient.setColorStopAt(c.brightHigh ? 1 - i / 4.0 : i / 4.0, QColor(stops[i]));
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    canvas_.axisRect()->setBackground(QBrush(theme_.grid(), Qt::BDiagPattern));
    for (QCPAxis* a : {canvas_.xAxis, canvas_.yAxis}) a->grid()->setVisible(false);
    map->setInterpolate(false);
    map->setTightBoundary(false);
    map->removeFromLegend();
    map->setDataScaleType(c.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    map->setGradient(gradient);
    map->setDataRange(flat ? QCPRange(low / 2, 2 * high) : QCPRange(low, high));
    if (flat) return;
    addScale(*map, low, high);
  }

  // Beside a map of colours: what they mean.
  void addScale(QCPColorMap& colours, double low, double high) {
    const Cells& c = plot_.cells;
    QCPColorMap* map = &colours;
    const QCPColorGradient gradient = map->gradient();
    auto* scale = scale_ = new QCPColorScale(&canvas_);
    // Beside the diagram alone: titles and legend have the whole width.
    auto* layout = canvas_.plotLayout();
    auto* diagram = canvas_.axisRect();
    layout->take(diagram);
    auto* both = new QCPLayoutGrid;
    layout->addElement(layout->rowCount() - 1, 0, both);
    both->addElement(0, 0, diagram);
    both->addElement(0, 1, scale);
    map->setColorScale(scale);
    map->setGradient(gradient);
    map->setDataScaleType(c.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    map->setDataRange(QCPRange(low, high));
    auto* a = scale->axis();
    if (c.logarithmic && high < 30 * low) {
      // Round numbers of a logarithmic scale are too few within a short range.
      for (int i = 0; i < 6; ++i) {
        const double v = low * std::pow(high / low, i / 5.0);
        scaleTicks_.emplace_back(v, QString::number(v, 'g', 3).toStdString());
      }
      setTicks(*a, scaleTicks_, 1);
    } else if (c.logarithmic) {
      a->setTicker(QSharedPointer<QCPAxisTickerLog>(new QCPAxisTickerLog));
    }
    a->setNumberFormat("gb");
    a->setNumberPrecision(3);
    a->setLabel(text(c.scale));
    a->setLabelFont(font_);
    a->setTickLabelFont(font_);
    a->setLabelColor(theme_.text());
    a->setTickLabelColor(theme_.text());
    a->setTickPen(QPen(theme_.faint()));
    a->setSubTickPen(QPen(theme_.faint()));
    a->setBasePen(QPen(theme_.faint()));
    auto* sides = new QCPMarginGroup(&canvas_);
    for (QCPLayoutElement* e : {static_cast<QCPLayoutElement*>(canvas_.axisRect()),
                                static_cast<QCPLayoutElement*>(scale)}) {
      e->setMarginGroup(QCP::msTop | QCP::msBottom, sides);
    }
  }

  void legend() {
    for (const auto& [words, ink] : plot_.legend) {
      auto* g = canvas_.addGraph();
      g->setName(text(words));
      g->setLineStyle(QCPGraph::lsNone);
      QBrush b = ink == Ink::baseline ? QBrush(Qt::NoBrush)
                 : theme_.pattern(ink) == Qt::SolidPattern
                     ? QBrush(mixed(ink, 0.75))
                     : QBrush(theme_.colour(ink), Qt::Dense4Pattern);
      g->setScatterStyle({QCPScatterStyle::ssSquare, QPen(theme_.colour(ink), 1.5), b, 11});
      canvas_.legend->setVisible(true);
    }
    canvas_.legend->setFont(font_);
    canvas_.legend->setTextColor(theme_.text());
    canvas_.legend->setBrush(faded(theme_.paper(), 0.85));
    canvas_.legend->setBorderPen(QPen(theme_.grid()));
    canvas_.legend->setIconSize(28, QFontMetrics(font_).height() + 3);  // a line needs it too
    const auto corner = plot_.legendAt == Corner::topLeft    ? Qt::AlignTop | Qt::AlignLeft
                        : plot_.legendAt == Corner::topRight ? Qt::AlignTop | Qt::AlignRight
                                                             : Qt::AlignBottom | Qt::AlignRight;
    canvas_.axisRect()->insetLayout()->setInsetAlignment(0, corner);
  }

  void insetLegend() {
    auto* inset = canvas_.axisRect()->insetLayout();
    if (inset->elementCount() == 0) inset->addElement(canvas_.legend, Qt::AlignTop);
    canvas_.legend->setWrap(0);
    canvas_.legend->setFillOrder(QCPLegend::foRowsFirst);
  }

  // Below the diagram where it would cover too much of it; left out where that leaves no diagram.
  void fitLegend() {
    QCPLegend& l = *canvas_.legend;
    if (!l.visible()) return;
    constexpr double mostWide = 0.7, mostHigh = 0.6;  // of the diagram
    constexpr double fewestLines = 5;                 // that a diagram is high
    const QSize wanted = l.minimumOuterSizeHint();
    const QRect room = canvas_.axisRect()->rect();
    if (plot_.legendAt != Corner::below && wanted.width() <= mostWide * room.width() &&
        wanted.height() <= mostHigh * room.height()) {
      return;
    }
    int widest = 1;
    QStringList names;
    for (int i = 0; i < l.itemCount(); ++i) {
      widest = std::max(widest, l.item(i)->minimumOuterSizeHint().width() + l.columnSpacing());
      if (auto* item = qobject_cast<QCPPlottableLegendItem*>(l.item(i))) {
        names << item->plottable()->name();
      }
    }
    auto* layout = canvas_.plotLayout();
    l.setWrap(std::max(1, (canvas_.viewport().width() - 30) / widest));
    l.setFillOrder(QCPLegend::foColumnsFirst);  // also arranges anew
    layout->addElement(layout->rowCount(), 0, &l);
    layout->setRowStretchFactor(layout->rowCount() - 1, 0.001);
    layOut();
    if (canvas_.axisRect()->height() < fewestLines * QFontMetricsF(font_).height()) {
      l.setVisible(false);
      insetLegend();
      layout->simplify();
      leftOut_ << names;
    }
    layOut();
  }

  const Plot& plot_;
  QCustomPlot& canvas_;
  Theme theme_;
  QFont font_;
  QCPColorScale* scale_ = nullptr;
  Ticks scaleTicks_;
  QStringList leftOut_;
};

}  // namespace

QStringList buildPlot(const Plot& plot, QCustomPlot& canvas, const Theme& theme) {
  return Painter(plot, canvas, theme).build();
}

}  // namespace tcsim::gui
