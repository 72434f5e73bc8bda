// The words within a diagram.
#pragma once

#include <QStringList>

#include "gui/charts/plot.hpp"
#include "gui/widgets/theme.hpp"

class QCustomPlot;

namespace tcsim::gui {

// Puts the names of bands, lines, bars and cells where none lies on another or on the legend, once
// the canvas is laid out. Returns those that found no room.
QStringList placeLabels(const Plot& plot, QCustomPlot& canvas, const Theme& theme);

}  // namespace tcsim::gui
