// One number that is given to tcsim fuse: its name, a logarithmic slider, a field that takes units,
// and where there is one a button that gives the usual value back.
#pragma once

#include <QWidget>
#include <functional>
#include <string>
#include <vector>

class QLabel;
class QLineEdit;
class QSlider;
class QToolButton;

namespace tcsim::gui {

// How an amount is written and read.
struct AmountText {
  std::function<std::string(double)> shown;        // "2 GB/s"
  std::function<std::string(double)> written;      // a value near it that is short: "2GB/s"
  std::function<double(const std::string&)> read;  // of what is written; throws UsageError
};

class AmountRow : public QWidget {
  Q_OBJECT

 public:
  // `label` may have a mnemonic; `name` is for screen readers.
  AmountRow(AmountText text, const QString& label, const QString& name, const QString& help,
            bool resettable, QWidget* parent = nullptr);

  // Makes names and fields of all rows as wide as the widest takes.
  static void align(const std::vector<AmountRow*>& rows);

  // The ends of the slider.
  void setRange(double low, double high);
  void show(double value, bool given);
  // Why it has no answer, below the row; nothing if empty.
  void setError(const QString& words);
  QString error() const;
  bool isDown() const;  // somebody drags

  QSlider* slider() const { return slider_; }
  QLineEdit* field() const { return field_; }
  QToolButton* resetButton() const { return reset_; }

 signals:
  // As the option takes it; empty: the usual value.
  void edited(const std::string& written);

 protected:
  void changeEvent(QEvent* event) override;

 private:
  void colour();
  void tell();
  void slid(int position);
  void typed();
  double valueAt(int position) const;

  AmountText text_;
  double low_ = 1, high_ = 2;
  QString refused_, impossible_;
  QLabel* name_;
  QSlider* slider_;
  QLineEdit* field_;
  QToolButton* reset_;
  QLabel* error_;
};

}  // namespace tcsim::gui
