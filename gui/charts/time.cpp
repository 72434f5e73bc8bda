// Seconds over each link and of computing; the longest decides.
#include <algorithm>

#include "core/model/kernel_time.hpp"
#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

// At the peak where the accounting leaves computing out.
Seconds computing(const Evaluation& e) {
  const Subject& s = e.subject;
  return s.machine.accounting.compute_roof ? e.prediction().timing.compute
                                           : peak_time(s.contraction, s.machine);
}

Seconds longest(const Evaluation& e) {
  Seconds most = std::max(e.prediction().timing.total, computing(e));
  for (Seconds t : e.prediction().timing.links) most = std::max(most, t);
  return most;
}

Bytes counted(const Evaluation& e, std::size_t link) {
  return e.prediction().traffic.links[link].counted(e.subject.machine.accounting);
}

}  // namespace

Plot timePlot(const Scene& scene) {
  Plot p;
  p.title = "Time over each link";
  if (scene.now) p.title += ": " + scene.now->bottleneck + " decides";
  if (!scene.now) {
    p.missing = whyMissing(scene);
    return p;
  }
  const Evaluation& e = *scene.now;
  const Machine& m = e.subject.machine;
  const Timing& t = e.prediction().timing;
  const auto links = t.links.size();
  p.subtitle = subtitleOf(e);
  Seconds most = longest(e);
  for (const Pinned& pin : scene.pins) {
    if (pin.evaluation) most = std::max(most, longest(*pin.evaluation));
  }
  const TimeUnit unit = unitOf(most.value());
  const bool roof = m.accounting.compute_roof;
  p.x = {fmt::format("time [{}]", unit.name), false, 0, 1.12 * most.value() / unit.seconds, {}};
  p.y = {"", false, -0.6, static_cast<double>(links) + 0.6, {}};

  for (std::size_t l = 0; l <= links; ++l) {
    const bool compute = l == links;
    const Seconds time = compute ? computing(e) : t.links[l];
    Bar b;
    b.at = static_cast<double>(links - l);
    b.to = time.value() / unit.seconds;
    b.ink = compute ? Ink::compute : linkInk(static_cast<int>(l));
    b.strong = t.bottleneck == static_cast<int>(l);
    b.label =
        compute
            ? fmt::format("{}{}", to_display(time), roof ? "" : "  (this accounting leaves it out)")
            : fmt::format("{}   {} at {:.4g} GB/s", to_display(time), to_display(counted(e, l)),
                          m.bandwidth(LevelId{static_cast<int>(l)}).value() / 1e9);
    if (b.strong) b.label += "   decides";
    b.ghost = compute && !roof;
    p.bars.push_back(b);
    p.y.ticks.emplace_back(b.at, compute ? "compute" : m.link(LevelId{static_cast<int>(l)}));
  }
  addPins(p, scene, [&](const Evaluation& of, const auto& mark) {
    const Timing& timing = of.prediction().timing;
    const Machine& theirs = of.subject.machine;
    for (std::size_t l = 0; l < links; ++l) {
      const auto at = pinnedLink(m, l, theirs);
      if (!at) continue;
      mark(static_cast<double>(links - l), timing.links[*at].value() / unit.seconds,
           otherLink(m, l, theirs) + to_display(timing.links[*at]));
    }
    mark(0, computing(of).value() / unit.seconds, to_display(computing(of)));
  });
  return p;
}

Table timeTable(const Scene& scene) {
  Table table{{"link", "bytes", "bandwidth_bytes_per_second", "predicted_seconds", "decides"}, {}};
  for (const Pinned& pin : scene.pins) {
    if (!pin.evaluation) continue;
    table.columns.push_back(pinColumn(pin, "seconds"));
    table.columns.push_back("now_over_" + pin.pin.name);
  }
  if (!scene.now) return table;
  const Evaluation& e = *scene.now;
  const Machine& m = e.subject.machine;
  const Timing& t = e.prediction().timing;
  const auto versus = [&](std::vector<Cell>& row, Seconds now, std::size_t l, bool compute) {
    for (const Pinned& pin : scene.pins) {
      if (!pin.evaluation) continue;
      const auto at = pinnedLink(m, l, pin.evaluation->subject.machine);
      if (!compute && !at) {
        row.insert(row.end(), {"", ""});
        continue;
      }
      const Seconds then =
          compute ? computing(*pin.evaluation) : pin.evaluation->prediction().timing.links[*at];
      row.push_back(timeCell(then));
      row.emplace_back(change_words(now / then), now / then);
    }
  };
  for (std::size_t l = 0; l < t.links.size(); ++l) {
    const BytesPerSecond rate = m.bandwidth(LevelId{static_cast<int>(l)});
    std::vector<Cell> row{m.link(LevelId{static_cast<int>(l)}), bytesCell(counted(e, l)),
                          Cell(fmt::format("{:.4g} GB/s", rate.value() / 1e9), rate.value()),
                          timeCell(t.links[l]), t.bottleneck == static_cast<int>(l) ? "yes" : ""};
    versus(row, t.links[l], l, false);
    table.rows.push_back(row);
  }
  const FlopsPerSecond peak = m.peak(size_of(e.subject.contraction.type()));
  std::vector<Cell> row{"compute", "", Cell(fmt::format("{:.4g} GFLOPS", peak.value() / 1e9)),
                        timeCell(computing(e)),
                        !m.accounting.compute_roof                         ? "left out"
                        : t.bottleneck == static_cast<int>(t.links.size()) ? "yes"
                                                                           : ""};
  versus(row, computing(e), 0, true);
  table.rows.push_back(row);
  return table;
}

std::string verdictHeadline(const Scene& scene) {
  if (!scene.now) return "";
  return scene.now->bottleneck == "compute" ? "Limited by computation"
                                            : "Limited by " + scene.now->bottleneck;
}

Table compareTable(const Scene& scene) {
  Table table{{"design", "time", "now / it", "limited by"}, {}};
  if (!scene.now) return table;
  table.rows.push_back({"now", timeCell(scene.now->time()), "", scene.now->bottleneck});
  for (const Pinned& pin : scene.pins) {
    if (!pin.evaluation) {
      // Compare > Pinned designs says why.
      table.rows.push_back({pin.pin.name, "", "", pin.error.empty() ? "" : "cannot be judged"});
      continue;
    }
    const double factor = scene.now->time() / pin.evaluation->time();
    table.rows.push_back({pin.pin.name, timeCell(pin.evaluation->time()),
                          Cell(change_words(factor), factor), pin.evaluation->bottleneck});
  }
  return table;
}

}  // namespace tcsim::gui
