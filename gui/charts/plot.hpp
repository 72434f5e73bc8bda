// A diagram as plain data: what is drawn where, and by which ink, with no widget and no pixel.
// gui/charts makes them from a scene, gui/widgets/plot_view draws them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "gui/charts/ink.hpp"

namespace tcsim::gui {

struct Axis {
  std::string label;
  bool log = false;
  double low = 0, high = 1;
  std::vector<std::pair<double, std::string>> ticks;  // empty: as the renderer likes
};

struct Line {
  std::string name;  // in the legend; empty: not there
  std::vector<double> x, y;
  Ink ink = Ink::text;
  bool dashed = false;
  bool joined = true;  // a line through the points
  bool marked = false;
  bool hollow = false;  // of inputs that have moved on
  double width = 2;
  std::vector<std::string> readings = {};  // at each point, for the cursor
};

// Horizontal bars, at whole numbers of the y axis.
struct Bar {
  double at = 0;
  double from = 0, to = 0;
  double thickness = 0.6;
  Ink ink = Ink::text;
  std::string label = {};   // behind its end
  std::string inside = {};  // in its middle, where it has the room
  bool strong = false;      // the one that decides
  bool ghost = false;       // an outline
  double shade = 0.75;      // of the ink
};

// What lies between two lines over the same places.
struct Band {
  std::string name;  // in the legend; empty: not there
  std::vector<double> x, low, high;
  Ink ink = Ink::text;
  double shade = 0.22;  // of the ink
};

// A vertical band.
struct Region {
  double from = 0, to = 0;
  std::string label;  // may be empty
  Ink ink = Ink::text;
};

// A line across, with words at its top (vertical) or right end.
struct Rule {
  double at = 0;
  bool vertical = true;
  std::string label;
  Ink ink = Ink::text;
  bool dashed = true;
};

struct Label {
  double x = 0, y = 0;
  std::string text = {};
  Ink ink = Ink::text;
  bool ofMark = false;  // beside a mark, and on no other
};

// Coloured cells at whole numbers of both axes; NaN: none.
struct Cells {
  std::size_t columns = 0, rows = 0;
  std::vector<double> values;  // a row after the other, from the bottom
  std::string scale;           // what the colours mean
  bool logarithmic = true;
  bool brightHigh = false;                 // otherwise small values are bright
  std::vector<std::string> readings = {};  // of each cell, for the cursor
};

struct Segment {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  bool ghost = false;  // of a pin: in the dashes of its ink
  Ink ink = Ink::text;
};

// What the cursor reads within a rectangle.
struct Reading {
  double x0 = 0, y0 = 0, x1 = 0, y1 = 0;
  std::string text;
};

enum class Corner { topLeft, topRight, bottomRight, below };

struct Plot {
  std::string title, subtitle;
  std::string missing;  // why there is nothing to draw; then nothing else counts
  bool hollow = false;  // the inputs have moved on
  Axis x, y;
  std::vector<Region> regions;
  std::vector<Bar> bars;
  std::vector<Band> bands;  // behind the lines
  std::vector<Line> lines;
  std::vector<Rule> rules;
  std::vector<Label> labels;
  Cells cells;
  std::vector<Segment> outlines;
  std::vector<Reading> readings;  // in place of those of lines and cells
  // How far the x axis can be zoomed out and moved, where that is further than it is shown.
  std::optional<std::pair<double, double>> wholeX;
  bool zoomsUpward = true;  // both axes, otherwise x alone
  // What a mark of each ink is, where lines do not say it.
  std::vector<std::pair<std::string, Ink>> legend;
  Corner legendAt = Corner::bottomRight;
};

}  // namespace tcsim::gui
