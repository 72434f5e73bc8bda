// Qt's models over tables.
#include <gtest/gtest.h>

#include <QAbstractItemModelTester>
#include <QSignalSpy>

#include "gui/widgets/table_model.hpp"

namespace tcsim::gui {
namespace {

using Mode = QAbstractItemModelTester::FailureReportingMode;

Table table(int rows, double value) {
  Table t{{"name", "some_bytes"}, {}};
  for (int i = 0; i < rows; ++i) t.rows.push_back({"row", Cell("shown", value + i)});
  return t;
}

TEST(TableModel, Keeps_the_rules_of_models_while_tables_come_and_go) {
  TableModel model;
  QSignalSpy broken(&model, &QAbstractItemModel::modelAboutToBeReset);
  const QAbstractItemModelTester tester(&model, Mode::Fatal);
  for (int rows : {0, 3, 3, 5, 1, 0, 0, 2}) model.show(table(rows, 0.5));
  EXPECT_EQ(model.rowCount(), 2);
  EXPECT_EQ(model.columnCount(), 2);
  EXPECT_EQ(model.rowCount(model.index(0, 0)), 0);
}

TEST(TableModel, Changes_in_place_where_the_shape_stays) {
  TableModel model;
  model.show(table(3, 1));
  QSignalSpy changed(&model, &QAbstractItemModel::dataChanged);
  QSignalSpy reset(&model, &QAbstractItemModel::modelReset);
  model.show(table(3, 2));
  EXPECT_EQ(changed.count(), 1);
  EXPECT_EQ(reset.count(), 0);
  model.show(table(4, 2));
  EXPECT_EQ(reset.count(), 1);
}

TEST(TableModel, A_word_among_numbers_stands_in_line_with_them) {
  TableModel model;
  Table t = table(2, 1);
  t.rows.push_back({"limited by", "compute"});
  model.show(t);
  const auto at = [&](int row, int column) {
    return model.data(model.index(row, column), Qt::TextAlignmentRole).toInt() & Qt::AlignRight;
  };
  EXPECT_TRUE(at(0, 1));
  EXPECT_TRUE(at(2, 1));
  EXPECT_FALSE(at(2, 0));
}

TEST(TableModel, Gives_text_to_readers_and_all_digits_to_programs) {
  TableModel model;
  model.show(table(1, 1.0 / 3));
  const QModelIndex cell = model.index(0, 1);
  EXPECT_EQ(model.data(cell, Qt::DisplayRole).toString(), "shown");
  EXPECT_EQ(model.data(cell, Qt::UserRole).toDouble(), 1.0 / 3);
  EXPECT_EQ(model.data(cell, Qt::ToolTipRole).toString().toDouble(), 1.0 / 3);
  EXPECT_EQ(model.headerData(1, Qt::Horizontal, Qt::DisplayRole).toString(), "some bytes");
  EXPECT_FALSE(model.data(model.index(0, 0), Qt::UserRole).isValid());
}

}  // namespace
}  // namespace tcsim::gui
