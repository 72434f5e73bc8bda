#include "sim/trace/lru_lines.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "core/io/available_memory.hpp"

namespace tcsim::sim {

namespace {

constexpr std::align_val_t row_alignment{64};
constexpr char behind_the_ways = 127;

}  // namespace

void LruLines::Free::operator()(char* rows) const { operator delete[](rows, row_alignment); }

bool LruLines::takes(const SystemConfig& config) {
  return is_plain(config) && config.levels.size() <= most_levels &&
         std::ranges::all_of(config.levels,
                             [](const LevelConfig& l) { return l.ways <= most_ways; });
}

LruLines::Level::Level(std::uint64_t of_sets, std::uint32_t of_ways)
    : sets(of_sets),
      set_of(sets),
      ways(of_ways),
      all_ways(~std::uint64_t{0} >> (most_ways - of_ways)),
      padded((ways + 15) / 16 * 16) {
  const std::size_t row_bytes = std::bit_ceil(2 * padded + (1 + ways) * sizeof(std::uint64_t));
  row_bits = std::countr_zero(row_bytes);
  require_available(static_cast<double>(row_bytes) * static_cast<double>(sets), "the simulation",
                    "the lines of the caches", "simulate smaller ones");
  rows.reset(new (row_alignment) char[row_bytes * sets]);
  for (std::uint64_t set = 0; set < sets; ++set) {
    char* const row = row_at(set);
    std::memset(row, 0, row_bytes);
    for (std::size_t way = 0; way < padded; ++way) {
      ranks(row)[way] = way < ways ? static_cast<char>(way) : behind_the_ways;
    }
    std::fill_n(numbers(row), ways, none);
  }
}

std::uint64_t LruLines::Level::put(char* row, std::uint64_t line, bool write) {
  const int way =
      std::countr_zero(equal_bytes(ranks(row), padded, static_cast<std::uint8_t>(ways - 1)));
  const std::uint64_t bit = std::uint64_t{1} << way;
  std::uint64_t& all_dirty = dirty(row);
  const std::uint64_t left = (all_dirty & bit) != 0 ? numbers(row)[way] : none;
  resident += numbers(row)[way] == none;
  write_backs += left != none;
  numbers(row)[way] = line;
  row[way] = static_cast<char>(byte_of(line));
  all_dirty = (all_dirty & ~bit) | std::uint64_t{write} << way;
  bring_to_front(ranks(row), padded, way);
  return left;
}

LruLines::LruLines(const SystemConfig& config, LinePart part)
    : part_(part),
      parted_(part.lines < part.period),
      period_bits_(std::countr_zero(part.period)),
      block_bits_(std::countr_zero(part.lines)),
      line_bytes_(config.levels.front().line) {
  const std::uint64_t parts = part.period / part.lines;
  for (const LevelConfig& l : config.levels) {
    levels_.emplace_back(static_cast<std::uint64_t>(l.sets) / parts,
                         static_cast<std::uint32_t>(l.ways));
  }
}

// The levels that lack it, the outermost first, put it in; what leaves them finds its line outside.
void LruLines::miss(char* row, std::uint64_t line, bool write) {
  std::array<char*, most_levels> rows{row};
  ++levels_.front().misses;
  std::size_t l = 1;
  for (; l < levels_.size(); ++l) {
    rows[l] = levels_[l].row_of(line);
    if (levels_[l].use(rows[l], line, false)) break;
    ++levels_[l].misses;
  }
  while (l-- > 0) write_back(l, levels_[l].put(rows[l], line, l == 0 && write));
}

void LruLines::write_back(std::size_t level, std::uint64_t line) {
  if (line != none && level + 1 < levels_.size()) arrive(level + 1, line);
}

void LruLines::arrive(std::size_t level, std::uint64_t line) {
  Level& l = levels_[level];
  char* const row = l.row_of(line);
  if (l.use(row, line, true)) return;
  ++l.written_in;
  write_back(level, l.put(row, line, true));
}

void LruLines::finish(bool drain) {
  if (!drain) return;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = levels_[l];
    for (std::uint64_t set = 0; set < level.sets; ++set) {
      char* const row = level.row_at(set);
      std::uint64_t& dirty = level.dirty(row);
      for (auto rank = static_cast<int>(level.ways); dirty != 0 && rank-- > 0;) {
        const std::uint64_t way =
            equal_bytes(level.ranks(row), level.padded, static_cast<std::uint8_t>(rank));
        if ((dirty & way) == 0) continue;
        dirty &= ~way;
        ++level.write_backs;
        write_back(l, level.numbers(row)[std::countr_zero(way)]);
      }
    }
  }
}

std::vector<LevelEvents> LruLines::events() const {
  std::vector<LevelEvents> all;
  for (const Level& l : levels_) {
    LevelEvents e;
    e.misses = e.fetches = l.misses;
    e.write_backs = l.write_backs;
    e.fills = l.misses + l.written_in;
    e.evictions = e.fills - l.resident;
    e.bytes_in = e.fetches * line_bytes_;
    e.bytes_out = e.write_backs * line_bytes_;
    all.push_back(e);
  }
  return all;
}

}  // namespace tcsim::sim
