// Points of a folder of results for Qt's views: a page at a time, however many there are.
#pragma once

#include <QAbstractTableModel>
#include <QString>
#include <list>
#include <memory>

#include "sweep/result_rows.hpp"

namespace tcsim::gui {

class ResultsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  // A view keeps a number for each of its rows, so there are no more rows than these.
  static constexpr std::int64_t mostListed = 4'000'000;

  using QAbstractTableModel::QAbstractTableModel;

  void show(std::shared_ptr<const ResultFolder> folder, std::shared_ptr<ResultRows> rows);
  const ResultFolder* folder() const { return folder_.get(); }
  // Of all that the filter leaves; rowCount() may be fewer.
  std::int64_t size() const { return rows_ ? rows_->size() : 0; }
  // Precondition: 0 <= row < rowCount().
  PointKey key(int row) const;
  // The row of a point, -1 if it has none.
  int rowOf(const PointKey& key) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  // Asks for the order by orderWanted(), whose answer show() brings; column -1: as computed.
  void sort(int column, Qt::SortOrder order) override;

 signals:
  void orderWanted(const tcsim::RowOrder& order);
  // The tables cannot be read any more.
  void failed(const QString& why) const;

 private:
  struct Page {
    int number;
    std::vector<Row> rows;
  };
  const Row* row(int number) const;

  std::shared_ptr<const ResultFolder> folder_;
  std::shared_ptr<ResultRows> rows_;
  mutable std::list<Page> pages_;  // the one used last in front
  mutable bool broken_ = false;
};

// As people read it: six digits, knobs in the units that they are set in.
QString shownCell(const ResultFolder& folder, std::size_t column, const tcsim::Cell& cell);

}  // namespace tcsim::gui
