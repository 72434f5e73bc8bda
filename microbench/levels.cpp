#include "microbench/levels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/units/text.hpp"

namespace tcsim {

namespace {

// How far from a cache's end its slope reaches, and how far the end may lie from the reported size
// before that is worth a remark: replacement that is not LRU smears the end out.
constexpr double slope = 1.4, smallest = 0.6, largest = 1.7;
// Falls that are taken for a cache's end: a stream's may be small, since hardware prefetches it.
constexpr double least_of_stream = 1.08, least_of_chase = 1.3;
constexpr double noteworthy_fall = 1.3;

Bytes scaled(Bytes b, double factor) {
  return Bytes(std::llround(static_cast<double>(b.value()) * factor));
}

Bytes geometric_mean(Bytes a, Bytes b) {
  return Bytes(
      std::llround(std::sqrt(static_cast<double>(a.value()) * static_cast<double>(b.value()))));
}

// The steps of one curve and the caches that they belong to.
struct Ends {
  std::vector<RateStep> steps;
  std::vector<std::optional<std::size_t>> of_cache;

  // Falls below `least` are noise.
  Ends(const std::vector<Bytes>& capacities, const RateCurve& curve, double least) {
    for (const RateStep& s : find_steps(curve)) {
      if (s.fall >= least) steps.push_back(s);
    }
    of_cache = match_steps(capacities, steps);
  }

  std::optional<Bytes> end(std::size_t cache) const {
    if (!of_cache[cache]) return {};
    return steps[*of_cache[cache]].at;
  }

  bool belongs(std::size_t step) const {
    return std::find(of_cache.begin(), of_cache.end(), step) != of_cache.end();
  }
};

std::vector<LevelSpan> spans_between(const std::vector<Bytes>& ends, const RateCurve& curve) {
  std::vector<LevelSpan> all;
  for (std::size_t l = 0; l <= ends.size(); ++l) {
    LevelSpan s{curve.front().working_set, curve.back().working_set};
    if (l > 0) s.from = scaled(ends[l - 1], slope);
    if (l < ends.size()) s.to = scaled(ends[l], 1 / slope);
    if (s.from > s.to) s.from = s.to = geometric_mean(s.from, s.to);
    all.push_back(s);
  }
  return all;
}

bool far(Bytes seen, Bytes reported) {
  const double ratio = static_cast<double>(seen.value()) / static_cast<double>(reported.value());
  return ratio < smallest || ratio > largest;
}

void remark_on_cache(const CacheGeometry& c, std::optional<Bytes> load, std::optional<Bytes> stream,
                     std::optional<Bytes> chase, std::vector<std::string>& remarks) {
  const std::string reported = to_text(c.capacity);
  if (!stream && !chase) {
    remarks.push_back(fmt::format(
        "L{}: no curve has a step near its reported {}; its figures are from working sets between "
        "the reported sizes",
        c.level, reported));
    return;
  }
  if (!load && !stream) {
    remarks.push_back(fmt::format("L{}: streams see no step at its end, single loads do", c.level));
  }
  if (stream && far(*stream, c.capacity)) {
    remarks.push_back(fmt::format("L{}: the plateau of streams ends at {}, reported {}", c.level,
                                  to_binary_display(*stream), reported));
  }
  if (chase && far(*chase, c.capacity)) {
    remarks.push_back(fmt::format(
        "L{}: single loads find their lines up to {}, reported {}{}", c.level,
        to_binary_display(*chase), reported,
        *chase < c.capacity ? " (others use it too, or address translation gets in the way)" : ""));
  }
}

// Steps that are no cache's end.
void remark_on_rest(const Ends& ends, const std::vector<CacheGeometry>& caches, const char* what,
                    std::vector<std::string>& remarks) {
  for (std::size_t i = 0; i < ends.steps.size(); ++i) {
    const RateStep& s = ends.steps[i];
    if (ends.belongs(i) || s.fall < noteworthy_fall) continue;
    const auto inside = std::find_if(caches.begin(), caches.end(),
                                     [&](const CacheGeometry& c) { return s.at < c.capacity; });
    std::string where = "beyond all reported caches";
    if (inside != caches.end()) {
      where =
          fmt::format("well inside L{}, reported {}{}", inside->level, to_text(inside->capacity),
                      inside->shared_by > 1 || inside + 1 == caches.end()
                          ? " (others may use it too, or addresses take long to translate)"
                          : "");
    }
    remarks.push_back(fmt::format("{} {:.3g} times slower from {} on, {}", what, s.fall,
                                  to_binary_display(s.at), where));
  }
}

}  // namespace

std::size_t LevelSpans::of(Bytes working_set) const {
  std::size_t level = 0;
  while (level + 1 < spans.size() && working_set > scaled(spans[level].to, slope)) ++level;
  return level;
}

LevelSpans find_levels(const std::vector<CacheGeometry>& caches, const Curves& curves) {
  std::vector<Bytes> capacities;
  for (const CacheGeometry& c : caches) capacities.push_back(c.capacity);
  const Ends load(capacities, curves.load, least_of_stream);
  const Ends lfs(capacities, curves.load_fma_store, least_of_stream);
  const Ends chase(capacities, curves.chase, least_of_chase);

  LevelSpans result;
  std::vector<Bytes> ends;
  for (std::size_t l = 0; l < caches.size(); ++l) {
    const auto stream = load.end(l) ? load.end(l) : lfs.end(l);
    ends.push_back(stream.value_or(chase.end(l).value_or(capacities[l])));
    remark_on_cache(caches[l], load.end(l), stream, chase.end(l), result.remarks);
  }
  remark_on_rest(load, caches, "a load stream is", result.remarks);
  remark_on_rest(chase, caches, "single loads are", result.remarks);
  result.spans = spans_between(ends, curves.load_fma_store);
  return result;
}

std::vector<std::size_t> points_of(const RateCurve& curve, const LevelSpan& span) {
  const auto octaves_off = [&](Bytes b) {
    const Bytes middle = geometric_mean(span.from, span.to);
    return std::abs(
        std::log2(static_cast<double>(b.value()) / static_cast<double>(middle.value())));
  };
  std::size_t first = curve.size(), end = 0, nearest = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    const Bytes b = curve[i].working_set;
    if (octaves_off(b) < octaves_off(curve[nearest].working_set)) nearest = i;
    if (!span.holds(b)) continue;
    first = std::min(first, i);
    end = i + 1;
  }
  if (first >= end) return {nearest};
  const RateCurve inside(curve.begin() + static_cast<std::ptrdiff_t>(first),
                         curve.begin() + static_cast<std::ptrdiff_t>(end));
  Plateau longest{0, inside.size(), 0};
  std::size_t most = 0;
  for (const Plateau& p : find_plateaus(inside)) {
    if (p.end - p.first <= most) continue;
    most = p.end - p.first;
    longest = p;
  }
  std::vector<std::size_t> points;
  for (std::size_t i = longest.first; i < longest.end; ++i) points.push_back(first + i);
  return points;
}

}  // namespace tcsim
