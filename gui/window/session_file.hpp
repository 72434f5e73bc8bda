// The file of the window's session: opening, saving, and asking before edits are lost.
#pragma once

#include <QObject>
#include <QString>

class QWidget;

namespace tcsim::gui {

class Studio;

class SessionFile : public QObject {
  Q_OBJECT

 public:
  // Questions and complaints are boxes over `window`.
  SessionFile(Studio& studio, QWidget* window);

  // Empty while the session has none.
  const QString& name() const { return name_; }
  void forget();

  // Each says in a box why not, and returns false.
  bool open(const QString& file);
  bool saveTo(const QString& file);
  bool save();    // asks for a name where there is none
  bool saveAs();  // asks for a name
  void browse();
  // Asks to save what is not saved; false: stay.
  bool mayDrop();

 signals:
  void changed();

 private:
  void complain(const QString& why);

  Studio& studio_;
  QWidget* window_;
  QString name_;
};

}  // namespace tcsim::gui
