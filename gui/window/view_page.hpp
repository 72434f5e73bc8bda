// A view: its controls, its picture, and the table behind it.
#pragma once

#include <QWidget>

#include "gui/charts/charts.hpp"

class QComboBox;
class QLineEdit;
class QSplitter;
class QTableView;
class QTimer;

namespace tcsim::gui {

class BoxesView;
class PlotView;
class ReadingLabel;
class ScheduleEditor;
class Studio;
class TableModel;

class ViewPage : public QWidget {
  Q_OBJECT

 public:
  ViewPage(const ViewKind& kind, Studio& studio, QWidget* parent = nullptr);

  const ViewKind& kind() const { return kind_; }
  // Draws what the studio's scene says.
  void refresh();
  void setTableShown(bool shown);
  TableModel* table() const { return table_; }
  PlotView* plot() const { return plot_; }
  ScheduleEditor* schedule() const { return schedule_; }
  // Of the picture, where the view has one.
  void zoom(double factor);
  void pan(double share);
  // Any of the two knobs' pickers; nullptr where there is none.
  QComboBox* knob(int which) const { return which == 0 ? first_ : second_; }

 private:
  QWidget* controls();
  QWidget* setsControls();
  QWidget* timelineControls();
  void showTable();
  void followKnobs();
  void followSets();
  void followPart(double low, double high);

  const ViewKind& kind_;
  Studio& studio_;
  PlotView* plot_ = nullptr;
  BoxesView* boxes_ = nullptr;
  ScheduleEditor* schedule_ = nullptr;
  QComboBox *first_ = nullptr, *second_ = nullptr;
  QLineEdit* range_ = nullptr;
  QComboBox *level_ = nullptr, *show_ = nullptr, *tensor_ = nullptr;  // of the sets
  QTimer* rest_ = nullptr;  // of the timeline: before its part is simulated
  TouchRange part_;
  QSplitter* splitter_;
  ReadingLabel* reading_;
  TableModel* table_;
  QTableView* tableView_;
};

}  // namespace tcsim::gui
