// Draws a ChainTree: outputs at the top, what is on disk as drums, what stays in memory as boxes.
#pragma once

#include <QRectF>
#include <QWidget>
#include <vector>

#include "gui/chain/chain_views.hpp"

namespace tcsim::gui {

// Where each node stands, by the widths of its words.
struct TreeLayout {
  std::vector<QRectF> boxes;   // of the nodes
  std::vector<QRectF> labels;  // of what moves, above each node
  QSizeF size;
};

class TreeView : public QWidget {
  Q_OBJECT

 public:
  explicit TreeView(QWidget* parent = nullptr);
  void show(const ChainTree& tree);
  const ChainTree& tree() const { return tree_; }
  TreeLayout laidOut() const;
  void paintTo(QPainter& painter, QSize size) const;

 signals:
  // The node that the cursor is on, in words; "" where there is none.
  void reading(const QString& text);

 protected:
  bool event(QEvent* event) override;
  void changeEvent(QEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void paintEvent(QPaintEvent* event) override;

 private:
  void fit();
  int nodeAt(const QPointF& at) const;

  ChainTree tree_;
};

}  // namespace tcsim::gui
