// Numbers as the charts write them. Internal to gui/charts.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <optional>
#include <string>

#include "core/units/text.hpp"
#include "gui/charts/ink.hpp"
#include "gui/charts/plot.hpp"
#include "gui/charts/table.hpp"
#include "gui/scene/scene.hpp"

namespace tcsim::gui {

// Why a picture is missing: what is wrong with it or with the design, or what is still to come.
inline std::string whyMissing(const Scene& scene, const std::string& error = {},
                              const char* coming = "It is being computed.") {
  if (!error.empty()) return error;
  if (!scene.error.empty()) return scene.error;
  if (scene.now) return coming;
  return "Nothing is known yet: a schedule is being chosen for this workload and machine. Without "
         "either, choose them on the left.";
}

inline const char* const oneMachine = "The range has a single machine in it; give a wider one.";

// A unit in which the largest value has one to three digits before the point.
struct TimeUnit {
  double seconds;
  const char* name;
};
inline TimeUnit unitOf(double seconds) {
  if (seconds < 1e-6) return {1e-9, "ns"};
  if (seconds < 1e-3) return {1e-6, "us"};
  if (seconds < 1) return {1e-3, "ms"};
  return {1, "s"};
}

// The same for bytes.
struct ByteUnit {
  double bytes;
  const char* name;
};
inline ByteUnit byteUnitOf(double bytes) {
  constexpr ByteUnit units[] = {{1, "B"},     {1e3, "kB"},  {1e6, "MB"}, {1e9, "GB"},
                                {1e12, "TB"}, {1e15, "PB"}, {1e18, "EB"}};
  const ByteUnit* unit = units;
  while (unit + 1 != std::end(units) && bytes >= 1000 * unit->bytes) ++unit;
  return *unit;
}

inline Cell timeCell(Seconds t) { return {to_display(t), t.value()}; }
inline Cell bytesCell(Bytes b) { return {to_display(b), static_cast<double>(b.value())}; }
inline Cell numberCell(double v, const char* format = "{:.4g}") {
  return {fmt::format(fmt::runtime(format), v), v};
}

// Always of two lines, so that a picture stays where it is when a figure is turned.
std::string subtitleOf(const Evaluation& e);

inline Ink inkOf(TensorId t) { return Ink{static_cast<int>(Ink::A) + index(t)}; }
// Of a tensor or a buffer.
Ink inkOf(const Array& array);

// The link of a pin's machine that is compared with one of this machine: that of the same name;
// with the outermost one its outermost one, whatever they are called. None where there is no such
// link.
std::optional<std::size_t> pinnedLink(const Machine& machine, std::size_t link,
                                      const Machine& pinned);
// The name of the pin's link and a blank, where it is another one; otherwise nothing.
std::string otherLink(const Machine& machine, std::size_t link, const Machine& pinned);
// "pinned_A_seconds": a column of a table. No other columns begin so.
inline std::string pinColumn(const Pinned& pin, const char* what) {
  return fmt::format("pinned_{}_{}", pin.pin.name, what);
}

// Of what a bottleneck is called: a link of the machine, or computing.
Ink limitInk(const Machine& machine, const std::string& bottleneck);

// The caches that there are: before anything is simulated.
Table cachesTable(const Scene& scene);

// Marks of the designs to compare with, one for each of a chart's rows, spread over the thickness
// of its bars; they go into the legend by their names. `of` calls what it is given with each row's
// place, the value there, and that value in words.
using PinMark = std::function<void(double row, double value, const std::string& words)>;
void addPins(Plot& plot, const Scene& scene,
             const std::function<void(const Evaluation&, const PinMark&)>& of);
// The same of pins whether they have been judged or not.
void addPinMarks(Plot& plot, const Scene& scene,
                 const std::function<void(const Pinned&, const PinMark&)>& of);

// What the last run of this schedule moved over a link, where that was counted.
std::optional<Bytes> measuredOver(const Scene& scene, std::size_t link);

// A knob's value as people read it: "49.5 MiB", "7.279 B/cycle".
std::string shown(const Knob& knob, double value);
// At an axis, whose label has the unit of all but sizes: "7.279", "49.5 MiB".
std::string tickText(const Knob& knob, double value);
// "memory.bandwidth [B/cycle]".
std::string axisLabel(const Knob& knob);
// Round numbers on a logarithmic axis: 1, 2, 5, 10, ..., or powers of ten where those are many.
std::vector<std::pair<double, std::string>> logTicks(double low, double high);

}  // namespace tcsim::gui
