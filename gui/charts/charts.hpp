// Every view of the window as a function of the scene: a picture, and the numbers behind it.
#pragma once

#include <span>
#include <string>

#include "gui/charts/plot.hpp"
#include "gui/charts/table.hpp"
#include "gui/charts/tiles.hpp"
#include "gui/scene/scene.hpp"

namespace tcsim::gui {

Plot timePlot(const Scene& scene);  // seconds over each link, and of computing
Table timeTable(const Scene& scene);
Plot bottleneckPlot(const Scene& scene);  // GFLOPS along a knob
Table bottleneckTable(const Scene& scene);
Plot mapPlot(const Scene& scene);  // time over two knobs
Table mapTable(const Scene& scene);
Plot rooflinePlot(const Scene& scene);  // with a point for each link
Table rooflineTable(const Scene& scene);
Plot trafficPlot(const Scene& scene);  // bytes, predicted and simulated
Table trafficTable(const Scene& scene);
Plot boundsPlot(const Scene& scene);  // bytes over the capacity: what is proven, found, simulated
Table boundsTable(const Scene& scene);
Plot costPlot(const Scene& scene);  // joules by level and mm2, by a cost model
Table costTable(const Scene& scene);
Plot setsPlot(const Scene& scene);  // what the sets of a cache are asked for, hold and miss
Table setsTable(const Scene& scene);
Plot timelinePlot(const Scene& scene);  // what caches hold and miss over the loops that run
Table timelineTable(const Scene& scene);
Plot suitePlot(const Scene& scene);  // all workloads of the suite, on this machine and the pins'
Table suiteTable(const Scene& scene);
Table tilesTable(const Scene& scene);     // the picture: tileBoxes()
Table scheduleTable(const Scene& scene);  // a row for each step
Plot kernelsPlot(const Scene& scene);     // the share of the peak of each of this machine's
Table kernelsTable(const Scene& scene);
std::string scheduleText(const Scene& scene);
// The schedule as one C file, as tcsim emit writes it; empty while it is not settled, or says why
// there is none.
std::string scheduleAsC(const Scene& scene);

// What the picture of the sets shows, as ViewState::show has it.
struct SetsShow {
  const char* id;
  const char* title;
  bool overTime;  // a row for each window, otherwise for each tensor
};
std::span<const SetsShow> setsShows();
const SetsShow& setsShow(const std::string& id);  // the first one where there is none of that name

// Names of the views, as a session and --view have them.
struct ViewKind {
  enum class Draws { plot, tiles, text } draws;
  const char* id;
  const char* title;
  const char* help;  // what one sees
  Plot (*plot)(const Scene&);
  Table (*table)(const Scene&);
};
std::span<const ViewKind> viewKinds();
// Throws UsageError, listing them, if there is none of that name.
const ViewKind& viewKind(const std::string& id);

// What limits, in a sentence: "Limited by L3-memory."
std::string verdictHeadline(const Scene& scene);
// This design and each pin: a row for each.
Table compareTable(const Scene& scene);
// What twice as much of each knob would bring, for what it costs: a row for each that brings
// something, what is worth most first.
Table worthTable(const Scene& scene);
// The other knobs: "L1.capacity, L1.ways".
std::string idleKnobs(const Scene& scene);

}  // namespace tcsim::gui
