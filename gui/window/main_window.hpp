// The window: inputs on the left, views in the middle, the verdict on the right.
#pragma once

#include <QMainWindow>
#include <vector>

class QAction;
class QDockWidget;
class QLabel;
class QProgressBar;
class QStackedWidget;
class QTabWidget;
class QToolButton;

namespace tcsim {
struct Session;
}

namespace tcsim::gui {

class Inputs;
class Studio;
class Verdict;
class ViewPage;

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  Studio& studio() { return *studio_; }
  Inputs& inputs() { return *inputs_; }
  Verdict& verdict() { return *verdict_; }
  ViewPage& page(const char* id);
  ViewPage& currentPage();

  void open(const Session& session);
  // Says in a box why not, and returns false.
  bool openFile(const QString& file);
  bool saveFile(const QString& file);
  void showView(const char* id);
  void exportPicture(const QString& file);  // throws as exportView()
  void restoreDefaultLayout();
  void setTablesShown(bool shown);
  QString equivalentCommand() const;
  static QString shortcutList();

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  void makeMenus();
  void makeStatus();
  void makeDocks();
  void refresh();
  void followSession();
  void followBusy();
  bool mayDrop();  // asks to save what is not saved
  void browse();
  bool save();
  bool saveAs();
  void askExport();
  void exportTable();
  void copyTable();
  void copyPicture();
  void showShortcuts();
  void failed(const QString& why);
  QAction* act(class QMenu* menu, const QString& name, const QKeySequence& keys, auto&& slot);

  Studio* studio_;
  Inputs* inputs_;
  Verdict* verdict_;
  QTabWidget* tabs_;
  QStackedWidget* centre_;
  std::vector<ViewPage*> pages_;
  QDockWidget *left_, *right_;
  QLabel *frame_, *busyWords_;
  QProgressBar* progress_;
  QToolButton* cancel_;
  QAction *tables_ = nullptr, *swap_ = nullptr, *unpin_ = nullptr;
  QString file_;
  QByteArray defaultLayout_;
};

}  // namespace tcsim::gui
