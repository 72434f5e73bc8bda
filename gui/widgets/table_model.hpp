// A Table for Qt's views.
#pragma once

#include <QAbstractTableModel>

#include "gui/charts/table.hpp"

namespace tcsim::gui {

// A tool tip that shows the text as it is: Qt takes some for HTML.
QString plainToolTip(const QString& text);

class TableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  // Keeps rows and columns, and so selections, where both tables have as many.
  void show(Table table);
  const Table& table() const { return table_; }

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  Table table_;
  std::vector<bool> ofNumbers_;  // by column
};

}  // namespace tcsim::gui
