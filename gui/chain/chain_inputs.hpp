// The left side of the chain window: which chain, which machine, and what a run may take.
#pragma once

#include <QTimer>
#include <QWidget>

#include "gui/chain/chain_design.hpp"

class QCheckBox;
class QComboBox;
class QFormLayout;
class QVBoxLayout;
class QLabel;
class QLineEdit;
class QMenu;
class QPlainTextEdit;
class QPushButton;

namespace tcsim::gui {

class AmountRow;
class ChainPlanner;
class KnobRow;

class ChainInputs : public QWidget {
  Q_OBJECT

 public:
  explicit ChainInputs(ChainPlanner& planner, QWidget* parent = nullptr);

  // Another chain in place of the one that there is; the rest stays.
  void choose(const QString& chain);
  void browse();  // a file of one
  // What is in the fields, whether it has an answer or not.
  ChainDesign asked() const;
  // Whether what is typed is still to be asked.
  bool isTyping() const { return rest_.isActive(); }
  // What is wrong with the chain or the machine; empty if nothing is.
  QString problem() const;

  QPlainTextEdit* chain() const { return chain_; }
  QLineEdit* sizes() const { return sizes_; }
  QLineEdit* order() const { return order_; }
  QComboBox* type() const { return type_; }
  QComboBox* machine() const { return machine_; }
  QMenu* suites() const { return suites_; }
  QLineEdit* knobs() const { return knobs_; }
  QCheckBox* tilesAlone() const { return tilesAlone_; }
  QCheckBox* overlap() const { return overlap_; }
  // Of the machine's explicit levels; none where it has no such.
  const std::vector<KnobRow*>& levelKnobs() const { return levelKnobs_; }
  AmountRow& memory() const { return *memory_; }
  AmountRow& diskRead() const { return *read_; }
  AmountRow& diskWrite() const { return *write_; }
  AmountRow& diskTransfer() const { return *transfer_; }

 private:
  QWidget* chainWidgets();
  void makeRows();
  void fillSuites();
  void typed();  // the chain, which has come to rest
  void ask();
  void follow();  // the planner
  void showRows();
  void showLevelKnobs();

  ChainPlanner& planner_;
  QPlainTextEdit* chain_;
  QPushButton* suitesButton_;
  QMenu* suites_;
  QLineEdit *sizes_, *order_, *knobs_;
  QComboBox *type_, *machine_;
  QFormLayout* form_;
  QLabel* problem_;
  AmountRow *memory_ = nullptr, *read_ = nullptr, *write_ = nullptr, *transfer_ = nullptr;
  QCheckBox *tilesAlone_, *overlap_;
  QVBoxLayout* levelRows_;
  std::vector<KnobRow*> levelKnobs_;
  std::string levelsOf_;  // the machine of which they are
  QTimer rest_;
  ChainDesign shown_;  // what the rows have
  bool following_ = false;
};

}  // namespace tcsim::gui
