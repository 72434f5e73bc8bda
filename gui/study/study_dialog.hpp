// Asks which knobs a study of the window's design is to vary.
#pragma once

#include <QDialog>

#include "core/study/draft.hpp"

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QSpinBox;

namespace tcsim::gui {

class Studio;

class StudyDialog : public QDialog {
  Q_OBJECT

 public:
  // Begins with the knobs and the range of the views. The studio must have a design that is judged.
  explicit StudyDialog(const Studio& studio, QWidget* parent = nullptr);

  StudyDraft draft() const;

  QComboBox* knob(int which) const { return knobs_[which].name; }
  QLineEdit* range(int which) const { return knobs_[which].range; }
  QSpinBox* points(int which) const { return knobs_[which].points; }

 private:
  struct KnobWidgets {
    QComboBox* name;
    QLineEdit* range;
    QSpinBox* points;
  };
  void addKnob(QFormLayout& form, int i);
  void follow();

  const Studio& studio_;
  QLineEdit* name_;
  KnobWidgets knobs_[2];
  QComboBox *compute_, *objective_;
  QLabel* count_;
};

}  // namespace tcsim::gui
