#include "core/machine/share.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tcsim {

namespace {

std::int64_t share_of(std::int64_t whole, int cores) {
  return std::max<std::int64_t>(
      1, std::llround(static_cast<double>(whole) / static_cast<double>(cores)));
}

void divide(Level& level, int cores) {
  const std::string source = fmt::format("a {}th of {}", cores, to_text(level.capacity.value));
  std::int64_t sets = level.sets();
  if (sets == 1) {
    level.ways.value = share_of(level.ways.value, cores);
  } else {
    sets = share_of(sets, cores);
  }
  level.capacity.value = Bytes(sets * level.ways.value * level.line.value.value());
  level.capacity.source = source;
}

}  // namespace

const BandwidthSeries* series_of_cores(const Level& level, int cores) {
  const BandwidthSeries* best = nullptr;
  for (const BandwidthSeries& s : level.series) {
    if (s.mix != AccessMix::load_fma_store || s.cores != cores) continue;
    if (best == nullptr || s.element > best->element ||
        (s.element == best->element && s.median() > best->median())) {
      best = &s;
    }
  }
  return best;
}

Machine view_of_one_core(const Machine& machine) {
  Machine m = machine;
  const int cores = machine.core.cores;
  if (cores == 1) return m;
  m.core.cores = 1;
  BytesPerSecond inside(HUGE_VAL);
  for (Level& level : m.levels) {
    const int sharing = std::min(cores, level.shared_by);
    if (level.kind == LevelKind::cache && sharing > 1) divide(level, sharing);
    if (const BandwidthSeries* series = series_of_cores(level, cores)) {
      const double each = series->median().value() / cores;
      level.bandwidth = {{each, Bandwidth::Unit::bytes_per_second},
                         Origin::measured,
                         fmt::format("{} cores at work", cores)};
    }
    const BytesPerSecond rate = level.bandwidth.value.at(m.core.frequency.value);
    if (rate > inside) {
      level.bandwidth.value = {inside.value(), Bandwidth::Unit::bytes_per_second};
    }
    inside = std::min(inside, rate);
  }
  return m;
}

}  // namespace tcsim
