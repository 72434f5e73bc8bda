#include "gui/study/results_model.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tcsim::gui {

namespace {

constexpr int pageRows = 128;
constexpr std::size_t keptPages = 24;

}  // namespace

QString shownCell(const ResultFolder& folder, std::size_t column, const tcsim::Cell& cell) {
  if (cell.kind != tcsim::Cell::Kind::real) return QString::fromStdString(cell.csv());
  const std::optional<Knob> knob = folder.knob(column);
  return QString::fromStdString(knob ? display(*knob, cell.real)
                                     : fmt::format("{:.6g}", cell.real));
}

void ResultsModel::show(std::shared_ptr<const ResultFolder> folder,
                        std::shared_ptr<ResultRows> rows) {
  beginResetModel();
  folder_ = std::move(folder);
  rows_ = std::move(rows);
  pages_.clear();
  broken_ = false;
  endResetModel();
}

const Row* ResultsModel::row(int number) const {
  const int page = number / pageRows;
  auto found =
      std::find_if(pages_.begin(), pages_.end(), [&](const Page& p) { return p.number == page; });
  if (found == pages_.end()) {
    if (broken_) return nullptr;
    try {
      pages_.push_front({page, rows_->read(std::int64_t{page} * pageRows, pageRows)});
    } catch (const std::exception& e) {
      broken_ = true;
      emit failed(QString::fromUtf8(e.what()));
      return nullptr;
    }
    if (pages_.size() > keptPages) pages_.pop_back();
  } else {
    pages_.splice(pages_.begin(), pages_, found);
  }
  const auto at = static_cast<std::size_t>(number % pageRows);
  const std::vector<Row>& rows = pages_.front().rows;
  return at < rows.size() ? &rows[at] : nullptr;
}

PointKey ResultsModel::key(int number) const {
  const Row* r = row(number);
  if (r == nullptr) return {};
  return {r->front().integer, (*r)[folder_->column("workload")].text};
}

int ResultsModel::rowOf(const PointKey& key) const {
  if (!rows_ || broken_) return -1;
  try {
    const std::optional<std::int64_t> place = rows_->place(key);
    return place && *place < rowCount() ? static_cast<int>(*place) : -1;
  } catch (const std::exception& e) {
    broken_ = true;
    emit failed(QString::fromUtf8(e.what()));
    return -1;
  }
}

int ResultsModel::rowCount(const QModelIndex& parent) const {
  return parent.isValid() ? 0 : static_cast<int>(std::min(size(), mostListed));
}

int ResultsModel::columnCount(const QModelIndex& parent) const {
  return parent.isValid() || !folder_ ? 0 : static_cast<int>(folder_->columns().size());
}

QVariant ResultsModel::data(const QModelIndex& at, int role) const {
  if (!checkIndex(at, CheckIndexOption::IndexIsValid)) return {};
  const auto column = static_cast<std::size_t>(at.column());
  if (role == Qt::TextAlignmentRole) {
    return QVariant(Qt::AlignVCenter |
                    (folder_->is_number(column) ? Qt::AlignRight : Qt::AlignLeft));
  }
  if (role != Qt::DisplayRole && role != Qt::ToolTipRole && role != Qt::UserRole) return {};
  const Row* r = row(at.row());
  if (r == nullptr) return {};
  const tcsim::Cell& cell = (*r)[column];
  if (role == Qt::DisplayRole) return shownCell(*folder_, column, cell);
  if (role == Qt::ToolTipRole) return QString::fromStdString(cell.csv());
  switch (cell.kind) {
    case tcsim::Cell::Kind::real:
      return cell.real;
    case tcsim::Cell::Kind::integer:
      return QVariant::fromValue(static_cast<qlonglong>(cell.integer));
    case tcsim::Cell::Kind::text:
      return QString::fromStdString(cell.text);
    case tcsim::Cell::Kind::nothing:
      break;
  }
  return {};
}

QVariant ResultsModel::headerData(int section, Qt::Orientation orientation, int role) const {
  if (role != Qt::DisplayRole || section < 0) return {};
  if (orientation == Qt::Vertical) return section + 1;
  if (section >= columnCount()) return {};
  return QString::fromStdString(folder_->columns()[static_cast<std::size_t>(section)]);
}

void ResultsModel::sort(int column, Qt::SortOrder order) {
  if (!folder_) return;
  RowOrder wanted;
  if (column >= 0 && column < columnCount()) {
    wanted = {folder_->columns()[static_cast<std::size_t>(column)], order == Qt::DescendingOrder};
  }
  emit orderWanted(wanted);
}

}  // namespace tcsim::gui
