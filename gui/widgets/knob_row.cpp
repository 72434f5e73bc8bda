#include "gui/widgets/knob_row.hpp"

#include <fmt/format.h>

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
#include "core/units/text.hpp"
#include "gui/charts/words.hpp"
#include "gui/studio/studio.hpp"
#include "gui/widgets/layouts.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

std::string settingText(const Knob& knob, double value) {
  switch (knob.unit) {
    case KnobUnit::bytes: {
      if (value < 1024) return exact(knob, value) + "B";
      // 1/64 of the power of two below, in whole KiB.
      const double step = std::max(1024.0, std::exp2(std::floor(std::log2(value))) / 64);
      return to_text(Bytes(std::llround(std::round(value / step) * step)));
    }
    case KnobUnit::bytes_per_second:
    case KnobUnit::bytes_per_cycle:
    case KnobUnit::hertz:
      return display(knob, value);
    case KnobUnit::cycles:
    case KnobUnit::number:
      return fmt::format("{:.3g}", value);
    case KnobUnit::count:
    case KnobUnit::bits:
      break;
  }
  return exact(knob, value);
}

std::string fieldText(const Knob& knob, double value) { return shown(knob, value); }

std::string typedText(const Knob& knob, const std::string& typed) {
  std::string text = typed;
  std::erase(text, ' ');
  KnobUnit unit = knob.unit;
  const double value = parse_value(knob, text, unit);
  if (text.ends_with('x')) return settingText(knob, value);
  return text;
}

double factorAt(int position) { return std::exp2(4.0 * position / sliderSteps); }

int positionOf(double factor) {
  return std::clamp(static_cast<int>(std::lround(std::log2(factor) * sliderSteps / 4)),
                    -sliderSteps, sliderSteps);
}

KnobRow::KnobRow(Knob base, const QString& label, QWidget* parent)
    : QWidget(parent),
      base_(std::move(base)),
      name_(new QLabel(label)),
      slider_(new QSlider(Qt::Horizontal)),
      field_(new QLineEdit),
      reset_(new QToolButton),
      error_(new QLabel) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(0);
  slider_->setRange(-sliderSteps, sliderSteps);
  slider_->setSingleStep(sliderSteps / 40);
  slider_->setPageStep(sliderSteps / 4);  // twice as much
  slider_->setMinimumWidth(60);
  keepFromWheel(slider_);
  const QString full = QString::fromStdString(base_.name);
  slider_->setAccessibleName(full);
  slider_->setToolTip(tr("%1, from 1/16 to 16 times the machine file's").arg(full));
  slider_->setObjectName(full);
  field_->setAccessibleName(tr("%1, value").arg(full));
  field_->setToolTip(tr("A value with its unit, or a factor such as 1.5x"));
  reset_->setText(QStringLiteral("\u21ba"));
  reset_->setAutoRaise(true);
  reset_->setAccessibleName(tr("reset %1").arg(full));
  reset_->setToolTip(tr("Back to the machine file's %1")
                         .arg(QString::fromStdString(fieldText(base_, base_.base))));
  error_->setWordWrap(true);
  error_->hide();
  name_->setBuddy(field_);
  colour();
  grid->addWidget(name_, 0, 0);
  grid->addWidget(slider_, 0, 1);
  grid->addWidget(field_, 0, 2);
  grid->addWidget(reset_, 0, 3);
  grid->addWidget(error_, 1, 0, 1, 4);
  connect(slider_, &QSlider::sliderPressed, this, [this] { gesture_ = Studio::newGesture(); });
  connect(slider_, &QSlider::sliderReleased, this, [this] { gesture_ = 0; });
  connect(slider_, &QSlider::valueChanged, this, &KnobRow::slid);
  connect(field_, &QLineEdit::editingFinished, this, &KnobRow::typed);
  connect(reset_, &QToolButton::clicked, this, [this] { emit edited(base_.name, "", 0); });
}

void KnobRow::align(const std::vector<KnobRow*>& rows) {
  int names = 0, fields = 0;
  for (const KnobRow* row : rows) {
    // A knob that is overridden is bold.
    QFont bold = row->font();
    bold.setBold(true);
    const QFontMetrics metrics(bold);
    names = std::max(names, metrics.horizontalAdvance(row->name_->text() + ' '));
    for (int p = -sliderSteps; p <= sliderSteps; p += sliderSteps / 40) {
      const std::string value = fieldText(row->base_, row->base_.base * factorAt(p));
      fields = std::max(fields, fieldWidth(*row->field_, bold, QString::fromStdString(value)));
    }
  }
  for (KnobRow* row : rows) {
    row->name_->setFixedWidth(names);
    row->field_->setFixedWidth(fields);
  }
}

void KnobRow::show(double value, bool overridden) {
  show(QString::fromStdString(fieldText(base_, value)), value / base_.base, overridden);
}

void KnobRow::showWritten(const QString& text, double factor) { show(text, factor, true); }

void KnobRow::show(const QString& text, double factor, bool overridden) {
  // What is refused stays in the field until there is another value.
  if (text != shown_) refuse({});
  shown_ = text;
  const QSignalBlocker quiet(slider_);
  if (!slider_->isSliderDown()) slider_->setValue(positionOf(factor));
  // Most rows stay as they are while one is dragged, and need no painting.
  const bool typing = field_->hasFocus() && field_->isModified();
  if (!typing && refused_.isEmpty() && field_->text() != text) {
    field_->setText(text);
    field_->setCursorPosition(0);  // what is too long for it is seen from its beginning
  }
  QFont font = name_->font();
  if (font.bold() != overridden) {
    font.setBold(overridden);
    name_->setFont(font);
    field_->setFont(font);
    colour();
  }
  reset_->setEnabled(overridden);
}

// Roles that are not set here stay the desktop's.
void KnobRow::colour() {
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

void KnobRow::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

void KnobRow::setError(const QString& words) {
  if (impossible_ == words) return;
  impossible_ = words;
  tell();
}

void KnobRow::refuse(const QString& words) {
  if (refused_ == words) return;
  refused_ = words;
  tell();
}

void KnobRow::tell() {
  const QString& words = refused_.isEmpty() ? impossible_ : refused_;
  error_->setVisible(!words.isEmpty());
  error_->setText(words);
}

void KnobRow::slid(int position) {
  constexpr qint64 pauseMs = 800;
  int gesture = gesture_;
  if (gesture == 0) {
    if (!sinceKey_.isValid() || sinceKey_.elapsed() > pauseMs) keyGesture_ = Studio::newGesture();
    sinceKey_.start();
    gesture = keyGesture_;
  }
  refuse({});
  const double value = base_.base * factorAt(position);
  emit edited(base_.name, position == 0 ? std::string() : settingText(base_, value), gesture);
}

void KnobRow::typed() {
  if (!field_->isModified()) return;
  field_->setModified(false);
  try {
    const std::string text = typedText(base_, field_->text().toStdString());
    refuse({});
    emit edited(base_.name, text, 0);
  } catch (const Error& e) {
    refuse(QString::fromUtf8(e.what()));
  }
}

}  // namespace tcsim::gui
