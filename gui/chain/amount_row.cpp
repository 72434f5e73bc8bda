#include "gui/chain/amount_row.hpp"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

namespace {

// Slider positions from a value to twice that.
constexpr int perDoubling = 40;

}  // namespace

AmountRow::AmountRow(AmountText text, const QString& label, const QString& name,
                     const QString& help, bool resettable, QWidget* parent)
    : QWidget(parent),
      text_(std::move(text)),
      name_(new QLabel(label)),
      slider_(new QSlider(Qt::Horizontal)),
      field_(new QLineEdit),
      reset_(new QToolButton),
      error_(new QLabel) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(0);
  slider_->setSingleStep(perDoubling / 10);
  slider_->setPageStep(perDoubling);
  slider_->setMinimumWidth(60);
  slider_->setAccessibleName(name);
  slider_->setToolTip(help);
  keepFromWheel(slider_);
  field_->setAccessibleName(tr("%1, value").arg(name));
  field_->setToolTip(tr("A value with its unit"));
  reset_->setText(QStringLiteral("\u21ba"));
  reset_->setAutoRaise(true);
  reset_->setAccessibleName(tr("reset %1").arg(name));
  reset_->setToolTip(tr("Back to the machine's"));
  QSizePolicy kept = reset_->sizePolicy();
  kept.setRetainSizeWhenHidden(true);
  reset_->setSizePolicy(kept);
  reset_->setVisible(resettable);
  error_->setWordWrap(true);
  error_->setAccessibleName(tr("what is wrong with %1").arg(name));
  error_->hide();
  name_->setBuddy(field_);
  grid->addWidget(name_, 0, 0);
  grid->addWidget(slider_, 0, 1);
  grid->addWidget(field_, 0, 2);
  grid->addWidget(reset_, 0, 3);
  grid->addWidget(error_, 1, 0, 1, 4);
  colour();
  connect(slider_, &QSlider::valueChanged, this, &AmountRow::slid);
  connect(field_, &QLineEdit::editingFinished, this, &AmountRow::typed);
  connect(reset_, &QToolButton::clicked, this, [this] {
    refused_.clear();
    tell();
    emit edited({});
  });
}

void AmountRow::align(const std::vector<AmountRow*>& rows) {
  int names = 0, fields = 0;
  for (const AmountRow* row : rows) {
    QFont bold = row->font();
    bold.setBold(true);  // as a value that is given
    names =
        std::max(names, QFontMetrics(bold).horizontalAdvance(row->name_->text().remove('&') + ' '));
    fields = std::max(fields, fieldWidth(*row->field_, bold, "888.8 MiB/s"));
  }
  for (AmountRow* row : rows) {
    row->name_->setFixedWidth(names);
    row->field_->setFixedWidth(fields);
  }
}

double AmountRow::valueAt(int position) const {
  return std::min(high_, low_ * std::exp2(static_cast<double>(position) / perDoubling));
}

void AmountRow::setRange(double low, double high) {
  if (low == low_ && high == high_ && slider_->maximum() > 0) return;
  low_ = low;
  high_ = high;
  const QSignalBlocker quiet(slider_);
  slider_->setRange(0, static_cast<int>(std::lround(std::log2(high / low) * perDoubling)));
}

void AmountRow::show(double value, bool given) {
  const QSignalBlocker quiet(slider_);
  if (!slider_->isSliderDown()) {
    slider_->setValue(static_cast<int>(std::lround(std::log2(value / low_) * perDoubling)));
  }
  const QString words = QString::fromStdString(text_.shown(value));
  const bool typing = field_->hasFocus() && field_->isModified();
  if (!typing && refused_.isEmpty() && field_->text() != words) {
    field_->setText(words);
    field_->setCursorPosition(0);
  }
  QFont font = name_->font();
  if (font.bold() != given) {
    font.setBold(given);
    name_->setFont(font);
    field_->setFont(font);
    colour();
  }
  reset_->setEnabled(given);
}

QString AmountRow::error() const { return refused_.isEmpty() ? impossible_ : refused_; }

bool AmountRow::isDown() const { return slider_->isSliderDown(); }

void AmountRow::setError(const QString& words) {
  if (impossible_ == words) return;
  impossible_ = words;
  tell();
}

void AmountRow::tell() {
  error_->setText(error());
  error_->setVisible(!error().isEmpty());
}

void AmountRow::colour() {
  const Theme theme = Theme::of(palette());
  QPalette marked, wrong;
  if (name_->font().bold()) {
    marked.setColor(QPalette::WindowText, theme.accent());
    marked.setColor(QPalette::Text, theme.accent());
  }
  wrong.setColor(QPalette::WindowText, theme.warning());
  name_->setPalette(marked);
  field_->setPalette(marked);
  error_->setPalette(wrong);
}

void AmountRow::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

void AmountRow::slid(int position) {
  refused_.clear();
  tell();
  emit edited(text_.written(valueAt(position)));
}

void AmountRow::typed() {
  if (!field_->isModified()) return;
  field_->setModified(false);
  std::string words = field_->text().toStdString();
  std::erase(words, ' ');
  try {
    text_.read(words);
    refused_.clear();
    tell();
    emit edited(words);
  } catch (const Error& e) {
    refused_ = QString::fromUtf8(e.what());
    tell();
  }
}

}  // namespace tcsim::gui
