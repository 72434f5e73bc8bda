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
  QComboBox* workloads() const { return workloads_; }
  QComboBox* machines() const { return machines_; }
  QComboBox* objective() const { return objective_; }
  QLineEdit* constraints() const { return constraints_; }

 private:
  struct KnobWidgets {
    QComboBox* name;
    QLineEdit* range;
    QSpinBox* points;
  };
  static constexpr int mostKnobs = 4;

  void addKnob(QFormLayout& form, int i);
  void addScope(QFormLayout& form);  // workloads and machines
  QStringList pinnedMachines() const;
  void follow();

  const Studio& studio_;
  QLineEdit* name_;
  KnobWidgets knobs_[mostKnobs];
  QComboBox *workloads_, *machines_, *compute_, *objective_;
  QLineEdit* constraints_;
  QLabel* count_;
};

}  // namespace tcsim::gui
