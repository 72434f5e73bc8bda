#include "sim/config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>

#include "core/error.hpp"
#include "sim/level.hpp"

namespace tcsim::sim {

namespace {

constexpr std::int64_t most_lines = std::numeric_limits<std::int32_t>::max();

void check_index(const LevelConfig& level, const std::string& place) {
  if (!level.index.is_sliced()) return;
  if (level.index.masks.size() > SetIndex::most_masks) {
    throw UnsupportedError(place, fmt::format("{} masks", level.index.masks.size()),
                           fmt::format("give at most {}", SetIndex::most_masks));
  }
  if (level.sets % level.index.slices() != 0) {
    throw UnsupportedError(
        place, fmt::format("{} sets in {} slices", level.sets, level.index.slices()),
        "give it a number of sets that is a multiple of its slices, or the index modulo or hashed");
  }
  const auto in_slice = static_cast<std::uint64_t>(level.sets_in_slice());
  // Of lines in the set of one number in its slice, the bits above are free: those that a power of
  // two within the sets of a slice does not fix.
  std::vector<std::uint64_t> masks = level.index.masks;
  const std::uint64_t fixed_bytes =
      (in_slice & (0 - in_slice)) * static_cast<std::uint64_t>(level.line.value());
  for (std::uint64_t& mask : masks) mask &= ~(fixed_bytes - 1);
  if (!cancel_out(masks)) return;
  throw UnsupportedError(
      place,
      fmt::format("no line lies in some of its sets, because the bits of its masks from {} on "
                  "cancel out",
                  std::countr_zero(fixed_bytes)),
      "give masks with other bits of those");
}

void check_level(const LevelConfig& level, const std::string& place) {
  const std::int64_t line = level.line.value();
  if (line < 1 || !std::has_single_bit(static_cast<std::uint64_t>(line))) {
    throw UnsupportedError(place, fmt::format("lines of {} bytes are not simulated", line),
                           "use a power of two");
  }
  if (level.sets < 1 || level.ways < 1 || level.sets > most_lines / level.ways) {
    throw UnsupportedError(place, fmt::format("{} sets of {} ways", level.sets, level.ways),
                           "simulate a cache of 1 to 2^31 - 1 lines");
  }
  check_index(level, place);
  if (level.qlru && (level.ways < 2 || level.ways > 64)) {
    throw UnsupportedError(place, fmt::format("QLRU of {} ways", level.ways), "use 2 to 64 ways");
  }
  const bool has_tree =
      !level.qlru && level.replacement == Replacement::tree_plru && level.ways <= 64;
  if (level.empty_ways == EmptyWays::tree && !has_tree) {
    throw UnsupportedError(place,
                           fmt::format("empty ways are to be filled by the tree of {} with {} ways",
                                       to_text(level.replacement), level.ways),
                           "use the replacement tree-plru and up to 64 ways");
  }
  if (streams(level.prefetch) && level.prefetch_ahead < 1) {
    throw UnsupportedError(place, fmt::format("it prefetches {} lines ahead", level.prefetch_ahead),
                           "give at least 1");
  }
  if (level.victim_lines < 0) {
    throw UnsupportedError(place, fmt::format("a victim cache of {} lines", level.victim_lines),
                           "give at least 0");
  }
  if (level.shared_by < 1) {
    throw UnsupportedError(place, fmt::format("it is shared by {} cores", level.shared_by),
                           "give at least 1");
  }
}

void check_neighbours(const LevelConfig& level, const LevelConfig& inside,
                      const std::string& place) {
  const bool exclusive = level.inclusion == Inclusion::exclusive;
  if (exclusive ? level.line != inside.line
                : level.inclusion == Inclusion::inclusive && level.line < inside.line) {
    throw UnsupportedError(
        place,
        fmt::format("it is {}, and its lines have {} bytes, those of {} {}",
                    to_text(level.inclusion), level.line.value(), inside.name, inside.line.value()),
        exclusive ? "give both the same line size" : "give it lines at least as long");
  }
  if (exclusive && level.victim_lines != 0) {
    throw UnsupportedError(place, "it is exclusive and has a victim cache",
                           "use victim_lines 0; an exclusive level holds victims itself");
  }
  if (exclusive && level.prefetch != Prefetch::none) {
    throw UnsupportedError(place, "it is exclusive and prefetches",
                           "let the level inside it prefetch");
  }
  if (level.shared_by % inside.shared_by != 0) {
    throw UnsupportedError(
        place,
        fmt::format("{} cores share it, {} share {}", level.shared_by, inside.shared_by,
                    inside.name),
        fmt::format("let it be shared by a multiple of {} cores", inside.shared_by));
  }
}

}  // namespace

std::uint64_t cache_seed(const SystemConfig& config, std::size_t level, std::size_t instance) {
  return config.seed + 0x100000001 * level + 0x1000 * instance;
}

SystemConfig system_of(const Machine& machine, int cores) {
  SystemConfig config;
  config.cores = cores;
  config.name = machine.name;
  for (int l = 0; l < machine.cache_count(); ++l) {
    const Level& level = machine.level(LevelId{l});
    if (level.kind != LevelKind::cache) {
      throw UnsupportedError(fmt::format("{}: {}", machine.name, level.name),
                             fmt::format("a {} is not simulated", to_text(level.kind)),
                             "simulate a machine of caches");
    }
    LevelConfig c;
    c.name = level.name;
    c.sets = level.sets();
    c.ways = level.ways.value;
    c.line = level.line.value;
    c.replacement = level.replacement.value;
    c.inclusion = level.inclusion.value;
    c.write = level.write;
    c.write_allocate = level.write_allocate;
    c.prefetch = level.prefetch;
    c.prefetch_ahead = level.prefetch_ahead;
    c.index = level.index;
    c.victim_lines = level.victim_lines;
    if (cores > 1) c.shared_by = level.shared_by;
    config.levels.push_back(c);
  }
  return config;
}

void check(const SystemConfig& config) {
  if (config.levels.empty()) {
    throw UnsupportedError(config.name, "the machine has no cache to simulate",
                           "give it a cache inside its memory");
  }
  if (config.cores < 1) {
    throw UnsupportedError(config.name, fmt::format("{} cores", config.cores), "give at least 1");
  }
  const auto place = [&](const LevelConfig& l) {
    return fmt::format("{}: {}", config.name, l.name);
  };
  const LevelConfig& first = config.levels.front();
  if (first.inclusion != Inclusion::neither) {
    throw UnsupportedError(
        place(first),
        fmt::format("inclusion {}, but no level lies inside it", to_text(first.inclusion)),
        "give it the inclusion neither");
  }
  for (const LevelConfig& level : config.levels) {
    check_level(level, place(level));
    if (&level != &first) check_neighbours(level, *(&level - 1), place(level));
  }
}

bool is_plain(const SystemConfig& config) {
  return config.cores == 1 && std::ranges::all_of(config.levels, [&](const LevelConfig& l) {
           LevelConfig plain;
           plain.name = l.name;
           plain.sets = l.sets;
           plain.ways = l.ways;
           plain.line = config.levels.front().line;
           plain.shared_by = l.shared_by;
           plain.prefetch_ahead = l.prefetch_ahead;
           return l == plain;
         });
}

bool runs_by_blocks(const SystemConfig& config) {
  if (is_plain(config)) return true;
  SystemConfig plain = config;
  for (LevelConfig& l : plain.levels) {
    const bool is_list = l.replacement == Replacement::lru || l.replacement == Replacement::fifo;
    const bool has_words =
        l.replacement == Replacement::tree_plru || l.replacement == Replacement::bit_plru;
    if (!is_list && !(has_words && l.ways <= most_ways_of_words)) return false;
    if (l.index.hashed || l.sets_in_slice() % 4 != 0) return false;
    l.replacement = Replacement::lru;
    l.inclusion = Inclusion::neither;
    l.index = {};
  }
  return is_plain(plain);
}

}  // namespace tcsim::sim
