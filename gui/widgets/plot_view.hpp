// Draws a Plot. The only place that knows QCustomPlot.
#pragma once

#include <QWidget>

#include "gui/charts/plot.hpp"

class QCustomPlot;

namespace tcsim::gui {

class PlotView : public QWidget {
  Q_OBJECT

 public:
  explicit PlotView(QWidget* parent = nullptr);

  // Draws at once.
  void show(const Plot& plot);
  const Plot& plot() const { return plot_; }
  // On any paint device, as large as wanted, in points of the screen.
  void paintTo(QPaintDevice& device, QSize size);

 signals:
  // What the cursor points at, "" if at nothing.
  void reading(const QString& text);

 protected:
  void changeEvent(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void rebuild();
  void read(const QPoint& at);

  Plot plot_;
  QCustomPlot* canvas_;
};

}  // namespace tcsim::gui
