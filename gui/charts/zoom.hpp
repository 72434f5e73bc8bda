// A part of a diagram: its axes narrowed, and what lies outside taken away.
#pragma once

#include "gui/charts/plot.hpp"

namespace tcsim::gui {

// As much more or less a step shows.
inline constexpr double zoomStep = 1.5;

// What of an axis is shown.
struct Span {
  double low = 0, high = 1;
  bool operator==(const Span&) const = default;
};

// `factor` times as much of an axis as `now`, so that what is at `share` of its length (0 at the
// low end) stays there as far as that goes: never beyond `whole`, and not below a thousandth of it.
// Logarithmic axes have to be positive.
Span zoomed(const Span& now, const Span& whole, bool logarithmic, double share, double factor);
// Moved by a share of its length, up to the ends of `whole`.
Span moved(const Span& now, const Span& whole, bool logarithmic, double share);

// The plot with these axes. What reaches beyond them is cut, what is outside is left out.
Plot partOf(const Plot& plot, const Span& x, const Span& y);

}  // namespace tcsim::gui
