// One knob of the machine: its name, a logarithmic slider around the machine file's value, a field
// that takes units, and a button that gives the file's value back.
#pragma once

#include <QElapsedTimer>

#include "core/explore/knob.hpp"
#include "gui/widgets/value_row.hpp"

namespace tcsim::gui {

// A value near `value` that is short to write, as --set takes it: "34.5MiB" as "35328KiB".
std::string settingText(const Knob& knob, double value);
// As the field shows it: "34.5 MiB", "7.279 B/cycle".
std::string fieldText(const Knob& knob, double value);
// What somebody typed, as --set takes it; a factor ("1.5x") is of knob.base. Throws UsageError.
std::string typedText(const Knob& knob, const std::string& typed);

// Slider positions from -steps to steps are factors from 1/16 to 16.
inline constexpr int sliderSteps = 240;
double factorAt(int position);
int positionOf(double factor);

class KnobRow : public ValueRow {
  Q_OBJECT

 public:
  // `base` has the file's value.
  KnobRow(Knob base, const QString& label, QWidget* parent = nullptr);

  const Knob& knob() const { return base_; }
  void show(double value, bool overridden);
  // A value that makes no machine, as somebody wrote it; `factor` times the file's.
  void showWritten(const QString& text, double factor);

 signals:
  // Empty: the file's value. Edits of one drag of the slider, or of keys that follow one another
  // closely, have one gesture.
  void edited(const std::string& knob, const std::string& value, int gesture);

 private:
  QStringList widest() const override;
  void show(const QString& text, double factor, bool overridden);
  void slid(int position);
  void typed();

  Knob base_;
  QString shown_;       // the value, as it was last shown
  int gesture_ = 0;     // of the drag that goes on
  int keyGesture_ = 0;  // of the last key
  QElapsedTimer sinceKey_;
};

}  // namespace tcsim::gui
