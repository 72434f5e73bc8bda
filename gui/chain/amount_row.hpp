// One number that is given to tcsim fuse: its name, a logarithmic slider, a field that takes units,
// and where there is one a button that gives the usual value back.
#pragma once

#include <functional>
#include <string>

#include "gui/widgets/value_row.hpp"

namespace tcsim::gui {

// How an amount is written and read.
struct AmountText {
  std::function<std::string(double)> shown;        // "2 GB/s"
  std::function<std::string(double)> written;      // a value near it that is short: "2GB/s"
  std::function<double(const std::string&)> read;  // of what is written; throws UsageError
};

class AmountRow : public ValueRow {
  Q_OBJECT

 public:
  // `label` may have a mnemonic; `name` is for screen readers.
  AmountRow(AmountText text, const QString& label, const QString& name, const QString& help,
            bool resettable, QWidget* parent = nullptr);

  // The ends of the slider.
  void setRange(double low, double high);
  void show(double value, bool given);
  bool isDown() const;  // somebody drags

 signals:
  // As the option takes it; empty: the usual value.
  void edited(const std::string& written);

 private:
  QStringList widest() const override;
  void slid(int position);
  void typed();
  double valueAt(int position) const;

  AmountText text_;
  double low_ = 1, high_ = 2;
};

}  // namespace tcsim::gui
