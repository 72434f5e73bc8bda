#include "gui/widgets/knob_row.hpp"

#include <fmt/format.h>

#include <QLineEdit>
#include <QSlider>
#include <QToolButton>
#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/units/text.hpp"
#include "gui/charts/words.hpp"
#include "gui/studio/studio.hpp"

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
    : ValueRow({label, QString::fromStdString(base.name),
                tr("%1, from 1/16 to 16 times the machine file's")
                    .arg(QString::fromStdString(base.name)),
                tr("A value with its unit, or a factor such as 1.5x"),
                tr("Back to the machine file's %1")
                    .arg(QString::fromStdString(fieldText(base, base.base)))},
               parent),
      base_(std::move(base)) {
  slider()->setRange(-sliderSteps, sliderSteps);
  slider()->setSingleStep(sliderSteps / 40);
  slider()->setPageStep(sliderSteps / 4);  // twice as much
  slider()->setObjectName(QString::fromStdString(base_.name));
  connect(slider(), &QSlider::sliderPressed, this, [this] { gesture_ = Studio::newGesture(); });
  connect(slider(), &QSlider::sliderReleased, this, [this] { gesture_ = 0; });
  connect(slider(), &QSlider::valueChanged, this, &KnobRow::slid);
  connect(field(), &QLineEdit::editingFinished, this, &KnobRow::typed);
  connect(resetButton(), &QToolButton::clicked, this, [this] { emit edited(base_.name, "", 0); });
}

QStringList KnobRow::widest() const {
  QStringList values;
  for (int p = -sliderSteps; p <= sliderSteps; p += sliderSteps / 40) {
    values.append(QString::fromStdString(fieldText(base_, base_.base * factorAt(p))));
  }
  return values;
}

void KnobRow::show(double value, bool overridden) {
  show(QString::fromStdString(fieldText(base_, value)), value / base_.base, overridden);
}

void KnobRow::showWritten(const QString& text, double factor) { show(text, factor, true); }

void KnobRow::show(const QString& text, double factor, bool overridden) {
  // What is refused stays in the field until there is another value.
  if (text != shown_) refuse({});
  shown_ = text;
  showValue(positionOf(factor), text, overridden);
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
  if (!field()->isModified()) return;
  field()->setModified(false);
  try {
    const std::string text = typedText(base_, field()->text().toStdString());
    refuse({});
    emit edited(base_.name, text, 0);
  } catch (const Error& e) {
    refuse(QString::fromUtf8(e.what()));
  }
}

}  // namespace tcsim::gui
