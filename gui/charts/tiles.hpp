// The tiles of a schedule, a box for memory and for each cache: how full the largest tile that fits
// in it makes it, and by which tensor. All bars are of one logarithmic measure.
#pragma once

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "gui/charts/ink.hpp"
#include "gui/scene/scene.hpp"

namespace tcsim::gui {

struct TileBox {
  std::string name;      // "L2"
  std::string capacity;  // "256KiB"
  std::string tile;      // "m 384 x n 36 x k 24"
  double filled = 0;     // share of the capacity, in [0, 1]
  // How full the tiles of pins make theirs.
  struct Pinned {
    std::string name;
    double filled = 0;
    Ink ink = Ink::pin0;
  };
  std::vector<Pinned> pins = {};
  double capacityBytes = 0;  // 0: it has no end
  double bytes = 0;          // of all parts
  struct Part {
    std::string label;  // "A 72KiB"
    double share = 0;   // of the capacity
    double bytes = 0;
    Ink ink = Ink::A;
    bool whole = false;
    bool halo = false;  // what neighbouring tiles have as well, behind the rest of its tensor
  };
  std::vector<Part> parts;
};

struct TileBoxes {
  std::string title;
  std::string missing;
  std::string kernel;          // "kernel 8x6"
  std::vector<TileBox> boxes;  // the outermost first: memory, L3, ..., L1
  std::string legend;          // of halos; empty where there are none
  // The measure, the same in all boxes: its ends, round sizes on it, and what it is, in words.
  double low = 0, high = 0;  // bytes
  std::vector<std::pair<double, std::string>> ticks;
  std::string measure;
};
TileBoxes tileBoxes(const Scene& scene);

}  // namespace tcsim::gui
