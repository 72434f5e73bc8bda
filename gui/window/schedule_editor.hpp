// The schedule as text that can be edited: judged at once, with the best one beside it.
#pragma once

#include <QTimer>
#include <QWidget>

#include "core/saved/design.hpp"

class QLabel;
class QPlainTextEdit;
class QPushButton;

namespace tcsim::gui {

class Studio;

class ScheduleEditor : public QWidget {
  Q_OBJECT

 public:
  explicit ScheduleEditor(Studio& studio, QWidget* parent = nullptr);

  // Shows what the studio's scene says; what somebody is typing stays.
  void refresh();
  QPlainTextEdit* text() const { return text_; }
  QPlainTextEdit* best() const { return best_; }
  QPushButton* takeBest() const { return takeBest_; }
  QString judgement() const;

 private:
  void judge();  // what is typed
  void markLine(int line);
  void say(const QString& words, bool wrong);
  QString comparison() const;

  Studio& studio_;
  QPlainTextEdit *text_, *best_;
  QLabel* judgement_;
  QPushButton* takeBest_;
  QTimer rest_;          // after the last key
  int gesture_ = 0;      // edits of one visit are one step of the history
  bool typing_ = false;  // what is there is somebody's, typed on this design
  Design typedOn_;
  bool wrong_ = false;  // what is typed is no schedule
  bool filling_ = false;
};

}  // namespace tcsim::gui
