// The roofs of all links over operational intensity, with a point for each link.
#include <algorithm>
#include <cmath>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

// Logarithm of the factor between intensities whose points lie on one another.
constexpr double nearlySame = 0.1;

struct LinkRoof {
  std::string name;
  double intensity;  // flops per counted byte
  double bandwidth;  // bytes per second
  double most;       // intensity that no order of the multiply-adds exceeds
};

std::vector<LinkRoof> roofsOf(const Evaluation& e) {
  const Machine& m = e.subject.machine;
  std::vector<LinkRoof> all;
  for (std::size_t l = 0; l < m.levels.size(); ++l) {
    const LevelId level{static_cast<int>(l)};
    const Bytes bytes = e.prediction().traffic.links[l].counted(m.accounting);
    all.push_back({m.link(level),
                   e.subject.contraction.flops() / static_cast<double>(bytes.value()),
                   m.bandwidth(level).value(),
                   e.subject.contraction.flops() / static_cast<double>(e.bounds[l].value())});
  }
  return all;
}

double peakOf(const Evaluation& e) {
  return e.subject.machine.peak(size_of(e.subject.contraction.type())).value() / 1e9;
}

Line points(const Evaluation& e, Ink ink, const std::string& name) {
  Line line;
  line.name = "pinned: " + name;
  line.ink = ink;
  line.joined = false;
  line.marked = true;
  line.width = 3;
  for (const LinkRoof& r : roofsOf(e)) {
    line.x.push_back(r.intensity);
    line.y.push_back(e.gflops());
    line.readings.push_back(fmt::format("{}: {} {:.4g} flop/byte, {:.1f} GFLOPS, limited by {}",
                                        name, r.name, r.intensity, e.gflops(), e.bottleneck));
  }
  return line;
}

}  // namespace

Plot rooflinePlot(const Scene& scene) {
  Plot p;
  p.title = "Roofline";
  if (!scene.now) {
    p.missing = whyMissing(scene);
    return p;
  }
  const Evaluation& e = *scene.now;
  p.title = fmt::format("Roofline: {:.1f} GFLOPS, limited by {}", e.gflops(), e.bottleneck);
  p.subtitle = subtitleOf(e) + "; no schedule is right of the upright lines";
  const auto roofs = roofsOf(e);
  const double peak = peakOf(e);
  double left = roofs.front().intensity, right = left, top = std::max(peak, e.gflops());
  double low = std::min(e.gflops(), peak);
  for (const Pinned& pin : scene.pins) {
    if (!pin.evaluation) continue;
    for (const LinkRoof& r : roofsOf(*pin.evaluation)) {
      left = std::min(left, r.intensity);
      right = std::max(right, r.intensity);
    }
    top = std::max(top, pin.evaluation->gflops());
    low = std::min(low, pin.evaluation->gflops());
  }
  for (const LinkRoof& r : roofs) {
    left = std::min({left, r.intensity, peak * 1e9 / r.bandwidth});
    right = std::max({right, r.intensity, r.most, peak * 1e9 / r.bandwidth});
    top = std::max(top, std::min(r.bandwidth * r.intensity / 1e9, 16 * top));
  }
  left /= 3;
  right *= 4;
  p.x = {"operational intensity [flop/byte]", true, left, right, {}};
  p.y = {"GFLOPS", true, low / 30, top * 2.2, {}};
  p.x.ticks = logTicks(p.x.low, p.x.high);
  p.y.ticks = logTicks(p.y.low, p.y.high);
  const bool roof = e.subject.machine.accounting.compute_roof;
  for (std::size_t l = 0; l < roofs.size(); ++l) {
    // Up to where computation limits, or this accounting's top.
    const double level = roof ? peak : top * 1.6;
    const double knee = std::min(level * 1e9 / roofs[l].bandwidth, right);
    Line line;
    line.name = fmt::format("{}  {:.4g} GB/s", roofs[l].name, roofs[l].bandwidth / 1e9);
    line.ink = linkInk(static_cast<int>(l));
    line.x = {left, knee};
    line.y = {roofs[l].bandwidth * left / 1e9, roofs[l].bandwidth * knee / 1e9};
    p.lines.push_back(line);
  }
  p.rules.push_back(
      {peak, false,
       fmt::format("FMA peak {:.4g} GFLOPS{}", peak, roof ? "" : ", left out by this accounting"),
       Ink::compute, !roof});
  // No schedule is right of these.
  for (std::size_t l = 0; l < roofs.size(); ++l) {
    const double ceiling = roofs[l].bandwidth * roofs[l].most / 1e9;
    Line bound;
    bound.ink = linkInk(static_cast<int>(l));
    bound.dashed = true;
    bound.width = 1.5;
    bound.x = {roofs[l].most, roofs[l].most};
    bound.y = {p.y.low, roof ? std::min(ceiling, peak) : ceiling};
    bound.readings.assign(2, fmt::format("{}: no order of the multiply-adds has more than {:.4g} "
                                         "flop/byte, no schedule is right of here",
                                         roofs[l].name, roofs[l].most));
    p.lines.push_back(std::move(bound));
  }
  for (std::size_t i = 0; i < scene.pins.size(); ++i) {
    const Pinned& pin = scene.pins[i];
    if (pin.evaluation) p.lines.push_back(points(*pin.evaluation, pinInk(i), pin.pin.name));
  }
  // Each link's point hangs below its own roof; the one that touches it decides.
  for (std::size_t l = 0; l < roofs.size(); ++l) {
    Line point;
    point.ink = linkInk(static_cast<int>(l));
    point.joined = true;
    point.dashed = true;
    point.width = 1;
    const double ceiling = roofs[l].bandwidth * roofs[l].intensity / 1e9;
    point.x = {roofs[l].intensity, roofs[l].intensity};
    point.y = {e.gflops(), roof ? std::min(ceiling, peak) : ceiling};
    p.lines.push_back(point);
    Line dot;
    dot.ink = point.ink;
    dot.x.push_back(roofs[l].intensity);
    dot.y.push_back(e.gflops());
    dot.joined = false;
    dot.readings = {fmt::format("{}: {:.4g} flop/byte, its roof is at {:.4g} GFLOPS", roofs[l].name,
                                roofs[l].intensity, ceiling)};
    dot.marked = true;
    dot.width = roofs[l].name == e.bottleneck ? 5 : 3;
    // Those that lie on one another are rings around the ones that are drawn later.
    for (std::size_t later = l + 1; later < roofs.size(); ++later) {
      if (std::abs(std::log(roofs[later].intensity / roofs[l].intensity)) < nearlySame) {
        dot.width += 2.5;
      }
    }
    p.lines.push_back(dot);
    p.labels.push_back({roofs[l].intensity, e.gflops(), roofs[l].name, dot.ink, true});
  }
  return p;
}

Table rooflineTable(const Scene& scene) {
  Table table{{"link", "intensity_flop_per_byte", "bandwidth_bytes_per_second", "roof_gflops",
               "gflops", "peak_gflops", "most_intensity_flop_per_byte"},
              {}};
  if (!scene.now) return table;
  const auto rows = [&](const Evaluation& e, const std::string* pin) {
    for (const LinkRoof& r : roofsOf(e)) {
      table.rows.push_back({r.name, numberCell(r.intensity),
                            Cell(fmt::format("{:.4g} GB/s", r.bandwidth / 1e9), r.bandwidth),
                            numberCell(r.bandwidth * r.intensity / 1e9), numberCell(e.gflops()),
                            numberCell(peakOf(e)), numberCell(r.most)});
      if (pin != nullptr) table.rows.back().front().text += " of " + *pin;
    }
  };
  rows(*scene.now, nullptr);
  for (const Pinned& pin : scene.pins) {
    if (pin.evaluation) rows(*pin.evaluation, &pin.pin.name);
  }
  return table;
}

}  // namespace tcsim::gui
