// Colours and patterns of a light and a dark desktop.
#pragma once

#include <QColor>
#include <QPalette>
#include <QPen>

#include "gui/charts/ink.hpp"

namespace tcsim::gui {

struct Theme {
  bool dark = false;

  // Dark if the palette's windows are.
  static Theme of(const QPalette& palette);
  // Palettes for --theme, and for the offscreen platform, which has none of its own.
  static QPalette palette(bool dark);

  QColor paper() const { return dark ? QColor(0x1e, 0x20, 0x24) : QColor(Qt::white); }
  QColor text() const { return dark ? QColor(0xe6, 0xe6, 0xe6) : QColor(0x1f, 0x23, 0x28); }
  QColor faint() const { return dark ? QColor(0x9a, 0xa0, 0xa8) : QColor(0x6a, 0x70, 0x78); }
  QColor grid() const { return dark ? QColor(0x38, 0x3c, 0x42) : QColor(0xe4, 0xe7, 0xeb); }
  QColor accent() const { return dark ? QColor(0x5a, 0xb0, 0xf0) : QColor(0x00, 0x62, 0xa3); }
  QColor warning() const { return dark ? QColor(0xff, 0x9b, 0x70) : QColor(0xb0, 0x3a, 0x00); }

  QColor colour(Ink ink) const;
  Qt::PenStyle dash(Ink ink) const;       // of lines
  Qt::BrushStyle pattern(Ink ink) const;  // of areas
};

}  // namespace tcsim::gui
