#include "gui/widgets/value_row.hpp"

#include <QEvent>
#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QSignalBlocker>
#include <QSlider>
#include <QToolButton>
#include <algorithm>

#include "gui/widgets/layouts.hpp"
#include "gui/widgets/theme.hpp"
#include "gui/widgets/wheel.hpp"

namespace tcsim::gui {

ValueRow::ValueRow(const Words& words, QWidget* parent)
    : QWidget(parent),
      name_(new QLabel(words.label)),
      slider_(new QSlider(Qt::Horizontal)),
      field_(new QLineEdit),
      reset_(new QToolButton),
      error_(new QLabel) {
  auto* grid = new QGridLayout(this);
  grid->setContentsMargins(0, 0, 0, 0);
  grid->setHorizontalSpacing(6);
  grid->setVerticalSpacing(0);
  slider_->setMinimumWidth(60);
  slider_->setAccessibleName(words.name);
  slider_->setToolTip(words.ofSlider);
  keepFromWheel(slider_);
  field_->setAccessibleName(tr("%1, value").arg(words.name));
  field_->setToolTip(words.ofField);
  reset_->setText(QStringLiteral("\u21ba"));
  reset_->setAutoRaise(true);
  reset_->setAccessibleName(tr("reset %1").arg(words.name));
  reset_->setToolTip(words.ofReset);
  error_->setWordWrap(true);
  error_->hide();
  name_->setBuddy(field_);
  colour();
  grid->addWidget(name_, 0, 0);
  grid->addWidget(slider_, 0, 1);
  grid->addWidget(field_, 0, 2);
  grid->addWidget(reset_, 0, 3);
  grid->addWidget(error_, 1, 0, 1, 4);
}

void ValueRow::align(const std::vector<ValueRow*>& rows) {
  int names = 0, fields = 0;
  for (const ValueRow* row : rows) {
    // A value that is given is bold.
    QFont bold = row->font();
    bold.setBold(true);
    names =
        std::max(names, QFontMetrics(bold).horizontalAdvance(row->name_->text().remove('&') + ' '));
    for (const QString& value : row->widest()) {
      fields = std::max(fields, fieldWidth(*row->field_, bold, value));
    }
  }
  for (ValueRow* row : rows) {
    row->name_->setFixedWidth(names);
    row->field_->setFixedWidth(fields);
  }
}

void ValueRow::showValue(int position, const QString& text, bool given) {
  const QSignalBlocker quiet(slider_);
  if (!slider_->isSliderDown()) slider_->setValue(position);
  // Most rows stay as they are while one is dragged, and need no painting.
  const bool typing = field_->hasFocus() && field_->isModified();
  if (!typing && refused_.isEmpty() && field_->text() != text) {
    field_->setText(text);
    field_->setCursorPosition(0);  // what is too long for it is seen from its beginning
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

// Roles that are not set here stay the desktop's.
void ValueRow::colour() {
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

void ValueRow::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange) colour();
}

void ValueRow::setError(const QString& words) {
  if (impossible_ == words) return;
  impossible_ = words;
  tell();
}

void ValueRow::refuse(const QString& words) {
  if (refused_ == words) return;
  refused_ = words;
  tell();
}

void ValueRow::tell() {
  error_->setVisible(!error().isEmpty());
  error_->setText(error());
}

}  // namespace tcsim::gui
