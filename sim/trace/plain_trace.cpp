#include "sim/trace/plain_trace.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "core/stop.hpp"

namespace tcsim::sim {

namespace {

constexpr int region_bits = 16;  // of line numbers: 4 MiB of lines of 64 bytes. Source: chosen.
constexpr std::uint64_t region_lines = std::uint64_t{1} << region_bits;
// More would let a few regions take all numbers.
constexpr std::uint64_t largest_common = std::uint64_t{1} << 22;
constexpr std::size_t known_regions = 64;
// A run of no more goes line by line; more are one request. Source: measured on an Intel Xeon.
constexpr std::uint64_t few_lines = 2;

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

int line_bits_of(const SystemConfig& config) {
  return std::countr_zero(static_cast<std::uint64_t>(config.levels.front().line.value()));
}

// The sum of (first + i * step) / 2^bits, rounded down, over 0 <= i < count, for small numbers.
std::uint64_t sum_of_quotients(std::uint64_t first, std::uint64_t step, std::uint64_t count,
                               int bits) {
  std::uint64_t sum = 0, divisor = std::uint64_t{1} << bits;
  while (count > 0) {
    sum += (first / divisor) * count + (step / divisor) * (count * (count - 1) / 2);
    first %= divisor;
    step %= divisor;
    // What is left counts points under a line; the same with the axes exchanged.
    const std::uint64_t top = step * count + first;
    if (top < divisor) break;
    count = top / divisor;
    first = top % divisor;
    std::swap(step, divisor);
  }
  return sum;
}

}  // namespace

bool can_run_plain_trace(const SystemConfig& config) {
  return is_plain(config) && common_multiple(config) != 0;
}

std::int64_t PlainTrace::most_parts(const SystemConfig& config) {
  // Blocks of the widest vector stay together.
  std::int64_t common = 0;
  for (const LevelConfig& l : config.levels) common = std::gcd(common, l.sets);
  return std::max<std::int64_t>(1, (common & -common) / max_width);
}

PlainTrace::PlainTrace(const SystemConfig& config, Engine engine, std::uint32_t part,
                       std::uint32_t parts, std::int64_t numbers)
    : config_(config),
      line_bits_(line_bits_of(config)),
      caches_(shapes_of(config), ByArray<std::uint32_t>(1), line_bits_, engine,
              parts > 1 ? LinePart{max_width * part, max_width, max_width * parts} : LinePart{}),
      narrow_(engine == Engine::narrow),
      part_(part),
      part_mask_(parts - 1),
      part_bits_(parts == 1 ? 0 : std::countr_zero(max_width)),
      known_(known_regions),
      common_(common_multiple(config)),
      numbers_(static_cast<std::uint64_t>(numbers)) {
  const auto sets = static_cast<std::uint64_t>(config.levels.front().sets);
  latest_mask_ = (sets & (0 - sets)) - 1;
  latest_.assign(latest_mask_ + 1, ~std::uint64_t{0});
  apart_ = caches_.residues();
}

inline void PlainTrace::mark(std::uint64_t line, bool write) {
  std::uint64_t& latest = latest_[line & latest_mask_];
  const std::uint64_t wanted = line << 1 | 1;
  if ((latest | std::uint64_t{!write}) == wanted) return;
  latest = wanted - !write;
  pass(line, write);
}

void PlainTrace::run(const TraceBatch& batch, bool with_instructions) {
  StopCheck check;
  auto run_of = batch.runs().begin();
  std::int64_t touches = 0;
  for (const TraceBatch::Access& a : batch.accesses()) {
    if (a.kind == AccessKind::instruction && !with_instructions) {
      run_of += a.is_run;
      continue;
    }
    const std::uint64_t first = a.address >> line_bits_;
    const std::uint64_t last = (a.address + a.bytes - 1) >> line_bits_;
    // What is read and written at once is written.
    const bool both = a.kind == AccessKind::modify;
    const bool write = both || a.kind == AccessKind::write;
    if (a.is_run || first != last) {
      const TraceBatch::Run all = a.is_run ? *run_of++ : TraceBatch::Run{};
      const std::uint64_t lines = lines_of_short_run(a, all);
      if (lines > 0) {
        touches += static_cast<std::int64_t>(all.count) << both;
        for (std::uint64_t line = first; line < first + lines; ++line) mark(line, write);
        continue;
      }
      run({a.kind, a.address, a.bytes, all.stride, all.count});
      check(static_cast<std::int64_t>(all.count));
      continue;
    }
    touches += 1 + both;
    mark(first, write);
  }
  touches_ += touches;
}

// How many lines a run touches one after the other, if those are few and each access is within one;
// 0 of other runs. The accesses of a line follow one another, so all but the first of them change
// nothing.
std::uint64_t PlainTrace::lines_of_short_run(const TraceBatch::Access& a,
                                             const TraceBatch::Run& all) const {
  const std::uint64_t line = std::uint64_t{1} << line_bits_;
  const auto stride = static_cast<std::uint64_t>(all.stride);
  const std::uint64_t beside = a.bytes - 1;  // bits, where the bytes are a power of two
  const bool within_lines =
      (a.bytes & beside) == 0 && a.bytes <= line && ((a.address | stride) & beside) == 0;
  if (!within_lines || stride > line || all.count > few_lines * line) return 0;
  const std::uint64_t last = a.address + stride * (all.count - 1);
  const std::uint64_t lines = (last >> line_bits_) - (a.address >> line_bits_) + 1;
  return lines <= few_lines ? lines : 0;
}

void PlainTrace::run(const TraceRecord& record) {
  const bool write = record.kind == AccessKind::write;
  const bool both = record.kind == AccessKind::modify;
  if (record.count > 1 && run_as_lines(record, write || both)) {
    return;
  }
  std::uint64_t address = record.address;
  for (std::uint64_t i = 0; i < record.count; ++i) {
    access(address, record.bytes, write);
    if (both) access(address, record.bytes, true);
    address += static_cast<std::uint64_t>(record.stride);
  }
}

inline void PlainTrace::access(std::uint64_t address, std::uint32_t bytes, bool write) {
  const std::uint64_t last = (address + bytes - 1) >> line_bits_;
  for (std::uint64_t line = address >> line_bits_; line <= last; ++line) touch(line, write);
}

inline void PlainTrace::touch(std::uint64_t line, bool write) {
  ++touches_;
  mark(line, write);
}

void PlainTrace::pass(std::uint64_t line, bool write) {
  if (((line >> part_bits_) & part_mask_) != part_) return;
  if (!system_) {
    const Known& known = known_[(line >> region_bits) % known_regions];
    const std::uint32_t base =
        known.region == line >> region_bits ? known.base : base_of(line >> region_bits);
    if (!system_) {
      const auto number = base + static_cast<std::uint32_t>(line & (region_lines - 1));
      if (narrow_) return caches_.touch_now(number, write);
      const LineRun one{number, number};
      return write ? caches_.write(one, ArrayId::A) : caches_.read(one, ArrayId::A);
    }
  }
  system_->access(0, line << line_bits_, 1, write);
}

// A run at a stride that leaves out no line. Between two touches of a line only its neighbours are
// touched, which lie in other sets; so all but the first one change nothing.
bool PlainTrace::run_as_lines(const TraceRecord& record, bool write) {
  const std::uint64_t line = std::uint64_t{1} << line_bits_;
  const auto stride = static_cast<std::uint64_t>(record.stride);
  const std::uint64_t neighbours = (record.bytes - 1) / line + 2;
  if (record.stride < 0 || stride > line || neighbours > apart_) return false;
  const std::uint64_t offset = record.address & (line - 1);
  const std::uint64_t more =
      sum_of_quotients(offset + record.bytes - 1, stride, record.count, line_bits_) -
      sum_of_quotients(offset, stride, record.count, line_bits_);
  const std::int64_t each = record.kind == AccessKind::modify ? 2 : 1;
  touches_ += each * static_cast<std::int64_t>(record.count + more);
  const std::uint64_t end = record.address + stride * (record.count - 1) + record.bytes - 1;
  touch_lines(record.address >> line_bits_, end >> line_bits_, write);
  return true;
}

// Without counting them.
void PlainTrace::touch_lines(std::uint64_t first, std::uint64_t last, bool write) {
  for (std::uint64_t line = first; line <= last; ++line) {
    latest_[line & latest_mask_] = line << 1 | std::uint64_t{write};
  }
  while (first <= last) {
    const std::uint64_t region = first >> region_bits;
    const std::uint64_t end = std::min(last, first | (region_lines - 1));
    const std::uint32_t base = system_ ? 0 : base_of(region);
    if (system_) {
      for (; first <= end; ++first) {
        if (((first >> part_bits_) & part_mask_) == part_) {
          system_->access(0, first << line_bits_, 1, write);
        }
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
std::uint32_t PlainTrace::base_of(std::uint64_t region) {
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
void PlainTrace::move_to_system() {
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

void PlainTrace::finish(bool drain) {
  if (!drain) return caches_.settle(config_.levels.size());
  system_ ? system_->drain() : caches_.drain();
}

std::vector<LevelEvents> PlainTrace::events() const {
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
