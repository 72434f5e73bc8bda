// A study's file: its text, checked while it is written, and its sweep.
#pragma once

#include <QTimer>
#include <QWidget>
#include <memory>

#include "gui/studio/worker.hpp"
#include "gui/study/study_job.hpp"

class QLabel;
class QLineEdit;
class QPlainTextEdit;
class QProgressBar;
class QPushButton;

namespace tcsim::gui {

class StudyEditor : public QWidget {
  Q_OBJECT

 public:
  explicit StudyEditor(QWidget* parent = nullptr);
  ~StudyEditor() override;

  // Each says in problem() why not, and returns false.
  bool open(const QString& file);
  bool save(const QString& file);
  void setText(const QString& text);  // of a study that has no file yet
  QString text() const;
  const QString& file() const { return file_; }
  bool isModified() const;

  // Begins or goes on, once the text is checked and saved.
  void run();
  void cancel() { job_.cancel(); }
  bool isRunning() const { return job_.isBusy(); }
  bool isChecking() const;
  // The line (from 1) that the check finds wrong, 0 if there is none.
  int wrongLine() const { return wrongLine_; }
  QString verdict() const;  // of the check
  QString state() const;    // of the sweep
  QString folder() const;   // of the results
  void setFolder(const QString& folder);
  // "tcsim sweep FILE --out FOLDER --resume".
  QString command() const;

  QPlainTextEdit* editor() const { return editor_; }
  QPushButton* runButton() const { return run_; }
  QPushButton* cancelButton() const { return cancel_; }

 signals:
  void fileWanted();                     // the text is to be saved before it is run
  void finished(const QString& folder);  // its results are there
  void showWanted(const QString& folder);
  void stateChanged();

 private:
  QWidget* runWidgets();
  void check();
  void checked(std::shared_ptr<const Study> study, const QString& words, int line);
  void launch();
  void follow();  // what can be pressed
  void tell(const QString& words);
  QString place() const;  // of the text, in errors

  QString file_;
  std::shared_ptr<const Study> study_;  // of the text as it is; null: not checked yet, or wrong
  int wrongLine_ = 0;
  bool runWhenChecked_ = false;
  QPlainTextEdit* editor_;
  QLabel *verdict_, *state_;
  QLineEdit* folder_;
  QProgressBar* progress_;
  QPushButton *run_, *cancel_, *show_;
  QTimer rest_;
  Worker checker_;
  StudyJob job_;
};

}  // namespace tcsim::gui
