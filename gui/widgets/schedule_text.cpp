#include "gui/widgets/schedule_text.hpp"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QRegularExpression>
#include <QTextBlock>
#include <algorithm>
#include <cmath>

namespace tcsim::gui {

namespace {

constexpr int stepOfK = 8;
constexpr int pixelsOfStep = 6;

// A tile in a line: where its digits are, and by how much it is turned.
struct Tile {
  qsizetype at = 0, length = 0;
  qint64 value = 0, step = 1;
};

// The rows or columns of the first kernel.
qint64 stepOf(const QString& schedule, const QString& group) {
  static const QRegularExpression kernel("\\bkernel (\\d{1,6})x(\\d{1,6})");
  const auto match = kernel.match(schedule);
  const bool rows = group == "m", columns = group == "n";
  if (!match.hasMatch() || !(rows || columns)) return group == "batch" ? 1 : stepOfK;
  return std::max<qint64>(1, match.captured(rows ? 1 : 2).toLongLong());
}

std::optional<Tile> tileAt(const QString& schedule, const QString& line, int column) {
  static const QRegularExpression tiles(
      "\\bfor (m|n|k|batch) by (?<loop>\\d{1,12})\\b|\\bkernel "
      "(?<rows>\\d{1,6})x(?<columns>\\d{1,6})");
  for (auto all = tiles.globalMatch(line); all.hasNext();) {
    const auto match = all.next();
    for (const char* part : {"loop", "rows", "columns"}) {
      const qsizetype at = match.capturedStart(QLatin1String(part));
      const qsizetype length = match.capturedLength(QLatin1String(part));
      if (at < 0 || column < at || column > at + length) continue;
      const bool loop = std::string_view(part) == "loop";
      return Tile{at, length, match.captured(QLatin1String(part)).toLongLong(),
                  loop ? stepOf(schedule, match.captured(1)) : 1};
    }
  }
  return {};
}

bool standsAroundOneThing(const QString& line) {
  static const QRegularExpression opening("^\\s*(for|pack) [^{}]*\\{\\s*$");
  return opening.match(line).hasMatch();
}

QString indentOf(const QString& line) {
  return line.left(std::find_if(line.begin(), line.end(), [](QChar c) { return !c.isSpace(); }) -
                   line.begin());
}

}  // namespace

std::optional<QString> withTileTurned(const QString& schedule, int line, int column, int steps) {
  QStringList lines = schedule.split('\n');
  if (line < 0 || line >= lines.size()) return {};
  const auto tile = tileAt(schedule, lines[line], column);
  if (!tile) return {};
  // One that is no multiple comes to the next one that is.
  const bool up = steps > 0;
  const qint64 whole = (tile->value + (up ? 0 : tile->step - 1)) / tile->step + steps;
  const qint64 value = std::max<qint64>(1, whole) * tile->step;
  if (!up && value > tile->value) return {};  // it is less than a step
  lines[line].replace(tile->at, tile->length, QString::number(value));
  return lines.join('\n');
}

std::optional<QString> withLinesExchanged(const QString& schedule, int line) {
  QStringList lines = schedule.split('\n');
  if (line < 0 || line + 1 >= lines.size()) return {};
  QString &outer = lines[line], &inner = lines[line + 1];
  if (!standsAroundOneThing(outer) || !standsAroundOneThing(inner)) return {};
  const QString before = indentOf(outer), behind = indentOf(inner);
  const QString moved = behind + outer.trimmed();
  outer = before + inner.trimmed();
  inner = moved;
  return lines.join('\n');
}

ScheduleText::ScheduleText(QWidget* parent) : QPlainTextEdit(parent) {
  viewport()->setMouseTracking(true);
}

void ScheduleText::replace(const QString& text, int line, int column) {
  QTextCursor all(document());
  if (drag_ && drag_->turned) {
    all.joinPreviousEditBlock();  // a drag is one step
  } else {
    all.beginEditBlock();
  }
  if (drag_) drag_->turned = true;
  all.select(QTextCursor::Document);
  all.insertText(text);
  all.endEditBlock();
  const QTextBlock block = document()->findBlockByNumber(line);
  QTextCursor cursor(block);
  cursor.setPosition(block.position() + std::min(column, std::max(0, block.length() - 1)));
  setTextCursor(cursor);
}

void ScheduleText::turn(int line, int column, int steps) {
  if (const auto text = withTileTurned(toPlainText(), line, column, steps)) {
    replace(*text, line, column);
  }
}

void ScheduleText::move(bool up) {
  const int line = textCursor().blockNumber(), column = textCursor().positionInBlock();
  if (const auto text = withLinesExchanged(toPlainText(), up ? line - 1 : line)) {
    replace(*text, up ? line - 1 : line + 1, column);
  }
}

void ScheduleText::keyPressEvent(QKeyEvent* event) {
  const bool up = event->key() == Qt::Key_Up, down = event->key() == Qt::Key_Down;
  const auto with = event->modifiers() & ~Qt::KeypadModifier;
  if (isReadOnly() || !(up || down) || (with != Qt::ControlModifier && with != Qt::AltModifier)) {
    return QPlainTextEdit::keyPressEvent(event);
  }
  if (with == Qt::AltModifier) return move(up);
  turn(textCursor().blockNumber(), textCursor().positionInBlock(), up ? 1 : -1);
}

void ScheduleText::mousePressEvent(QMouseEvent* event) {
  QPlainTextEdit::mousePressEvent(event);
  if (isReadOnly() || event->button() != Qt::LeftButton) return;
  const QTextCursor at = cursorForPosition(event->position().toPoint());
  const QString text = toPlainText();
  if (tileAt(text, at.block().text(), at.positionInBlock())) {
    drag_ =
        Drag{at.blockNumber(), at.positionInBlock(), event->position().toPoint().x(), text, false};
  }
}

void ScheduleText::mouseMoveEvent(QMouseEvent* event) {
  if (!(event->buttons() & Qt::LeftButton)) drag_.reset();
  if (!drag_) {
    const QTextCursor at = cursorForPosition(event->position().toPoint());
    const bool tile = !isReadOnly() && event->buttons() == Qt::NoButton &&
                      tileAt(toPlainText(), at.block().text(), at.positionInBlock());
    viewport()->setCursor(tile ? Qt::SizeHorCursor : Qt::IBeamCursor);
    return QPlainTextEdit::mouseMoveEvent(event);
  }
  const int steps = (event->position().toPoint().x() - drag_->from) / pixelsOfStep;
  const auto text =
      steps == 0 ? drag_->text : withTileTurned(drag_->text, drag_->line, drag_->column, steps);
  if (text && *text != toPlainText()) replace(*text, drag_->line, drag_->column);
}

void ScheduleText::mouseReleaseEvent(QMouseEvent* event) {
  drag_.reset();
  QPlainTextEdit::mouseReleaseEvent(event);
}

}  // namespace tcsim::gui
