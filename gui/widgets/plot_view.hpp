// Draws a Plot. Words that find no room are in its tool tip.
#pragma once

#include <QPointF>
#include <QWidget>
#include <optional>
#include <utility>

#include "gui/charts/plot.hpp"
#include "gui/charts/zoom.hpp"

class QCustomPlot;

namespace tcsim::gui {

class PlotView : public QWidget {
  Q_OBJECT

 public:
  explicit PlotView(QWidget* parent = nullptr);

  // Draws at once.
  void show(const Plot& plot);
  const Plot& plot() const { return plot_; }
  // Shows `factor` times as much of both axes (or of x alone: Plot::zoomsUpward), around the middle
  // or a place in the view; moves by a share of what is shown. Never beyond the plot's ends.
  void zoom(double factor);
  void pan(double share);
  // On any paint device, as large as wanted, in points of the screen.
  void paintTo(QPaintDevice& device, QSize size);

 signals:
  // What the cursor points at, "" if at nothing.
  void reading(const QString& text);
  // The mark of Plot::lines that is nearest to where somebody has clicked.
  void picked(std::size_t line, std::size_t point);
  // Somebody has zoomed or moved: so much of the x axis is shown.
  void shownChanged(double low, double high);

 protected:
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  struct Shown {
    Span x, y;
  };
  Shown shown() const;
  Shown whole() const;
  void zoomAt(const QPointF& at, double factor);
  void dragTo(const QPointF& at);
  void showPart(const Span& x, const Span& y);
  void paintWords(QPaintDevice& device, QSize size) const;
  void rebuild();
  void read(const QPoint& at);
  std::optional<std::pair<std::size_t, std::size_t>> nearest(const QPoint& at) const;

  Plot plot_;
  std::optional<Shown> part_;  // empty: all of it
  // While a button is down: where it was pressed, and what was shown.
  std::optional<std::pair<QPointF, Shown>> held_;
  QCustomPlot* canvas_;
};

}  // namespace tcsim::gui
