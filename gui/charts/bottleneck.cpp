// GFLOPS along a knob and how sure they are, with a region for each bottleneck and the crossovers'
// values.
#include <algorithm>
#include <cmath>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

// All of a column in the unit of the machine's own value.
std::string inOneUnit(const Knob& knob, double value) {
  return knob.unit == KnobUnit::bytes ? display(knob, value, knob.base) : shown(knob, value);
}

double gflops(const CurvePoint& p) { return p.choice.prediction.rate.value() / 1e9; }

Line lineOf(const Curve& curve) {
  Line line;
  for (const CurvePoint& p : curve.points) {
    line.x.push_back(p.value);
    line.y.push_back(gflops(p));
    std::string limited = "limited by " + p.bottleneck;
    if (p.sure) limited += " in " + draws_words(p.sure->share(p.bottleneck));
    line.readings.push_back(fmt::format("{} {}: {:.1f} GFLOPS, {}, {}", curve.knob.name,
                                        shown(curve.knob, p.value), gflops(p),
                                        to_display(p.choice.time()), limited));
  }
  return line;
}

// Crossovers lie between points of the curve. Up to one the left side's power law holds, or from it
// on the right side's, whichever is known from two points of the same bottleneck.
void addBends(const Curve& curve, Line& line) {
  const auto power = [](const CurvePoint& a, const CurvePoint& b, double x) {
    const double slope = std::log(gflops(b) / gflops(a)) / std::log(b.value / a.value);
    return gflops(a) * std::pow(x / a.value, slope);
  };
  const auto& points = curve.points;
  for (const Crossover& c : curve.crossovers) {
    const auto after = std::lower_bound(points.begin(), points.end(), c.value,
                                        [](const CurvePoint& p, double v) { return p.value < v; });
    const auto i = static_cast<std::size_t>(after - points.begin());
    if (i == 0 || i == points.size() || after->value == c.value) continue;
    const CurvePoint &left = points[i - 1], &right = points[i];
    double y = gflops(right);
    if (i >= 2 && points[i - 2].bottleneck == left.bottleneck) {
      y = power(points[i - 2], left, c.value);
    } else if (i + 1 < points.size() && points[i + 1].bottleneck == right.bottleneck) {
      y = power(right, points[i + 1], c.value);
    }
    y = std::clamp(y, std::min(gflops(left), gflops(right)), std::max(gflops(left), gflops(right)));
    const auto at = std::lower_bound(line.x.begin(), line.x.end(), c.value) - line.x.begin();
    line.x.insert(line.x.begin() + at, c.value);
    line.y.insert(line.y.begin() + at, y);
    line.readings.insert(
        line.readings.begin() + at,
        fmt::format("{} {}: {} to {}{}", c.knob, shown(curve.knob, c.value), c.from, c.to,
                    c.band ? "; " + band_words(*c.band, curve.knob.base) : ""));
  }
}

// Of a pin, where it is along that knob; otherwise null.
const Curve* curveAlong(const Pinned& pin, const Knob& knob) {
  return pin.curve && pin.curve->curve.knob.name == knob.name ? &pin.curve->curve : nullptr;
}

// The band of the draws, with the crossovers' values among its places. Empty where no rate of the
// machine has a spread.
Band bandOf(const Curve& curve, double flops) {
  Band band;
  const auto add = [&](double x, const std::optional<Uncertainty>& sure) {
    if (!sure) return;
    const auto at = std::lower_bound(band.x.begin(), band.x.end(), x) - band.x.begin();
    band.x.insert(band.x.begin() + at, x);
    band.low.insert(band.low.begin() + at, flops / sure->high.value() / 1e9);
    band.high.insert(band.high.begin() + at, flops / sure->low.value() / 1e9);
  };
  for (const CurvePoint& p : curve.points) add(p.value, p.sure);
  for (const Crossover& c : curve.crossovers) {
    if (!curve.points.empty() && c.value > curve.points.front().value &&
        c.value < curve.points.back().value) {
      add(c.value, c.sure);
    }
  }
  return band;
}

}  // namespace

Plot bottleneckPlot(const Scene& scene) {
  Plot p;
  p.title = "Bottleneck along a knob";
  if (!scene.curve) {
    p.missing = whyMissing(scene, scene.curve.error, "The curve is being computed.");
    return p;
  }
  const Curved& c = *scene.curve.value;
  const Curve& curve = c.curve;
  const Machine& machine = scene.now->subject.machine;
  p.hollow = !scene.curve.current;
  p.subtitle = subtitleOf(*scene.now);
  p.title = fmt::format("Predicted GFLOPS against {}", curve.knob.name);
  Line line = lineOf(curve);
  addBends(curve, line);
  line.name = scene.pins.empty() ? "predicted" : "now";
  line.ink = Ink::text;
  line.marked = true;
  line.hollow = p.hollow;
  line.width = 2.5;
  if (line.x.size() < 2) {
    p.missing = oneMachine;
    return p;
  }
  // A little more than the range, so that its ends are seen whole.
  const double margin = std::pow(line.x.back() / line.x.front(), 0.02);
  p.x = {axisLabel(curve.knob), true, line.x.front() / margin, line.x.back() * margin, {}};
  if (!c.range.remark.empty()) {
    // What ended the range, on a line of its own: it is long.
    std::string remark = c.range.remark;
    if (const auto colon = remark.find(": "); colon != remark.npos) remark[colon + 1] = '\n';
    p.subtitle += "\n" + remark;
  }
  double most = *std::max_element(line.y.begin(), line.y.end());
  if (Band band = bandOf(curve, scene.now->subject.contraction.flops()); band.x.size() > 1) {
    band.name = "90 of 100 draws of the measured rates";
    most = std::max(most, *std::max_element(band.high.begin(), band.high.end()));
    p.bands.push_back(std::move(band));
  }

  for (std::size_t i = 0; i < scene.pins.size(); ++i) {
    const Curve* const theirs = curveAlong(scene.pins[i], curve.knob);
    if (theirs == nullptr) continue;
    Line pinned = lineOf(*theirs);
    addBends(*theirs, pinned);
    pinned.name = "pinned: " + scene.pins[i].pin.name;
    pinned.ink = pinInk(i);
    for (std::string& words : pinned.readings) words = scene.pins[i].pin.name + ": " + words;
    for (double y : pinned.y) most = std::max(most, y);
    p.lines.push_back(std::move(pinned));
  }
  // Bands between crossovers.
  double from = p.x.low;
  std::string bottleneck = curve.points.front().bottleneck;
  for (const Crossover& x : curve.crossovers) {
    p.regions.push_back({from, x.value, bottleneck, limitInk(machine, bottleneck)});
    p.rules.push_back({x.value, true,
                       fmt::format("{}  ({})", shown(curve.knob, x.value), change_words(x.factor)),
                       Ink::text, true});
    from = x.value;
    bottleneck = x.to;
  }
  p.regions.push_back({from, p.x.high, bottleneck, limitInk(machine, bottleneck)});
  // Where a crossover lies in nine of ten draws: a shade over both sides.
  for (const Crossover& x : curve.crossovers) {
    if (!x.band) continue;
    p.regions.push_back({std::max(x.band->low.value_or(p.x.low), p.x.low),
                         std::min(x.band->high.value_or(p.x.high), p.x.high), "", Ink::text});
  }
  p.y = {"GFLOPS", false, 0, 1.25 * most, {}};

  // Doublings of the machine file's value, and halfway between where those are few.
  const double file = value_of(scene.now->subject.base, curve.knob);
  const double step = p.x.high / p.x.low < 10 ? 0.5 : 1;
  for (double e = -8; e <= 8; e += step) {
    const double v = file * std::exp2(e);
    if (v >= p.x.low && v <= p.x.high) p.x.ticks.emplace_back(v, tickText(curve.knob, v));
  }
  p.lines.push_back(line);
  const double here = value_of(machine, curve.knob);
  if (here >= p.x.low && here <= p.x.high) {
    Line point;
    point.name = "this machine";
    point.ink = Ink::here;
    point.x = {here};
    point.y = {scene.now->gflops()};
    point.joined = false;
    point.marked = true;
    point.width = 4;
    p.lines.push_back(point);
  }
  return p;
}

Table bottleneckTable(const Scene& scene) {
  Table table{{"knob", "value", "factor", "predicted_seconds", "gflops", "bottleneck"}, {}};
  if (!scene.curve) return table;
  const Curve& curve = scene.curve->curve;
  const bool sure = curve.base.sure.has_value();
  if (sure) {
    table.columns.insert(table.columns.end(), {"bottleneck_share", "5_percent", "95_percent"});
  }
  table.columns[1] = fmt::format("value_{}", to_text(curve.knob.unit));
  std::vector<const Curve*> pins;
  for (const Pinned& pin : scene.pins) {
    const Curve* const theirs = curveAlong(pin, curve.knob);
    if (theirs == nullptr) continue;
    pins.push_back(theirs);
    table.columns.insert(table.columns.end(),
                         {pinColumn(pin, "seconds"), pinColumn(pin, "bottleneck")});
  }
  const auto row = [&](const std::string& what, double value, double factor) {
    return std::vector<Cell>{what, Cell(inOneUnit(curve.knob, value), value),
                             Cell(fmt::format("{:.4g}x", factor), factor)};
  };
  for (const CurvePoint& p : curve.points) {
    auto cells = row(curve.knob.name, p.value, p.factor);
    cells.push_back(timeCell(p.choice.time()));
    cells.push_back(numberCell(gflops(p)));
    cells.emplace_back(p.bottleneck);
    if (sure && p.sure) {
      cells.push_back(numberCell(p.sure->share(p.bottleneck), "{:.3f}"));
      cells.push_back(timeCell(p.sure->low));
      cells.push_back(timeCell(p.sure->high));
    } else if (sure) {
      cells.insert(cells.end(), 3, "");
    }
    for (const Curve* pin : pins) {
      const auto same = std::ranges::find(pin->points, p.value, &CurvePoint::value);
      const bool there = same != pin->points.end();
      cells.push_back(there ? timeCell(same->choice.time()) : Cell());
      cells.emplace_back(there ? same->bottleneck : "");
    }
    table.rows.push_back(std::move(cells));
  }
  for (const Crossover& c : curve.crossovers) {
    auto cells = row("crossover", c.value, c.factor);
    cells.insert(cells.end(), {"", "", c.from + " to " + c.to});
    if (sure) {
      const auto end = [&](bool high) -> Cell {
        if (!c.band) return "";
        const auto& value = high ? c.band->high : c.band->low;
        return value ? Cell(shown(curve.knob, *value), *value) : Cell("beyond the range");
      };
      cells.insert(cells.end(), {"", end(false), end(true)});
    }
    table.rows.push_back(std::move(cells));
    for (const PackingVariant& v : c.packing) {
      table.rows.push_back({"crossover, " + v.counted, Cell(),
                            Cell(change_words(v.factor), v.factor), "", "",
                            c.from + " to " + c.to});
    }
  }
  for (auto& cells : table.rows) cells.resize(table.columns.size());
  return table;
}

}  // namespace tcsim::gui
