#include "gui/widgets/wheel.hpp"

#include <QEvent>
#include <QWidget>

namespace tcsim::gui {

namespace {

class Guard : public QObject {
 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override {
    if (event->type() != QEvent::Wheel || static_cast<QWidget*>(watched)->hasFocus()) return false;
    event->ignore();  // it goes to what scrolls
    return true;
  }
};

}  // namespace

void keepFromWheel(QWidget* control) {
  control->setFocusPolicy(Qt::StrongFocus);
  control->installEventFilter(new Guard(control));
}

}  // namespace tcsim::gui
