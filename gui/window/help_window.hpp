// The pages of docs/, in a window of their own.
#pragma once

#include <QMainWindow>

class QTextBrowser;

namespace tcsim::gui {

class HelpWindow : public QMainWindow {
  Q_OBJECT

 public:
  explicit HelpWindow(QWidget* parent = nullptr);

  // "gui" or "whatif": docs/NAME.md. A heading may follow: "gui#views".
  void open(const QString& page);
  QTextBrowser& browser() { return *browser_; }

  // Names of the pages that ship with tcsim; empty where they are not there.
  static QStringList pages();

 private:
  QTextBrowser* browser_;
};

}  // namespace tcsim::gui
