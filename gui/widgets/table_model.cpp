#include "gui/widgets/table_model.hpp"

#include <algorithm>

namespace tcsim::gui {

QString plainToolTip(const QString& text) {
  return Qt::mightBeRichText(text) ? text.toHtmlEscaped() : text;
}

void TableModel::show(Table table) {
  // A word among numbers stands in line with them.
  std::vector<bool> ofNumbers(table.columns.size());
  for (const auto& row : table.rows) {
    for (std::size_t i = 0; i < std::min(row.size(), ofNumbers.size()); ++i) {
      if (row[i].value) ofNumbers[i] = true;
    }
  }
  const bool sameShape = table.rows.size() == table_.rows.size() && table.columns == table_.columns;
  if (sameShape && !table.rows.empty()) {
    ofNumbers_ = std::move(ofNumbers);
    table_ = std::move(table);
    emit dataChanged(index(0, 0), index(rowCount() - 1, columnCount() - 1));
    return;
  }
  beginResetModel();
  ofNumbers_ = std::move(ofNumbers);
  table_ = std::move(table);
  endResetModel();
}

int TableModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.rows.size());
}

int TableModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(table_.columns.size());
}

QVariant TableModel::data(const QModelIndex& at, int role) const {
  if (!checkIndex(at, CheckIndexOption::IndexIsValid)) return {};
  const auto& row = table_.rows[static_cast<std::size_t>(at.row())];
  const auto column = static_cast<std::size_t>(at.column());
  if (column >= row.size() || column >= ofNumbers_.size()) return {};
  const Cell& cell = row[column];
  switch (role) {
    case Qt::DisplayRole:
      return QString::fromStdString(cell.text);
    case Qt::ToolTipRole:
      if (cell.value) return QString::number(*cell.value, 'g', 17);
      return plainToolTip(QString::fromStdString(cell.text));  // its column may be too narrow
    case Qt::TextAlignmentRole:
      return QVariant(Qt::AlignVCenter | (ofNumbers_[column] ? Qt::AlignRight : Qt::AlignLeft));
    case Qt::UserRole:
      return cell.value ? QVariant(*cell.value) : QVariant();
    default:
      return {};
  }
}

QVariant TableModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || section < 0) return {};
  if (orientation == Qt::Vertical) return section + 1;
  if (section >= columnCount()) return {};
  QString name = QString::fromStdString(table_.columns[static_cast<std::size_t>(section)]);
  return name.replace('_', ' ');
}

}  // namespace tcsim::gui
