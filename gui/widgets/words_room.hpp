// Room for words: lines that fit a width, and places where none lies on another.
#pragma once

#include <QFont>
#include <QRectF>
#include <QString>
#include <QStringList>
#include <optional>
#include <vector>

namespace tcsim::gui {

// Lines no wider than `width`, broken between words where there are any. Where there would be more
// than `most` lines, the last one ends in three dots.
QStringList wrapped(const QString& words, const QFont& font, double width, int most);

// Rectangles within an area that do not overlap.
class Places {
 public:
  explicit Places(const QRectF& area) : area_(area) {}

  const QRectF& area() const { return area_; }
  void take(const QRectF& place) { taken_.push_back(place); }
  // The first that is within the area and free; it is taken from now on.
  std::optional<QRectF> firstFree(const std::vector<QRectF>& places);

 private:
  QRectF area_;
  std::vector<QRectF> taken_;
};

}  // namespace tcsim::gui
