// Studies beside the main window: a study's file with its sweep, and results to look through, whose
// points become the design of the main window.
#pragma once

#include <QMainWindow>
#include <optional>

#include "core/saved/design.hpp"

class QAction;
class QTabWidget;

namespace tcsim::gui {

class ResultsPage;
class Studio;
class StudyEditor;

class StudyWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit StudyWindow(Studio& studio, QWidget* parent = nullptr);

  StudyEditor& editor() { return *editor_; }
  ResultsPage& results() { return *results_; }

  // What is wrong is told in the window.
  bool openStudy(const QString& file);
  void openResults(const QString& folder);
  // Asks which knobs vary, and makes a study of the session; says why where it cannot.
  void newFromSession();
  bool saveAs();
  // Asks what to do with a text that is not saved and a sweep that is under way; false: stay.
  bool mayClose();
  // What the last opened point gave: whether it is predicted as in the sweep.
  const QString& comparison() const { return comparison_; }

 protected:
  void closeEvent(QCloseEvent* event) override;

 private:
  void makeMenus();
  void follow();
  bool mayDrop();  // the text
  bool save();
  void browseStudy();
  void browseResults();
  void openPoint(const Design& design, const QString& name, double predictedSeconds);
  void compare();

  Studio& studio_;
  QTabWidget* tabs_;
  StudyEditor* editor_;
  ResultsPage* results_;
  QAction *new_ = nullptr, *save_ = nullptr;
  struct Opened {
    Design design;
    double seconds;
  };
  std::optional<Opened> opened_;  // and not judged yet
  QString comparison_;
};

}  // namespace tcsim::gui
