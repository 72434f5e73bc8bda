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
  if (scene.baseline) most = std::max(most, longest(*scene.baseline));
  const TimeUnit unit = unitOf(most.value());
  const bool roof = m.accounting.compute_roof;
  p.x = {fmt::format("time [{}]", unit.name), false, 0, 1.12 * most.value() / unit.seconds, {}};
  p.y = {"", false, -0.6, static_cast<double>(links) + 0.6, {}};

  const auto bars = [&](const Evaluation& of, bool ghost) {
    const Timing& timing = of.prediction().timing;
    const auto n = std::min(links, timing.links.size());
    for (std::size_t l = 0; l <= n; ++l) {
      const bool compute = l == n;
      const Seconds time = compute ? computing(of) : timing.links[l];
      Bar b;
      b.at = compute ? static_cast<double>(links) : static_cast<double>(l);
      b.at = static_cast<double>(links) - b.at;
      b.to = time.value() / unit.seconds;
      b.ink = compute ? Ink::compute : linkInk(static_cast<int>(l));
      b.ghost = ghost;
      b.thickness = ghost ? 0.78 : 0.6;
      if (ghost) b.ink = Ink::baseline;
      b.strong = !ghost && timing.bottleneck == static_cast<int>(compute ? links : l);
      if (!ghost) {
        b.label = compute ? fmt::format("{}{}", to_display(time),
                                        roof ? "" : "  (this accounting leaves it out)")
                          : fmt::format("{}   {} at {:.4g} GB/s", to_display(time),
                                        to_display(counted(of, l)),
                                        m.bandwidth(LevelId{static_cast<int>(l)}).value() / 1e9);
        if (b.strong) b.label += "   decides";
        if (compute && !roof) b.ghost = true;
      }
      p.bars.push_back(b);
    }
  };
  if (scene.baseline) bars(*scene.baseline, true);
  bars(e, false);
  for (std::size_t l = 0; l <= links; ++l) {
    p.y.ticks.emplace_back(static_cast<double>(links - l),
                           l == links ? "compute" : m.link(LevelId{static_cast<int>(l)}));
  }
  if (scene.baseline) {
    p.legend.emplace_back("baseline A", Ink::baseline);
    p.y.low -= 0.5;  // room for the legend
  }
  return p;
}

Table timeTable(const Scene& scene) {
  Table table{{"link", "bytes", "bandwidth_bytes_per_second", "predicted_seconds", "decides"}, {}};
  if (scene.baseline) table.columns.insert(table.columns.end(), {"baseline_seconds", "change"});
  if (!scene.now) return table;
  const Evaluation& e = *scene.now;
  const Machine& m = e.subject.machine;
  const Timing& t = e.prediction().timing;
  const auto versus = [&](std::vector<Cell>& row, Seconds now, std::size_t l, bool compute) {
    if (!scene.baseline) return;
    const auto& links = scene.baseline->prediction().timing.links;
    if (!compute && l >= links.size()) {
      row.insert(row.end(), {"", ""});
      return;
    }
    const Seconds then = compute ? computing(*scene.baseline) : links[l];
    row.push_back(timeCell(then));
    row.emplace_back(change_words(now / then), now / then);
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
  Table table{{"figure", "A", "now", "change"}, {}};
  if (!scene.now || !scene.baseline) return table;
  const Evaluation &a = *scene.baseline, &b = *scene.now;
  const auto row = [&](const std::string& name, const Cell& x, const Cell& y) {
    const double factor = *y.value / *x.value;
    table.rows.push_back({name, x, y, Cell(change_words(factor), factor)});
  };
  row("time", timeCell(a.time()), timeCell(b.time()));
  row("GFLOPS", numberCell(a.gflops()), numberCell(b.gflops()));
  table.rows.push_back(
      {"limited by", a.bottleneck, b.bottleneck, a.bottleneck == b.bottleneck ? "same" : "moved"});
  const auto links = std::min(a.subject.machine.levels.size(), b.subject.machine.levels.size());
  for (std::size_t l = 0; l < links; ++l) {
    row(b.subject.machine.link(LevelId{static_cast<int>(l)}), bytesCell(counted(a, l)),
        bytesCell(counted(b, l)));
  }
  return table;
}

}  // namespace tcsim::gui
