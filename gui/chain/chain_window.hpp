// Chains that do not fit into memory: which intermediates go to disk, and what more memory would
// change.
#pragma once

#include <QMainWindow>
#include <QTimer>

#include "gui/chain/chain_design.hpp"

class QComboBox;
class QLabel;
class QPlainTextEdit;
class QSplitter;
class QTableView;
class QTabWidget;
class QToolButton;

namespace tcsim::gui {

class ChainInputs;
class ChainPlanner;
class PlotView;
class ReadingLabel;
class ShareBar;
class TableModel;
class TreeView;

class ChainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit ChainWindow(QWidget* parent = nullptr);
  ~ChainWindow() override;

  void open(const ChainDesign& design);

  ChainPlanner& planner() { return *planner_; }
  ChainInputs& inputs() { return *inputs_; }
  TreeView& tree() { return *tree_; }
  PlotView& plot() { return *plot_; }
  QTableView& table() { return *table_; }
  QTabWidget& tabs() { return *tabs_; }
  QComboBox& curve() { return *curve_; }
  QComboBox& across() { return *across_; }     // along which knob, on explicit levels
  QTableView& links() { return *linkTable_; }  // there: of the chosen program
  QTableView& changes() { return *changeTable_; }
  QString verdict() const;   // all of it
  QString schedule() const;  // of the program whose row is chosen
  QString equivalentCommand() const;
  QString curveCommand() const;  // on explicit levels
  // What is shown is said to be of the inputs before.
  bool isStale() const { return stale_; }

  void saveSchedule(const QString& file);  // throw InputError
  void saveTree(const QString& file);      // the picture
  void saveTable(const QString& file);

 protected:
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  bool eventFilter(QObject* watched, QEvent* event) override;  // the table's size

 private:
  QWidget* resultWidgets();
  void makeMenus();
  void makeStatus();
  void follow();
  void followBusy();
  void showBusy();
  void showScene();
  void showProgram();  // of the chosen row
  void showPlot();
  void showCurves();  // what can be chosen
  void followKind();  // explicit levels, or memory and a disk
  void colour();
  void placeHalves();
  void shareHalves();
  void fitTable();
  std::size_t program() const;
  void copy(const QString& text, const QString& said);
  void askSave(const QString& title, const QString& name, const QString& filter,
               void (ChainWindow::*save)(const QString&));

  ChainPlanner* planner_;
  ChainInputs* inputs_;
  QLabel *headline_, *words_, *more_, *about_, *state_;
  TreeView* tree_;
  QWidget* treeArea_ = nullptr;
  PlotView* plot_;
  QComboBox *curve_, *across_;
  QLabel* acrossName_ = nullptr;
  ReadingLabel* reading_;
  QPlainTextEdit* schedule_;
  QTabWidget* tabs_;
  QSplitter* halves_;
  bool halvesMoved_ = false;  // by hand
  TableModel* rows_;
  QTableView* table_;
  TableModel *linkRows_, *changeRows_;
  QTableView *linkTable_, *changeTable_;
  QLabel* busyWords_;
  ShareBar* progress_;
  QToolButton* cancel_;
  std::vector<QAction*> needAnswer_;
  QAction* ofLevels_ = nullptr;
  std::string chosenRow_ = "chosen";  // the program, by its name
  bool stale_ = false;
  int coloured_ = -1;  // for which of stale or not, light or dark
  // What is over at once is worth neither grey words nor a bar.
  QTimer soon_, long_;
};

}  // namespace tcsim::gui
