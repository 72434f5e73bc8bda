// Draws TileBoxes: caches as boxes within boxes, each with a bar that says how full it is.
#pragma once

#include <QWidget>

#include "gui/charts/tiles.hpp"

namespace tcsim::gui {

class BoxesView : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;
  void show(const TileBoxes& boxes);
  void paintTo(QPainter& painter, QSize size) const;

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void fitHeight();

  TileBoxes boxes_;
};

}  // namespace tcsim::gui
