// What the caches hold and miss while the schedule runs, over the loops that run.
#include <algorithm>
#include <cmath>

#include "gui/charts/charts.hpp"
#include "gui/charts/words.hpp"

namespace tcsim::gui {

namespace {

// Heights of the strips, from the top: for each cache what it holds and what it misses, then a row
// for each loop and pack.
constexpr double heldHigh = 1, missedHigh = 0.45, loopHigh = 0.26, gap = 0.12;

struct Cause {
  const char* name;
  Ink ink;
  Lines MissCauses::*lines;
};
constexpr Cause causes[] = {{"compulsory misses", Ink::faint, &MissCauses::compulsory},
                            {"capacity misses", Ink::link3, &MissCauses::capacity},
                            {"conflict misses", Ink::compute, &MissCauses::conflict}};

// Steps that have a span: the others are too short to be seen.
std::vector<std::size_t> seenSteps(const Timeline& t) {
  std::vector<std::size_t> seen;
  for (const TimelineSpan& s : t.spans) {
    if (seen.empty() || seen.back() != s.step) seen.push_back(s.step);
  }
  return seen;
}

std::string stepName(const Step& s) {
  return s.kind == Step::Kind::move ? fmt::format("pack {}", to_text(s.tensor))
                                    : fmt::format("for {} by {}", to_text(s.group), s.tile);
}

// Round numbers, in a unit in which neighbours differ.
void setTicks(Axis& axis) {
  constexpr double most = 8;
  double step = std::pow(10, std::ceil(std::log10((axis.high - axis.low) / most)));
  for (const double smaller : {0.2, 0.5}) {
    if ((axis.high - axis.low) / (smaller * step) <= most) {
      step *= smaller;
      break;
    }
  }
  step = std::max(step, 1.0);
  const double unit = step >= 1e5 ? 1e6 : step >= 100 ? 1e3 : 1;
  if (unit > 1) axis.label += unit == 1e6 ? " [millions]" : " [thousands]";
  for (double at = std::ceil(axis.low / step) * step; at <= axis.high; at += step) {
    axis.ticks.emplace_back(at, fmt::format("{:.10g}", at / unit));
  }
}

std::string touchesWords(const TouchRange& r) {
  return fmt::format("touches {} to {}", r.begin, r.end - 1);
}

class Timelines {
 public:
  Timelines(Plot& p, const Timeline& t) : p_(p), t_(t) {}

  void draw() {
    const std::vector<std::size_t> steps = seenSteps(t_);
    top_ = static_cast<double>(t_.levels.size()) * (heldHigh + missedHigh + 2 * gap) +
           static_cast<double>(steps.size()) * loopHigh;
    p_.y.high = top_;
    for (std::size_t l = 0; l < t_.levels.size(); ++l) {
      held(l);
      missed(l);
    }
    for (std::size_t step : steps) loop(step);
    std::ranges::reverse(p_.y.ticks);
  }

 private:
  // Two points for each frame, so that edges are upright.
  Band band(Ink ink) const {
    Band b;
    b.ink = ink;
    b.shade = 0.6;
    for (std::size_t f = 0; f < t_.frames(); ++f) {
      const TouchRange r = t_.touches_of(f);
      b.x.push_back(static_cast<double>(r.begin));
      b.x.push_back(static_cast<double>(r.end));
    }
    return b;
  }

  // What is stacked so far in each frame, from the strip's foot on.
  void stack(Band band, std::vector<double>& so_far, double foot,
             const std::vector<double>& heights, std::string name) {
    for (std::size_t f = 0; f < t_.frames(); ++f) {
      const double low = foot + so_far[f];
      so_far[f] += heights[f];
      band.low.insert(band.low.end(), 2, low);
      band.high.insert(band.high.end(), 2, foot + so_far[f]);
    }
    const bool named =
        std::ranges::any_of(p_.legend, [&](const auto& entry) { return entry.first == name; });
    if (!named) p_.legend.emplace_back(std::move(name), band.ink);
    p_.bands.push_back(std::move(band));
  }

  void held(std::size_t l) {
    top_ -= heldHigh + gap;
    const auto lines = static_cast<double>(t_.levels[l].config.lines());
    std::vector<double> so_far(t_.frames());
    for (const Array& array : printed_arrays) {
      std::vector<double> heights(t_.frames());
      for (ArrayId a : t_.arrays.ids()) {
        if (!(t_.arrays[a] == array)) continue;
        for (std::size_t f = 0; f < t_.frames(); ++f) {
          heights[f] += heldHigh * t_.held(l, f, a) / lines;
        }
      }
      if (std::ranges::all_of(heights, [](double h) { return h == 0; })) continue;
      stack(band(inkOf(array)), so_far, top_, heights, to_text(array));
    }
    outline(top_, heldHigh);
    const std::string& name = t_.levels[l].config.name;
    p_.y.ticks.emplace_back(top_ + heldHigh / 2, name + " holds");
    for (std::size_t f = 0; f < t_.frames(); ++f) {
      std::string words;
      for (ArrayId a : t_.arrays.ids()) {
        if (t_.at(l, f, a).held == Lines(0)) continue;
        words += fmt::format("{}{} {:.0f}", words.empty() ? "" : ", ", to_text(t_.arrays[a]),
                             t_.held(l, f, a));
      }
      read(f, top_, heldHigh,
           fmt::format("{} holds {} of {:.0f} lines", name, words.empty() ? "none" : words, lines));
    }
  }

  void missed(std::size_t l) {
    top_ -= missedHigh + gap;
    // Misses for each touch: the last frame may be shorter than the others.
    std::vector<FrameTally> all;
    double most = 0;
    const auto touches = [&](std::size_t f) {
      const TouchRange r = t_.touches_of(f);
      return static_cast<double>(r.end - r.begin);
    };
    for (std::size_t f = 0; f < t_.frames(); ++f) {
      all.push_back(t_.total(l, f));
      most = std::max(most, static_cast<double>(all[f].misses.total().value()) / touches(f));
    }
    std::vector<double> so_far(t_.frames());
    for (const Cause& c : causes) {
      std::vector<double> heights(t_.frames());
      for (std::size_t f = 0; f < t_.frames() && most > 0; ++f) {
        heights[f] =
            missedHigh * static_cast<double>((all[f].misses.*c.lines).value()) / touches(f) / most;
      }
      if (std::ranges::all_of(heights, [](double h) { return h == 0; })) continue;
      stack(band(c.ink), so_far, top_, heights, c.name);
    }
    outline(top_, missedHigh);
    const std::string& name = t_.levels[l].config.name;
    p_.y.ticks.emplace_back(top_ + missedHigh / 2, name + " misses");
    for (std::size_t f = 0; f < t_.frames(); ++f) {
      const MissCauses& m = all[f].misses;
      read(f, top_, missedHigh,
           fmt::format("{} misses {} of {} requests: {} compulsory, {} capacity, {} conflict", name,
                       m.total().value(), all[f].requests.value(), m.compulsory.value(),
                       m.capacity.value(), m.conflict.value()));
    }
  }

  void loop(std::size_t step) {
    top_ -= loopHigh;
    p_.y.ticks.emplace_back(top_ + loopHigh / 2, stepName(t_.steps[step]));
    const bool packs = t_.steps[step].kind == Step::Kind::move;
    for (const TimelineSpan& s : t_.spans) {
      if (s.step != step) continue;
      Bar b;
      b.at = top_ + loopHigh / 2;
      b.from = static_cast<double>(std::max(s.touches.begin, t_.shown.begin));
      b.to = static_cast<double>(std::min(s.touches.end, t_.shown.end));
      b.thickness = 0.86 * loopHigh;
      if (packs) {
        b.ink = t_.steps[step].tensor == TensorId::A ? Ink::packedA : Ink::packedB;
      } else {
        b.ink = Ink::faint;
        b.shade = s.number % 2 == 0 ? 0.18 : 0.36;
      }
      b.inside = to_text(t_, s);
      p_.readings.push_back({b.from, top_, b.to, top_ + loopHigh,
                             packs ? fmt::format("{}: {}", to_text(t_, s), touchesWords(s.touches))
                                   : fmt::format("{}, iteration {}: {}", to_text(t_, s),
                                                 s.number + 1, touchesWords(s.touches))});
      p_.bars.push_back(std::move(b));
    }
  }

  void outline(double foot, double high) {
    for (const double at : {foot, foot + high}) {
      Line l;
      l.x = {static_cast<double>(t_.shown.begin), static_cast<double>(t_.shown.end)};
      l.y = {at, at};
      l.ink = Ink::faint;
      l.width = 1;
      p_.lines.push_back(std::move(l));
    }
  }

  void read(std::size_t f, double foot, double high, const std::string& words) {
    const TouchRange r = t_.touches_of(f);
    p_.readings.push_back({static_cast<double>(r.begin), foot, static_cast<double>(r.end),
                           foot + high, touchesWords(r) + ": " + words});
  }

  Plot& p_;
  const Timeline& t_;
  double top_ = 0;  // of what is still to be drawn
};

}  // namespace

Plot timelinePlot(const Scene& scene) {
  Plot p;
  p.title = "What the caches hold and miss, over the loops that run";
  if (!scene.now || !scene.timeline) {
    p.missing = whyMissing(scene, scene.timeline.error);
    if (scene.now && scene.error.empty() && scene.timeline.error.empty()) {
      p.missing = cacheNamed(scene.now->subject.machine, "").empty() ? "This machine has no cache."
                  : simulatedSoon(*scene.now)
                      ? "The run is being simulated."
                      : "This workload has so many accesses that simulating "
                        "them one by one takes a while. Press Simulate the "
                        "run; Esc stops it.";
    }
    return p;
  }
  const Timeline& t = scene.timeline->line;
  p.hollow = !scene.timeline.current;
  p.subtitle = subtitleOf(*scene.now);
  if (t.frames() == 0) {
    p.missing = fmt::format("The run has {} touches: nothing of it is in {}.", t.touches,
                            to_text(scene.timeline->part));
    return p;
  }
  if (t.frames() < static_cast<std::size_t>(t.touches)) {
    p.subtitle += fmt::format("\n{} frames of {} line touches each{}", t.frames(), t.frame,
                              t.frame > 1 ? "; what is shorter shows when one zooms in" : "");
  }
  p.x = {"line touches of the core",
         false,
         static_cast<double>(t.shown.begin),
         static_cast<double>(t.shown.end),
         {}};
  setTicks(p.x);
  p.wholeX = {0.0, static_cast<double>(t.touches)};
  p.zoomsUpward = false;
  p.legendAt = Corner::below;
  Timelines(p, t).draw();
  return p;
}

Table timelineTable(const Scene& scene) {
  if (!scene.timeline) return cachesTable(scene);
  Table table{{"level", "from_touch", "to_touch", "tensor", "resident_lines", "requests",
               "compulsory", "capacity", "conflict"},
              {}};
  const Timeline& t = scene.timeline->line;
  const auto count = [](std::int64_t n) { return numberCell(static_cast<double>(n), "{:.0f}"); };
  for (std::size_t l = 0; l < t.levels.size(); ++l) {
    for (std::size_t f = 0; f < t.frames(); ++f) {
      for (ArrayId a : t.arrays.ids()) {
        const FrameTally& c = t.at(l, f, a);
        const TouchRange r = t.touches_of(f);
        table.rows.push_back({t.levels[l].config.name, count(r.begin), count(r.end),
                              to_text(t.arrays[a]), numberCell(t.held(l, f, a)),
                              count(c.requests.value()), count(c.misses.compulsory.value()),
                              count(c.misses.capacity.value()), count(c.misses.conflict.value())});
      }
    }
  }
  return table;
}

}  // namespace tcsim::gui
