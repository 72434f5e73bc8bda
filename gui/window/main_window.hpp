// The window: inputs on the left, views in the middle, the verdict on the right.
#pragma once

#include <QMainWindow>
#include <functional>
#include <memory>
#include <vector>

class QAction;
class QDockWidget;
class QLabel;
class QStackedWidget;
class QTabWidget;
class QToolBar;
class QToolButton;

namespace tcsim {
struct Design;
struct Session;
}  // namespace tcsim

namespace tcsim::gui {

class ChainWindow;
class HelpWindow;
class Inputs;
class PinsDialog;
class SessionFile;
class ShareBar;
class Studio;
class StudyWindow;
class Verdict;
class ViewPage;

// A property of actions: the tooltip that they have while they are possible.
inline constexpr const char* plainTip = "plainTip";

class MainWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit MainWindow(QWidget* parent = nullptr);
  ~MainWindow() override;

  Studio& studio() { return *studio_; }
  Inputs& inputs() { return *inputs_; }
  Verdict& verdict() { return *verdict_; }
  StudyWindow& studies();  // not shown unless it was
  ChainWindow& chains();   // the same
  HelpWindow& help();      // the same
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
  // As if it had been dropped: a session, a study, a machine, a cost model, a program, or a folder
  // of results. Says in a box why not, and returns false.
  bool take(const QString& file);
  static QString shortcutList();

 protected:
  void closeEvent(QCloseEvent* event) override;
  void dragEnterEvent(QDragEnterEvent* event) override;
  void dropEvent(QDropEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;

 private:
  void makeMenus();
  void makeStatus();
  void makeDocks();
  // Beside the views, or on one another at the left where the window is too narrow for both.
  void placeDocks();
  void widenDocks();
  bool isNarrow() const;
  void refresh();
  void followSession();
  void followBusy();
  void askExport();
  void exportTable();
  void copyTable();
  void copyPicture();
  void showShortcuts();
  void complain(const QString& why);
  void showStudies();
  void showChains();
  void showHelp(const QString& page);
  void showPins();
  void makeToolBar();
  void styleToolBar();  // icons too, where there is room
  void edit(const std::function<void(Design&)>& change, const QString& name);
  QAction* act(class QMenu* menu, const QString& name, const QKeySequence& keys, auto&& slot);

  Studio* studio_;
  SessionFile* file_;
  Inputs* inputs_;
  Verdict* verdict_;
  QTabWidget* tabs_;
  QStackedWidget* centre_;
  std::vector<ViewPage*> pages_;
  QDockWidget *left_, *right_;
  QLabel *frame_, *busyWords_;
  ShareBar* progress_;
  QToolButton* cancel_;
  QByteArray defaultLayout_;
  bool squeezed_ = false;  // the panels have found less width than they are to have
  bool narrow_ = false;    // the panels are on one another, unless somebody has moved them
  QToolBar* bar_ = nullptr;
  std::vector<QAction*> needSession_;  // there is nothing that they could do without one
  QAction *tables_ = nullptr, *swap_ = nullptr, *unpin_ = nullptr, *undo_ = nullptr,
          *redo_ = nullptr, *reset_ = nullptr, *pin_ = nullptr, *unpinAll_ = nullptr,
          *pins_ = nullptr, *simulate_ = nullptr;
  PinsDialog* pinsDialog_ = nullptr;  // made when it is first asked for
  // Made when they are first asked for.
  std::unique_ptr<StudyWindow> studies_;
  std::unique_ptr<ChainWindow> chains_;
  std::unique_ptr<HelpWindow> help_;
};

}  // namespace tcsim::gui
