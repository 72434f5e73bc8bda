// Draws TileBoxes: a box for memory and each cache, with a bar for each tensor, all of one measure.
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
