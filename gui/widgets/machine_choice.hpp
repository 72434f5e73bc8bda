// Machines to choose from.
#pragma once

#include <QString>

class QComboBox;
class QWidget;

namespace tcsim::gui {

// Shipped ones, this one ("host"), and a file that is asked for (""): their data is their name.
// Throws InputError where the shipped ones are not found; the others are there then.
void addMachines(QComboBox& box);
// The name of what is chosen, with a file asked for; empty: none was named.
QString chosenMachine(const QComboBox& box, QWidget* parent);
// Chooses it, and adds it where it is not there.
void showMachine(QComboBox& box, const QString& name);

}  // namespace tcsim::gui
