// All workloads of the suite that the design's is of: GFLOPS of each, by what limits it, beside
// those on the machines of pinned designs; and what they take together.
#include <algorithm>
#include <cmath>

#include "core/workload/request.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

using Row = SuiteTotal::Row;

double gflops(const Row& row) { return row.flops / row.time.value() / 1e9; }

// What a pin is known to take for the same workloads; null where it is not. The suite's file may
// have become another one meanwhile.
const SuiteTotal* totalOf(const Pinned& pin, const SuiteJudged& now) {
  const bool same =
      pin.suite && pin.suite->suite == now.suite &&
      std::ranges::equal(pin.suite->total.rows, now.total.rows, [](const Row& a, const Row& b) {
        return a.workload == b.workload && a.flops == b.flops;
      });
  return same ? &pin.suite->total : nullptr;
}

bool isOfSuite(const Scene& scene) {
  return scene.now && whole_suite(scene.now->subject.design.workload);
}

const char* const noSuite =
    "This workload is of no suite. Choose one that is on the left, such as tccg:1 or resnet18:1.";

}  // namespace

Plot suitePlot(const Scene& scene) {
  Plot p;
  p.title = "All workloads of a suite";
  if (scene.now && !isOfSuite(scene)) {
    p.missing = noSuite;
    return p;
  }
  if (!scene.now || !scene.suite) {
    p.missing = whyMissing(scene, scene.suite.error,
                           "A schedule is being chosen for each workload of the suite.");
    return p;
  }
  const SuiteJudged& judged = *scene.suite.value;
  const std::vector<Row>& rows = judged.total.rows;
  const Machine& machine = judged.machine;
  p.hollow = !scene.suite.current;
  p.title = fmt::format("All {} of {}: {} together", rows.size(), judged.suite.name,
                        to_display(judged.total.time()));
  for (const Pinned& pin : scene.pins) {
    const SuiteTotal* const theirs = totalOf(pin, judged);
    if (theirs == nullptr) continue;
    p.title += fmt::format(", {} {}", pin.pin.name, to_display(theirs->time()));
  }
  p.subtitle = fmt::format("on {}, {} accounting, each by the best schedule\n{}", machine.name,
                           machine.accounting.name, total_words(judged.total));
  double most = 0;
  std::vector<std::string> limits;  // in the order of the legend
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    Bar b;
    b.at = static_cast<double>(rows.size() - 1 - i);
    b.to = gflops(row);
    b.ink = limitInk(machine, row.bottleneck);
    b.thickness = 0.7;
    p.bars.push_back(b);
    most = std::max(most, b.to);
    p.y.ticks.emplace_back(b.at, row.workload);
    p.readings.push_back(
        {0, b.at - 0.5, HUGE_VAL, b.at + 0.5,
         fmt::format("{}: {}, {:.1f} GFLOPS, {:.1f} % of the peak, limited by {}", row.workload,
                     to_display(row.time), b.to, 100 * row.of_peak, row.bottleneck)});
  }
  addPinMarks(p, scene, [&](const Pinned& pin, const PinMark& mark) {
    const SuiteTotal* const theirs = totalOf(pin, judged);
    if (theirs == nullptr) return;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const Row& row = theirs->rows[i];
      mark(static_cast<double>(rows.size() - 1 - i), gflops(row),
           fmt::format("{}, {:.1f} GFLOPS, limited by {}", to_display(row.time), gflops(row),
                       row.bottleneck));
      p.readings[i].text +=
          fmt::format("; {} {}, {}", pin.pin.name, to_display(row.time), row.bottleneck);
      most = std::max(most, gflops(row));
    }
  });
  for (const auto& [limit, times] : judged.total.bottlenecks()) {
    p.legend.emplace_back(fmt::format("limited by {}", limit), limitInk(machine, limit));
  }
  p.legendAt = Corner::below;
  p.x = {"GFLOPS", false, 0, 1.05 * most, {}};
  for (Reading& r : p.readings) r.x1 = p.x.high;
  p.y.low = -0.6;
  p.y.high = static_cast<double>(rows.size()) - 0.4;
  return p;
}

Table suiteTable(const Scene& scene) {
  Table table{{"workload", "predicted_seconds", "gflops", "of_peak", "bottleneck"}, {}};
  if (!scene.suite || !isOfSuite(scene)) return table;
  const SuiteJudged& judged = *scene.suite.value;
  std::vector<const SuiteTotal*> pins;
  for (const Pinned& pin : scene.pins) {
    const SuiteTotal* const theirs = totalOf(pin, judged);
    if (theirs == nullptr) continue;
    pins.push_back(theirs);
    table.columns.insert(
        table.columns.end(),
        {pinColumn(pin, "seconds"), "now_over_" + pin.pin.name, pinColumn(pin, "bottleneck")});
  }
  const auto versus = [](std::vector<Cell>& cells, Seconds now, Seconds then) {
    cells.push_back(timeCell(then));
    cells.emplace_back(change_words(now / then), now / then);
  };
  const std::vector<Row>& rows = judged.total.rows;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[i];
    std::vector<Cell> cells{row.workload, timeCell(row.time), numberCell(gflops(row)),
                            Cell(fmt::format("{:.1f} %", 100 * row.of_peak), row.of_peak),
                            row.bottleneck};
    for (const SuiteTotal* pin : pins) {
      versus(cells, row.time, pin->rows[i].time);
      cells.emplace_back(pin->rows[i].bottleneck);
    }
    table.rows.push_back(std::move(cells));
  }
  const SuiteTotal& all = judged.total;
  std::vector<Cell> cells{"all", timeCell(all.time()), numberCell(all.rate().value() / 1e9),
                          Cell(fmt::format("{:.1f} %", 100 * all.of_peak()), all.of_peak()), ""};
  for (const SuiteTotal* pin : pins) {
    versus(cells, all.time(), pin->time());
    cells.emplace_back();
  }
  table.rows.push_back(std::move(cells));
  return table;
}

}  // namespace tcsim::gui
