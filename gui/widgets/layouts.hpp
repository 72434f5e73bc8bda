// What makes a page fit a window that is smaller than the page.
#pragma once

#include <QLabel>
#include <QLayout>
#include <QProgressBar>
#include <QStatusBar>

class QLineEdit;

namespace tcsim::gui {

// The page, with scroll bars where the window is smaller than it. `name` is for screen readers.
QWidget* scrolled(QWidget* page, const QString& name);

// A window of that size, or as much of it as the screen has.
void resizeOnScreen(QWidget& window, QSize size);

// How wide a field has to be to show `text` in `font`.
int fieldWidth(const QLineEdit& field, const QFont& font, const QString& text);

// Widgets from left to right, on as many lines as they take.
class FlowLayout : public QLayout {
 public:
  explicit FlowLayout(QWidget* parent);
  ~FlowLayout() override;

  // A name and the widget that it names stay on a line.
  void addPair(QWidget* name, QWidget* widget);

  void addItem(QLayoutItem* item) override { items_.append(item); }
  int count() const override { return static_cast<int>(items_.size()); }
  QLayoutItem* itemAt(int i) const override { return items_.value(i); }
  QLayoutItem* takeAt(int i) override { return i < count() ? items_.takeAt(i) : nullptr; }
  bool hasHeightForWidth() const override { return true; }
  int heightForWidth(int width) const override { return place(QRect(0, 0, width, 0), false); }
  Qt::Orientations expandingDirections() const override { return {}; }
  QSize sizeHint() const override;
  QSize minimumSize() const override;
  void setGeometry(const QRect& area) override;

 private:
  int place(const QRect& area, bool now) const;  // returns the height

  QList<QLayoutItem*> items_;
};

// Words that come and go: as high as the most that have been there since its width changed, so
// that what is around it stays where it is.
class ReadingLabel : public QLabel {
  Q_OBJECT

 public:
  explicit ReadingLabel(QWidget* parent = nullptr);
  void read(const QString& words);

 protected:
  void resizeEvent(QResizeEvent* event) override;
};

// Shortens a message that is longer than the room for it; the tool tip has all of it.
class StatusLine : public QStatusBar {
  Q_OBJECT

 public:
  explicit StatusLine(QWidget* parent = nullptr);

 protected:
  void paintEvent(QPaintEvent* event) override;
};

// How far work is, on a status line.
class ShareBar : public QProgressBar {
  Q_OBJECT

 public:
  explicit ShareBar(QWidget* parent = nullptr);
  void setShare(double share);  // in [0, 1]

 private:
  static constexpr int steps = 1000;
};

}  // namespace tcsim::gui
