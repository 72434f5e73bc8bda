#include "gui/widgets/plot_painter.hpp"

#include <qcustomplot.h>

#include <algorithm>
#include <cmath>

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

  void build() {
    clear();
    canvas_.setBackground(QBrush(theme_.paper()));
    canvas_.axisRect()->setVisible(plot_.missing.empty());
    if (!plot_.missing.empty()) {
      note(plot_.missing);
      return;
    }
    titles();
    axis(*canvas_.xAxis, plot_.x);
    axis(*canvas_.yAxis, plot_.y);
    cells();
    for (std::size_t i = 0; i < plot_.regions.size(); ++i) region(plot_.regions[i], i);
    if (!plot_.bars.empty()) canvas_.yAxis->grid()->setVisible(false);
    for (const Bar& b : plot_.bars) bar(b);
    for (const Line& l : plot_.lines) line(l);
    for (std::size_t i = 0; i < plot_.rules.size(); ++i) rule(plot_.rules[i], i);
    for (const bool halo : {true, false}) {
      for (const Segment& s : plot_.outlines) outline(s, halo);
    }
    for (const Label& l : plot_.labels) label(l);
    legend();
    if (plot_.hollow) stale();
  }

 private:
  // Where x will be, about: the margins are only known once everything is laid out.
  double pixelOf(double x) const {
    double names = 45;
    for (const auto& [at, words] : plot_.y.ticks) {
      names = std::max(names, QFontMetricsF(font_).horizontalAdvance(text(words)));
    }
    const double left = names + (plot_.y.label.empty() ? 20 : 40), right = 28;
    const Axis& a = plot_.x;
    const double share =
        a.log ? std::log(x / a.low) / std::log(a.high / a.low) : (x - a.low) / (a.high - a.low);
    return left + share * (canvas_.viewport().width() - left - right);
  }

  void clear() {
    canvas_.clearPlottables();
    canvas_.clearItems();
    auto* layout = canvas_.plotLayout();
    for (int i = layout->elementCount() - 1; i >= 0; --i) {
      if (layout->elementAt(i) != nullptr && layout->elementAt(i) != canvas_.axisRect()) {
        layout->remove(layout->elementAt(i));
      }
    }
    layout->simplify();
    canvas_.legend->setVisible(false);
    for (QCPAxis* a : {canvas_.xAxis, canvas_.yAxis}) a->grid()->setVisible(true);
    canvas_.axisRect()->setBackground(QBrush(theme_.paper()));
  }

  void note(const std::string& words) {
    auto* t = new QCPItemText(&canvas_);
    t->position->setType(QCPItemPosition::ptViewportRatio);
    t->position->setCoords(0.5, 0.45);
    t->setText(text(words));
    t->setFont(font_);
    t->setColor(theme_.faint());
    t->setClipToAxisRect(false);
  }

  void titles() {
    auto* layout = canvas_.plotLayout();
    QFont strong = font_;
    strong.setPointSizeF(font_.pointSizeF() * 1.15);
    strong.setBold(true);
    int row = 0;
    const auto add = [&](const std::string& words, const QFont& font, const QColor& colour) {
      if (words.empty()) return;
      layout->insertRow(row);
      const QFontMetrics metrics(font);
      QStringList fitting;
      for (const QString& one : text(words).split('\n')) {
        fitting << metrics.elidedText(one, Qt::ElideRight, canvas_.viewport().width() - 16);
      }
      auto* element = new QCPTextElement(&canvas_, fitting.join('\n'), font);
      element->setTextColor(colour);
      element->setTextFlags(Qt::AlignLeft);
      element->setMargins(QMargins(6, row == 0 ? 4 : 0, 6, 2));
      layout->addElement(row++, 0, element);
    };
    add(plot_.title, strong, theme_.text());
    add(plot_.subtitle, font_, theme_.faint());
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
    if (!from.ticks.empty()) {
      QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
      for (const auto& [at, words] : from.ticks) ticker->addTick(at, text(words));
      ticker->setSubTickCount(0);
      a.setTicker(ticker);
    }
    a.setRange(from.low, from.high);
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

  void region(const Region& r, std::size_t i) {
    auto* box = new QCPItemRect(&canvas_);
    box->setLayer("background");
    corners(*box, r.from, plot_.y.low, r.to, plot_.y.high);
    box->setPen(Qt::NoPen);
    box->setBrush(faded(theme_.colour(r.ink), theme_.dark ? 0.26 : 0.16));
    QFont bold = font_;
    bold.setBold(true);
    // A name wider than its band moves to the second row.
    const double from = pixelOf(r.from), to = pixelOf(r.to);
    const bool wide = QFontMetricsF(bold).horizontalAdvance(text(r.label)) < std::abs(to - from);
    auto* t = new QCPItemText(&canvas_);
    t->position->setTypeX(QCPItemPosition::ptPlotCoords);
    t->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
    const double middle = plot_.x.log ? std::sqrt(r.from * r.to) : (r.from + r.to) / 2;
    t->position->setCoords(middle, wide || i % 2 == 0 ? 0.035 : 0.09);
    t->setText(text(r.label));
    t->setFont(bold);
    t->setColor(theme_.text());
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
      box->setBrush(mixed(b.ink, hatched ? 0.3 : b.strong ? 1 : 0.75));
      box->setPen(QPen(b.strong ? theme_.text() : edge, b.strong ? 2 : 1));
      if (hatched) {
        auto* over = new QCPItemRect(&canvas_);
        corners(*over, b.from, b.at - b.thickness / 2, b.to, b.at + b.thickness / 2);
        over->setPen(Qt::NoPen);
        over->setBrush(QBrush(edge, theme_.pattern(b.ink)));
      }
    }
    if (b.label.empty()) return;
    auto* t = new QCPItemText(&canvas_);
    QFont f = font_;
    f.setBold(b.strong);
    // Behind the bar's end, or before it where the words would leave the picture.
    const double words = QFontMetricsF(f).horizontalAdvance(text(b.label)) + 20;
    const double left = pixelOf(b.to) - pixelOf(b.from);
    const bool room = words < pixelOf(plot_.x.high) - pixelOf(b.to) || words > left;
    t->position->setCoords(b.to, b.at);
    t->setPositionAlignment((room ? Qt::AlignLeft : Qt::AlignRight) | Qt::AlignVCenter);
    t->setPadding(QMargins(7, 1, 7, 1));
    t->setText(text(b.label));
    t->setClipToAxisRect(false);
    t->setFont(f);
    t->setColor(theme_.text());
    t->setBrush(faded(theme_.paper(), 0.8));
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

  void rule(const Rule& r, std::size_t i) {
    auto* l = new QCPItemLine(&canvas_);
    if (r.vertical) {
      l->start->setCoords(r.at, plot_.y.low);
      l->end->setCoords(r.at, plot_.y.high);
    } else {
      l->start->setCoords(plot_.x.low, r.at);
      l->end->setCoords(plot_.x.high, r.at);
    }
    l->setPen(QPen(theme_.colour(r.ink), 1.5, r.dashed ? Qt::DashLine : Qt::SolidLine));
    auto* t = new QCPItemText(&canvas_);
    t->setText(text(r.label));
    t->setFont(font_);
    t->setColor(theme_.text());
    t->setPadding(QMargins(5, 1, 5, 1));
    t->setBrush(faded(theme_.paper(), 0.8));
    if (r.vertical) {
      t->position->setTypeY(QCPItemPosition::ptAxisRectRatio);
      t->position->setCoords(r.at, 0.15 + 0.055 * static_cast<double>(i % 3));
      const double end = pixelOf(plot_.x.high);
      const bool right = pixelOf(r.at) > 0.7 * end;
      t->setPositionAlignment((right ? Qt::AlignRight : Qt::AlignLeft) | Qt::AlignVCenter);
    } else {
      t->position->setCoords(plot_.x.high, r.at);
      t->setPositionAlignment(Qt::AlignRight | Qt::AlignBottom);
    }
  }

  void outline(const Segment& s, bool halo) {
    auto* l = new QCPItemLine(&canvas_);
    l->start->setCoords(s.x0, s.y0);
    l->end->setCoords(s.x1, s.y1);
    const double width = s.ghost ? (halo ? 4 : 2) : (halo ? 5 : 2);
    QPen pen(halo ? Qt::white : Qt::black, width, Qt::SolidLine, Qt::SquareCap);
    if (s.ghost) pen.setCapStyle(Qt::FlatCap);
    if (s.ghost && !halo) pen.setDashPattern({2.5, 2.5});
    l->setPen(pen);
  }

  void label(const Label& l) {
    auto* t = new QCPItemText(&canvas_);
    t->position->setCoords(l.x, l.y);
    t->setText(text(l.text));
    QFont bold = font_;
    bold.setBold(true);
    t->setFont(bold);
    t->setColor(theme_.colour(l.ink));
    t->setPadding(QMargins(5, 2, 5, 2));
    t->setBrush(faded(theme_.paper(), 0.82));
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
    if (!(high > low * 1.0001)) {  // all the same
      low *= 0.9;
      high *= 1.1;
    }
    QCPColorGradient gradient;  // viridis, bright where it is quick
    gradient.clearColorStops();
    const char* stops[] = {"#fde725", "#5ec962", "#21918c", "#3b528b", "#440154"};
    for (int i = 0; i < 5; ++i) gradient.setColorStopAt(i / 4.0, QColor(stops[i]));
    gradient.setNanHandling(QCPColorGradient::nhTransparent);
    canvas_.axisRect()->setBackground(QBrush(theme_.grid(), Qt::BDiagPattern));
    for (QCPAxis* a : {canvas_.xAxis, canvas_.yAxis}) a->grid()->setVisible(false);
    auto* scale = new QCPColorScale(&canvas_);
    canvas_.plotLayout()->addElement(canvas_.plotLayout()->rowCount() - 1, 1, scale);
    map->setColorScale(scale);
    map->setInterpolate(false);
    map->setTightBoundary(false);
    map->setGradient(gradient);
    map->setDataScaleType(c.logarithmic ? QCPAxis::stLogarithmic : QCPAxis::stLinear);
    map->setDataRange(QCPRange(low, high));
    auto* a = scale->axis();
    if (c.logarithmic && high < 30 * low) {
      // Round numbers of a logarithmic scale are too few within a short range.
      QSharedPointer<QCPAxisTickerText> ticker(new QCPAxisTickerText);
      for (int i = 0; i < 6; ++i) {
        const double v = low * std::pow(high / low, i / 5.0);
        ticker->addTick(v, QString::number(v, 'g', 3));
      }
      a->setTicker(ticker);
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
    map->removeFromLegend();
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
    canvas_.legend->setIconSize(28, 14);
    const auto corner = plot_.legendAt == Corner::topLeft    ? Qt::AlignTop | Qt::AlignLeft
                        : plot_.legendAt == Corner::topRight ? Qt::AlignTop | Qt::AlignRight
                                                             : Qt::AlignBottom | Qt::AlignRight;
    canvas_.axisRect()->insetLayout()->setInsetAlignment(0, corner);
  }

  void stale() {
    auto* t = new QCPItemText(&canvas_);
    t->position->setType(QCPItemPosition::ptAxisRectRatio);
    t->position->setCoords(0.5, 0.97);
    t->setPositionAlignment(Qt::AlignHCenter | Qt::AlignBottom);
    t->setText(QObject::tr("of the inputs before; the new ones are being computed"));
    t->setFont(font_);
    t->setColor(theme_.warning());
    t->setPadding(QMargins(6, 2, 6, 2));
    t->setBrush(faded(theme_.paper(), 0.85));
  }

  const Plot& plot_;
  QCustomPlot& canvas_;
  Theme theme_;
  QFont font_;
};

}  // namespace

void buildPlot(const Plot& plot, QCustomPlot& canvas, const Theme& theme) {
  Painter(plot, canvas, theme).build();
}

}  // namespace tcsim::gui
