// Bytes over each link by array: predicted beside simulated.
#include <algorithm>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

Ink inkOf(const Array& array) {
  const auto place = std::ranges::find(printed_arrays, array) - printed_arrays.begin();
  return Ink{static_cast<int>(Ink::A) + static_cast<int>(place)};
}

namespace {

// A simulation or a run of another schedule says nothing about this one.
bool isOf(const Evaluation& e, const Schedule& schedule) { return e.choice.schedule == schedule; }

}  // namespace

std::optional<Bytes> measuredOver(const Scene& scene, std::size_t link) {
  if (!scene.run || !scene.run.current) return {};
  const Machine& m = scene.now->subject.machine;
  return bytes_over(scene.run->counted, m.link(LevelId{static_cast<int>(link)}), m.accounting);
}

Plot trafficPlot(const Scene& scene) {
  Plot p;
  p.title = "Bytes over each link, predicted and simulated";
  if (!scene.now) {
    p.missing = whyMissing(scene);
    return p;
  }
  const Evaluation& e = *scene.now;
  const Machine& m = e.subject.machine;
  const Accounting& accounting = m.accounting;
  p.subtitle = subtitleOf(e);
  const auto& predicted = e.prediction().traffic.links;
  const auto links = predicted.size();
  const Traffic* simulation =
      scene.simulation && scene.simulation->simulation.traffic.links.size() == links
          ? &scene.simulation->simulation.traffic
          : nullptr;
  double largest = 0;
  for (std::size_t l = 0; l < links; ++l) {
    largest = std::max(largest, static_cast<double>(predicted[l].counted(accounting).value()));
  }
  const ByteUnit unit = byteUnitOf(largest);
  const auto scaled = [&](Bytes b) { return static_cast<double>(b.value()) / unit.bytes; };
  double most = 0;
  const auto stack = [&](const LinkTraffic& link, double at, double thickness, bool hollow,
                         const std::string& what) {
    double from = 0;
    const Bytes total = link.counted(accounting);
    for (const Array& a : printed_arrays) {
      const double bytes = scaled(link.counted(accounting, a));
      if (bytes == 0) continue;
      Bar b;
      b.at = at;
      b.from = from;
      b.to = from + bytes;
      b.thickness = thickness;
      b.ink = inkOf(a);
      b.ghost = hollow;
      from = b.to;
      p.bars.push_back(b);
    }
    if (!p.bars.empty()) p.bars.back().label = fmt::format("{}  {}", to_display(total), what);
    most = std::max(most, from);
  };
  for (std::size_t l = 0; l < links; ++l) {
    const double at = static_cast<double>(links - 1 - l);
    const std::optional<Bytes> measured = measuredOver(scene, l);
    if (measured) {
      Bar b;
      b.at = at - 0.42;
      b.to = scaled(*measured);
      b.thickness = 0.08;
      b.ink = Ink::text;
      b.label = fmt::format("{}  measured", to_display(*measured));
      p.bars.push_back(b);
      most = std::max(most, b.to);
    }
    stack(predicted[l], at + 0.2, 0.34, false, "predicted");
    if (simulation != nullptr) {
      const bool hollow = !scene.simulation.current;
      stack(simulation->links[l], at - 0.2, 0.34, hollow,
            hollow ? "simulated, before" : "simulated");
    }
    const double least = scaled(e.bounds[l]);
    Line line;
    line.dashed = true;
    line.x = {least, least};
    line.y = {at - 0.47, at + 0.47};
    line.readings.assign(
        2, fmt::format("{}: no order of the multiply-adds moves less than {}",
                       m.link(LevelId{static_cast<int>(l)}), to_display(e.bounds[l])));
    // All are one entry of the legend.
    if (l == 0) line.name = "bound";
    p.lines.push_back(std::move(line));
    p.y.ticks.emplace_back(at, m.link(LevelId{static_cast<int>(l)}));
  }
  addPins(p, scene, [&](const Evaluation& of, const PinMark& mark) {
    const Machine& theirs = of.subject.machine;
    for (std::size_t l = 0; l < links; ++l) {
      const auto at = pinnedLink(m, l, theirs);
      if (!at) continue;
      const Bytes bytes = of.prediction().traffic.links[*at].counted(theirs.accounting);
      mark(static_cast<double>(links - 1 - l) + 0.2, scaled(bytes),
           otherLink(m, l, theirs) + to_display(bytes) + " predicted");
      most = std::max(most, scaled(bytes));
    }
  });
  p.x = {fmt::format("bytes [{}]", unit.name), false, 0, 1.12 * most, {}};
  p.y.low = -0.6;
  p.y.high = static_cast<double>(links) - 0.4;
  for (const Array& a : printed_arrays) p.legend.emplace_back(to_text(a), inkOf(a));
  return p;
}

Table trafficTable(const Scene& scene) {
  Table table{{"link", "array", "predicted_bytes", "predicted_lines", "simulated_bytes",
               "simulated_lines", "error", "measured_bytes", "bound_bytes"},
              {}};
  for (const Pinned& pin : scene.pins) {
    if (pin.evaluation) table.columns.push_back(pinColumn(pin, "predicted_bytes"));
  }
  if (!scene.now) return table;
  const Evaluation& e = *scene.now;
  const Machine& m = e.subject.machine;
  const auto& links = e.prediction().traffic.links;
  const Traffic* simulation =
      scene.simulation && scene.simulation.current && isOf(e, scene.simulation->schedule)
          ? &scene.simulation->simulation.traffic
          : nullptr;
  const auto row = [&](std::size_t l, const Array* array, Bytes predicted,
                       std::optional<Bytes> counted) {
    const std::string name = array ? to_text(*array) : "all";
    const double line = static_cast<double>(m.levels.front().line.value.value());
    const auto lines = [&](Bytes b) {
      const double n = static_cast<double>(b.value()) / line;
      return l == 0 ? Cell() : Cell(fmt::format("{:.4g}", n), n);
    };
    std::vector<Cell> cells{m.link(LevelId{static_cast<int>(l)}), name, bytesCell(predicted),
                            lines(predicted)};
    if (counted) {
      const double error = static_cast<double>(predicted.value() - counted->value()) /
                           static_cast<double>(std::max<std::int64_t>(1, counted->value()));
      cells.push_back(bytesCell(*counted));
      cells.push_back(lines(*counted));
      cells.emplace_back(fmt::format("{:+.2f} %", 100 * error), error);
    } else {
      cells.insert(cells.end(), {"", "", ""});
    }
    const auto measured = array ? std::nullopt : measuredOver(scene, l);
    cells.push_back(measured ? bytesCell(*measured) : Cell());
    cells.push_back(array ? Cell() : bytesCell(e.bounds[l]));
    for (const Pinned& pin : scene.pins) {
      if (!pin.evaluation) continue;
      const Machine& theirs = pin.evaluation->subject.machine;
      const auto at = pinnedLink(m, l, theirs);
      cells.emplace_back();
      if (!at) continue;
      const LinkTraffic& link = pin.evaluation->prediction().traffic.links[*at];
      cells.back() = bytesCell(array ? link.counted(theirs.accounting, *array)
                                     : link.counted(theirs.accounting));
    }
    table.rows.push_back(std::move(cells));
  };
  for (std::size_t l = 0; l < links.size(); ++l) {
    const LinkTraffic* other = simulation == nullptr ? nullptr : &simulation->links[l];
    const auto counted = [&](auto... array) -> std::optional<Bytes> {
      if (other == nullptr) return {};
      return other->counted(m.accounting, array...);
    };
    row(l, nullptr, links[l].counted(m.accounting), counted());
    for (const Array& a : printed_arrays) row(l, &a, links[l].counted(m.accounting, a), counted(a));
  }
  if (scene.run && scene.run.current) {
    table.rows.push_back({"measured", "time", timeCell(scene.run->result.timed.median), "", "", "",
                          Cell(fmt::format("{:.1f} GFLOPS", scene.run->result.rate.value() / 1e9),
                               scene.run->result.rate.value() / 1e9)});
    table.rows.back().resize(table.columns.size());
  }
  return table;
}

}  // namespace tcsim::gui
