// Every text that is drawn, with where it is drawn: what a picture test needs to know whether words
// are cut or lie on one another.
#pragma once

#include <QPaintDevice>
#include <QRectF>
#include <QString>
#include <memory>
#include <string>
#include <vector>

class QWidget;

namespace tcsim::gui {

struct DrawnText {
  QString text;
  QRectF at;       // from the font's ascent to its descent
  QRectF clip;     // what the painter lets through
  std::string by;  // the widget
};

// Draws nothing, and keeps the texts.
class TextRecorder : public QPaintDevice {
 public:
  TextRecorder(const QWidget& like, QSize size);  // of the widget's resolution
  ~TextRecorder() override;

  QPaintEngine* paintEngine() const override;
  std::vector<DrawnText> texts;

 protected:
  int metric(PaintDeviceMetric metric) const override;

 private:
  int dpi_;
  QSize size_;
  std::unique_ptr<QPaintEngine> engine_;
};

// What a window, or a widget in it, shows, in its coordinates, and what is wrong with it, in words: texts that are cut
// where no scroll bar leads to the rest, and texts on one another.
struct Shown {
  std::vector<DrawnText> texts;
  std::vector<std::string> faults;
};
Shown shownBy(QWidget& window);

// Of a picture that a view paints on a device.
std::vector<std::string> faultsOf(const std::vector<DrawnText>& texts, const QRectF& picture);

}  // namespace tcsim::gui
