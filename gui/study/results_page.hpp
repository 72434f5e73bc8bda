// A folder of results to look through: a table that sorts and filters, a chart of two columns, and
// any point as the window's design. Nothing in the folder changes.
#pragma once

#include <QWidget>
#include <filesystem>
#include <memory>
#include <optional>

#include "gui/charts/points.hpp"
#include "gui/studio/worker.hpp"
#include "sweep/result_rows.hpp"

class QComboBox;
class QLabel;
class QLineEdit;
class QPushButton;
class QTableView;

namespace tcsim::gui {

class PlotView;
class ReadingLabel;
class ResultsModel;

class ResultsPage : public QWidget {
  Q_OBJECT

 public:
  explicit ResultsPage(QWidget* parent = nullptr);
  ~ResultsPage() override;

  // Reads in the background; what is wrong with the folder is told where the results would be.
  void open(const std::filesystem::path& folder);
  const ResultFolder* folder() const { return folder_.get(); }
  void choose(const PointKey& point);
  const std::optional<PointKey>& chosen() const { return chosen_; }
  // Opens the chosen point.
  void openChosen();
  bool isBusy() const;

  ResultsModel* model() const { return model_; }
  QTableView* table() const { return table_; }
  PlotView* plot() const { return plot_; }
  QLineEdit* filter() const { return filter_; }
  QComboBox* axis(int which) const { return which == 0 ? x_ : y_; }
  QString problem() const;

 signals:
  void opened();
  void pointOpened(const tcsim::Design& design, const tcsim::PointKey& point,
                   double predictedSeconds);
  void busyChanged();

 private:
  QWidget* headWidgets();
  QWidget* chartWidgets();
  QWidget* tableWidgets();
  void list();   // rows, by the order and the filter
  void chart();  // points, by the filter and the two columns
  void fillAxes();
  void showNone(const std::string& why);
  void draw();
  void tell(const QString& problem);

  std::shared_ptr<const ResultFolder> folder_;
  RowOrder order_;
  ChartPoints points_;
  PointsPlot drawn_;
  std::optional<PointKey> chosen_;
  ResultsModel* model_;
  QTableView* table_;
  PlotView* plot_;
  QLabel *about_, *problem_;
  ReadingLabel* reading_;
  QLabel* count_;
  QLineEdit* filter_;
  QComboBox *x_, *y_;
  QPushButton* openPoint_;
  Worker lister_, charter_;
};

}  // namespace tcsim::gui
