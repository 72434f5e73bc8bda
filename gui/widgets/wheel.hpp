// The wheel scrolls what it is over.
#pragma once

class QWidget;

namespace tcsim::gui {

// A slider, a choice or a number that comes by under the wheel stays as it is; the wheel turns it
// only while it has the focus, which the wheel does not give.
void keepFromWheel(QWidget* control);

}  // namespace tcsim::gui
