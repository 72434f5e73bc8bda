#include "sim/trace/numbered_lines.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace tcsim::sim {

namespace {

constexpr int region_bits = 16;  // of line numbers: 4 MiB of lines of 64 bytes. Source: chosen.
constexpr std::uint64_t region_lines = std::uint64_t{1} << region_bits;
// More would let a few regions take all numbers.
constexpr std::uint64_t largest_common = std::uint64_t{1} << 22;
constexpr std::size_t known_regions = 64;

// Of all numbers of sets; 0 if it is too large.
std::uint64_t common_multiple(const SystemConfig& config) {
  std::uint64_t common = 1;
  for (const LevelConfig& l : config.levels) {
    const auto sets = static_cast<std::uint64_t>(l.sets);
    common *= sets / std::gcd(common, sets);
    if (common > largest_common) return 0;
  }
  return common;
}

std::vector<CacheShape> shapes_of(const SystemConfig& config) {
  std::vector<CacheShape> shapes;
  for (const LevelConfig& l : config.levels) shapes.push_back({l.sets, l.ways});
  return shapes;
}

}  // namespace

bool NumberedLines::takes(const SystemConfig& config) { return common_multiple(config) != 0; }

NumberedLines::NumberedLines(const SystemConfig& config, LinePart part, std::int64_t numbers)
    : config_(config),
      part_(part),
      line_bits_(std::countr_zero(static_cast<std::uint64_t>(config.levels.front().line.value()))),
      caches_(shapes_of(config), ByArray<std::uint32_t>(1), line_bits_, Engine::best, part),
      known_(known_regions),
      common_(common_multiple(config)),
      numbers_(static_cast<std::uint64_t>(numbers)) {}

void NumberedLines::touch(std::uint64_t first, std::uint64_t last, bool write) {
  while (first <= last) {
    const std::uint64_t end = std::min(last, first | (region_lines - 1));
    const std::uint32_t base = system_ ? 0 : base_of(first >> region_bits);
    if (system_) {
      for (; first <= end; ++first) {
        if (part_.has(first)) system_->access(0, first << line_bits_, 1, write);
      }
      continue;
    }
    const auto at = [&](std::uint64_t line) {
      return base + static_cast<std::uint32_t>(line & (region_lines - 1));
    };
    const LineRun lines{at(first), at(end)};
    write ? caches_.write(lines, ArrayId::A) : caches_.read(lines, ArrayId::A);
    first = end + 1;
  }
}

// Where the numbers of a region begin. If there are none left, system_ is there afterwards.
std::uint32_t NumberedLines::base_of(std::uint64_t region) {
  Known& known = known_[region % known_regions];
  if (known.region == region) return known.base;
  auto found = bases_.find(region);
  if (found == bases_.end()) {
    const std::uint64_t wanted = (region << region_bits) % common_;
    const std::uint64_t base = next_ + (wanted + common_ - next_ % common_) % common_;
    if (base + region_lines > numbers_) {
      move_to_system();
      return 0;
    }
    next_ = base + region_lines;
    found = bases_.emplace(region, static_cast<std::uint32_t>(base)).first;
    regions_.emplace_back(static_cast<std::uint32_t>(base), region);
  }
  known = {region, found->second};
  return known.base;
}

// What the caches hold, the oldest lines of a set first.
void NumberedLines::move_to_system() {
  caches_.settle(config_.levels.size());
  system_ = std::make_unique<System<>>(config_, std::vector{~std::uint64_t{0}});
  for (std::size_t l = 0; l < config_.levels.size(); ++l) {
    const LevelData& data = caches_.level(l);
    for (std::size_t group = 0; group < data.groups; ++group) {
      for (std::uint32_t way = data.ways; way-- > 0;) {
        for (std::uint32_t lane = 0; lane < data.width; ++lane) {
          const Tag tag =
              data.tags[group * data.group_stride + std::size_t{way} * data.width + lane];
          if (tag == no_tag) continue;
          const std::uint32_t number = line_of(tag);
          const auto region = std::ranges::upper_bound(regions_, number, {},
                                                       [](const auto& r) { return r.first; }) -
                              1;
          const std::uint64_t line = (region->second << region_bits) + (number - region->first);
          system_->put(static_cast<int>(l), line, (tag & dirty_bit) != 0);
        }
      }
    }
  }
}

void NumberedLines::finish(bool drain) {
  if (!drain) return caches_.settle(config_.levels.size());
  system_ ? system_->drain() : caches_.drain();
}

std::vector<LevelEvents> NumberedLines::events() const {
  std::vector<LevelEvents> all;
  const Bytes line = config_.levels.front().line;
  for (int l = 1; l <= caches_.cache_count(); ++l) {
    LevelEvents e;
    e.misses = e.fetches = caches_.fills(l, Phase::compute, ArrayId::A).value();
    e.write_backs = caches_.write_backs(l, Phase::compute, ArrayId::A).value();
    e.fills = e.misses + caches_.sum(l - 1, &LinkLines::written_in).value();
    e.evictions = e.fills - caches_.resident(l - 1).value();
    if (system_) {
      const LevelEvents& more = system_->events(l - 1, 0);
      e.misses += more.misses;
      e.fetches += more.fetches;
      e.write_backs += more.write_backs;
      e.fills += more.fills;
      e.evictions += more.evictions;
    }
    e.bytes_in = e.fetches * line;
    e.bytes_out = e.write_backs * line;
    all.push_back(e);
  }
  return all;
}

}  // namespace tcsim::sim
