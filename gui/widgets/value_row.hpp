// One value: its name, a slider, a field that takes units, a button that gives the usual value
// back, and below them why there is no answer.
#pragma once

#include <QStringList>
#include <QWidget>
#include <vector>

class QLabel;
class QLineEdit;
class QSlider;
class QToolButton;

namespace tcsim::gui {

class ValueRow : public QWidget {
  Q_OBJECT

 public:
  // Makes names and fields of all rows as wide as the widest takes, bold or not.
  static void align(const std::vector<ValueRow*>& rows);

  // Why its value is impossible, below the row; nothing if empty.
  void setError(const QString& words);
  QString error() const { return refused_.isEmpty() ? impossible_ : refused_; }
  QSlider* slider() const { return slider_; }
  QLineEdit* field() const { return field_; }
  QToolButton* resetButton() const { return reset_; }

 protected:
  struct Words {
    QString label;                       // may have a mnemonic
    QString name;                        // for screen readers
    QString ofSlider, ofField, ofReset;  // tool tips
  };
  ValueRow(const Words& words, QWidget* parent);

  // Values that the field has to have room for.
  virtual QStringList widest() const = 0;
  // What somebody types, or has typed and is refused, stays. A given value can be given back.
  void showValue(int position, const QString& text, bool given);
  // Why what is in the field is no value; nothing if empty.
  void refuse(const QString& words);
  QLabel* errorLabel() const { return error_; }

  void changeEvent(QEvent* event) override;

 private:
  void colour();
  void tell();

  QString refused_, impossible_;
  QLabel* name_;
  QSlider* slider_;
  QLineEdit* field_;
  QToolButton* reset_;
  QLabel* error_;
};

}  // namespace tcsim::gui
