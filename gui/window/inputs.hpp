// The left side: which workload, which machine, and every figure of it that can be turned.
#pragma once

#include <QWidget>
#include <map>
#include <string>

#include "core/workload/request.hpp"

class QComboBox;
class QLabel;
class QLineEdit;
class QVBoxLayout;

namespace tcsim::gui {

class KnobRow;
class Studio;

class Inputs : public QWidget {
  Q_OBJECT

 public:
  explicit Inputs(Studio& studio, QWidget* parent = nullptr);

  // The row of a knob, or nullptr.
  KnobRow* row(const std::string& knob) const;
  QComboBox* workload() const { return workload_; }
  QComboBox* machine() const { return machine_; }
  QComboBox* cost() const { return cost_; }
  QLineEdit* sizes() const { return sizes_; }
  // What is wrong beside the knobs; empty if nothing is.
  QString problem() const;

 private:
  void follow();  // the session
  void showError();
  void buildKnobs();
  WorkloadRequest requested() const;
  WorkloadRequest convolution(WorkloadRequest request, const WorkloadRequest& before)
      const;  // by the boxes; its name is empty where they are
  void chooseWorkload();
  void chooseMachine();
  void chooseAccounting();
  void chooseMode();
  void chooseCost();

  Studio& studio_;
  QComboBox *workload_, *layoutOf_, *type_, *machine_, *accounting_, *mode_, *cost_;
  QLineEdit* sizes_;
  QWidget* labelRow_;
  QLabel* sizesName_;
  QLabel* problem_;
  QVBoxLayout* knobs_;
  QWidget* knobArea_;
  std::map<std::string, KnobRow*> rows_;
  std::string builtFor_;  // the machine that the rows are of
  std::string lastEdited_;
  QString refused_;  // why what is typed is no workload; the session does not have it then
  bool following_ = false;
};

}  // namespace tcsim::gui
