#include "gui/chain/amount_row.hpp"

#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/error.hpp"

namespace tcsim::gui {

namespace {

// Slider positions from a value to twice that.
constexpr int perDoubling = 40;

}  // namespace

AmountRow::AmountRow(AmountText text, const QString& label, const QString& name,
                     const QString& help, bool resettable, QWidget* parent)
    : ValueRow({label, name, help, tr("A value with its unit"), tr("Back to the machine's")},
               parent),
      text_(std::move(text)) {
  slider()->setSingleStep(perDoubling / 10);
  slider()->setPageStep(perDoubling);
  QSizePolicy kept = resetButton()->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  resetButton()->setSizePolicy(kept);
  resetButton()->setVisible(resettable);
  errorLabel()->setAccessibleName(tr("what is wrong with %1").arg(name));
  connect(slider(), &QSlider::valueChanged, this, &AmountRow::slid);
  connect(field(), &QLineEdit::editingFinished, this, &AmountRow::typed);
  connect(resetButton(), &QToolButton::clicked, this, [this] {
    refuse({});
    emit edited({});
  });
}

QStringList AmountRow::widest() const { return {"888.8 MiB/s"}; }

double AmountRow::valueAt(int position) const {
  return std::min(high_, low_ * std::exp2(static_cast<double>(position) / perDoubling));
}

void AmountRow::setRange(double low, double high) {
  if (low == low_ && high == high_ && slider()->maximum() > 0) return;
  low_ = low;
  high_ = high;
  const QSignalBlocker quiet(slider());
  slider()->setRange(0, static_cast<int>(std::lround(std::log2(high / low) * perDoubling)));
}

void AmountRow::show(double value, bool given) {
  showValue(static_cast<int>(std::lround(std::log2(value / low_) * perDoubling)),
            QString::fromStdString(text_.shown(value)), given);
}

bool AmountRow::isDown() const { return slider()->isSliderDown(); }

void AmountRow::slid(int position) {
  refuse({});
  emit edited(text_.written(valueAt(position)));
}

void AmountRow::typed() {
  if (!field()->isModified()) return;
  field()->setModified(false);
  std::string words = field()->text().toStdString();
  std::erase(words, ' ');
  try {
    text_.read(words);
    refuse({});
    emit edited(words);
  } catch (const Error& e) {
    refuse(QString::fromUtf8(e.what()));
  }
}

}  // namespace tcsim::gui
