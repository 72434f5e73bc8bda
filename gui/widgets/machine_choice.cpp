#include "gui/widgets/machine_choice.hpp"

#include <QComboBox>
#include <QFileDialog>
#include <QObject>

#include "core/data/shipped.hpp"

namespace tcsim::gui {

void addMachines(QComboBox& box) {
  box.addItem(QObject::tr("this machine (measured)"), "host");
  box.insertSeparator(box.count());
  box.addItem(QObject::tr("open a machine file..."), "");
  int at = 0;
  for (const std::string& name : shipped_machines()) {
    const QString words = QString::fromStdString(name);
    box.insertItem(at++, words, words);
  }
}

QString chosenMachine(const QComboBox& box, QWidget* parent) {
  const QString name = box.currentData().toString();
  if (!name.isEmpty()) return name;
  return QFileDialog::getOpenFileName(parent, QObject::tr("Open a machine file"), {},
                                      QObject::tr("Machine files (*.toml);;All files (*)"));
}

void showMachine(QComboBox& box, const QString& name) {
  if (box.findData(name) < 0) box.insertItem(0, name, name);
  box.setCurrentIndex(box.findData(name));
}

}  // namespace tcsim::gui
