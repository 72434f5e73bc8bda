// Makes what QCustomPlot draws of a Plot.
#pragma once

#include <QStringList>

#include "gui/charts/plot.hpp"
#include "gui/widgets/theme.hpp"

class QCustomPlot;

namespace tcsim::gui {

// In place of what the canvas has; `plot` is not missing. Words are laid out for the size of its
// viewport; the caller has it painted. Returns the words that found no room.
QStringList buildPlot(const Plot& plot, QCustomPlot& canvas, const Theme& theme);

}  // namespace tcsim::gui
