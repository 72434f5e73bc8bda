// A schedule's text whose tiles are turned and whose loops are moved: a tile is dragged to either
// side, or Ctrl+Up and Ctrl+Down change the one at the cursor, by whole register tiles; Alt+Up and
// Alt+Down move a line past the loop or pack around it or inside it.
#pragma once

#include <QPlainTextEdit>
#include <QString>
#include <optional>

namespace tcsim::gui {

// The text with the number at `column` of `line` (both from 0) larger or smaller by so many steps:
// of a loop over m or n the kernel's rows or columns, over k 8, of a kernel one. Never below one
// step; none where there is no tile.
std::optional<QString> withTileTurned(const QString& schedule, int line, int column, int steps);
// The text with the line and the next one exchanged, each indented as what stood there was. None
// unless both are loops or packs that stand around one thing.
std::optional<QString> withLinesExchanged(const QString& schedule, int line);

class ScheduleText : public QPlainTextEdit {
  Q_OBJECT

 public:
  explicit ScheduleText(QWidget* parent = nullptr);

 protected:
  void keyPressEvent(QKeyEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;

 private:
  void turn(int line, int column, int steps);
  void move(bool up);
  // Takes the place of the text, as one step of the box's own history.
  void replace(const QString& text, int line, int column);

  struct Drag {
    int line, column;  // of the tile
    int from;          // x of the mouse
    QString text;      // before
    bool turned;       // it has changed the text
  };
  std::optional<Drag> drag_;
};

}  // namespace tcsim::gui
