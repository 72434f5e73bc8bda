#include "gui/charts/zoom.hpp"

#include <algorithm>
#include <cmath>

namespace tcsim::gui {

namespace {

// Places along an axis: their logarithms where it has a logarithmic scale.
class Scale {
 public:
  explicit Scale(bool logarithmic) : logarithmic_(logarithmic) {}
  double place(double value) const { return logarithmic_ ? std::log(value) : value; }
  double value(double place) const { return logarithmic_ ? std::exp(place) : place; }

 private:
  bool logarithmic_;
};

// From `low` on, `length` long, within the whole; its ends to the last digit.
Span within(const Span& whole, const Scale& scale, double low, double length) {
  const double first = scale.place(whole.low), last = scale.place(whole.high);
  low = std::max(std::min(low, last - length), first);
  const double high = low + length;
  return {low <= first ? whole.low : scale.value(low),
          high >= last ? whole.high : scale.value(high)};
}

}  // namespace

Span zoomed(const Span& now, const Span& whole, bool logarithmic, double share, double factor) {
  constexpr double least = 1e-3;
  const Scale scale(logarithmic);
  const double all = scale.place(whole.high) - scale.place(whole.low);
  const double length = scale.place(now.high) - scale.place(now.low);
  const double wanted = std::clamp(length * factor, least * all, all);
  return within(whole, scale, scale.place(now.low) + share * (length - wanted), wanted);
}

Span moved(const Span& now, const Span& whole, bool logarithmic, double share) {
  const Scale scale(logarithmic);
  const double length = scale.place(now.high) - scale.place(now.low);
  return within(whole, scale, scale.place(now.low) + share * length, length);
}

Plot partOf(const Plot& plot, const Span& x, const Span& y) {
  Plot part = plot;
  part.x.low = x.low, part.x.high = x.high;
  part.y.low = y.low, part.y.high = y.high;
  const auto outside = [](double at, const Span& s) { return at < s.low || at > s.high; };
  const auto misses = [](double from, double to, const Span& s) {
    return std::max(from, to) < s.low || std::min(from, to) > s.high;
  };
  std::erase_if(part.regions, [&](const Region& r) { return misses(r.from, r.to, x); });
  for (Region& r : part.regions) {
    r.from = std::max(r.from, x.low);
    r.to = std::min(r.to, x.high);
  }
  std::erase_if(part.bars, [&](const Bar& b) {
    return misses(b.from, b.to, x) || misses(b.at - b.thickness / 2, b.at + b.thickness / 2, y);
  });
  for (Bar& b : part.bars) {
    if (outside(b.to, x) || outside(b.at, y)) b.label.clear();
    b.from = std::max(b.from, x.low);
    b.to = std::min(b.to, x.high);
  }
  std::erase_if(part.rules, [&](const Rule& r) { return outside(r.at, r.vertical ? x : y); });
  std::erase_if(part.labels, [&](const Label& l) { return outside(l.x, x) || outside(l.y, y); });
  std::erase_if(part.outlines,
                [&](const Segment& s) { return misses(s.x0, s.x1, x) || misses(s.y0, s.y1, y); });
  const auto gone = [](std::vector<std::pair<double, std::string>>& ticks, const Span& s) {
    std::erase_if(ticks, [&](const auto& t) { return t.first < s.low || t.first > s.high; });
  };
  const bool ticksX = !part.x.ticks.empty(), ticksY = !part.y.ticks.empty();
  gone(part.x.ticks, x);
  gone(part.y.ticks, y);
  // An axis whose names are all outside still has its numbers.
  if (ticksX && part.x.ticks.empty()) part.x.ticks.emplace_back(x.low, "");
  if (ticksY && part.y.ticks.empty()) part.y.ticks.emplace_back(y.low, "");
  return part;
}

}  // namespace tcsim::gui
