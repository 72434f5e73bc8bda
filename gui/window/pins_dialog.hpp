// The designs that are put aside to compare with: their names, to edit, and what they are of.
#pragma once

#include <QDialog>

class QLabel;
class QPushButton;
class QTableWidget;
class QTableWidgetItem;

namespace tcsim::gui {

class Studio;

class PinsDialog : public QDialog {
  Q_OBJECT

 public:
  explicit PinsDialog(Studio& studio, QWidget* parent = nullptr);

  QTableWidget* table() const { return table_; }
  QString problem() const;  // why the last name was not taken; empty if it was

 private:
  void follow();
  void rename(const QTableWidgetItem* item);
  int chosen() const;  // a row; < 0: none
  void enableButtons();

  Studio& studio_;
  QTableWidget* table_;
  QLabel* problem_;
  QPushButton *swap_, *unpin_;
  bool following_ = false;  // the table is being filled, not edited
};

}  // namespace tcsim::gui
