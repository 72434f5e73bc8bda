// Draws a Plot. Words that find no room are in its tool tip.
#pragma once

#include <QWidget>
#include <optional>
#include <utility>

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
  // The mark of Plot::lines that is nearest to where somebody has clicked.
  void picked(std::size_t line, std::size_t point);

 protected:
  void changeEvent(QEvent* event) override;
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void paintWords(QPaintDevice& device, QSize size) const;
  void rebuild();
  void read(const QPoint& at);
  std::optional<std::pair<std::size_t, std::size_t>> nearest(const QPoint& at) const;

  Plot plot_;
  QCustomPlot* canvas_;
};

}  // namespace tcsim::gui
