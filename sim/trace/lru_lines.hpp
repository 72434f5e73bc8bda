// Plain caches behind one another (is_plain() in sim/config.hpp), one line at a time and at once:
// for the single accesses of a trace. Lines have 64 bits. Rules: sim/hierarchy.hpp.
//
// A set is one row: a byte of every line's number, by which 16 ways are compared at once; a byte of
// every way that says how many ways were used since, so that the policy's state is 16 ways a
// vector, too; a mask of the dirty ways; and the lines' numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/config.hpp"
#include "sim/events.hpp"
#include "sim/level.hpp"
#include "sim/set_modulo.hpp"
#include "sim/way_bytes.hpp"

namespace tcsim::sim {

class LruLines {
 public:
  static constexpr std::int64_t most_ways = 64;
  static constexpr std::size_t most_levels = 8;

  // Whether it takes these caches.
  static bool takes(const SystemConfig& config);

  // One part of the lines. All numbers of sets are multiples of its period.
  LruLines(const SystemConfig& config, LinePart part);

  // The core touches the line, or every line up to the last one, in order; those of other parts are
  // left out.
  void touch(std::uint64_t line, bool write) {
    if (parted_) {
      if (!part_.has(line)) return;
      // The lines of a part are numbered without gaps.
      line = (line >> period_bits_) << block_bits_ | (line & (part_.lines - 1));
    }
    const Level& inner = levels_.front();
    char* const row = inner.row_of(line);
    if (!inner.use(row, line, write)) miss(row, line, write);
  }
  void touch(std::uint64_t first, std::uint64_t last, bool write) {
    for (std::uint64_t line = first; line <= last; ++line) touch(line, write);
  }
  // To be called at the end. `drain`: every dirty line is written back, level after level from the
  // core outward; within a level set by set, the least recently used line first.
  void finish(bool drain);
  // What each level did, but hits.
  std::vector<LevelEvents> events() const;

 private:
  static constexpr std::uint64_t none = ~std::uint64_t{0};  // no line has this number

  struct Free {
    void operator()(char* rows) const;
  };
  struct Level {
    Level(std::uint64_t sets, std::uint32_t ways);

    char* row_of(std::uint64_t line) const { return row_at(set_of(line)); }
    char* row_at(std::uint64_t set) const { return rows.get() + (set << row_bits); }
    char* ranks(char* row) const { return row + padded; }
    std::uint64_t& dirty(char* row) const {
      return *reinterpret_cast<std::uint64_t*>(row + 2 * padded);
    }
    std::uint64_t* numbers(char* row) const {
      return reinterpret_cast<std::uint64_t*>(row + 2 * padded) + 1;
    }
    // Makes the line the latest used one if it is there, and dirty if asked to.
    bool use(char* row, std::uint64_t line, bool write) const {
      return padded == 16 ? use<16>(row, line, write) : use<0>(row, line, write);
    }
    // Known: `padded` where the compiler is to know it, otherwise 0.
    template <std::size_t Known>
    bool use(char* row, std::uint64_t line, bool write) const {
      const std::size_t bytes = Known ? Known : padded;
      auto* const words = reinterpret_cast<std::uint64_t*>(row + 2 * bytes);
      std::uint64_t some = equal_bytes(row, bytes, byte_of(line)) & all_ways;
      for (; some != 0; some &= some - 1) {
        const int way = std::countr_zero(some);
        if (words[1 + way] != line) continue;
        bring_to_front(row + bytes, bytes, way);
        words[0] |= std::uint64_t{write} << way;
        return true;
      }
      return false;
    }
    // Puts in a line that is not there, in place of the least recently used one, which it returns
    // if that was dirty.
    std::uint64_t put(char* row, std::uint64_t line, bool write);

    std::uint64_t sets;
    SetModulo set_of;
    std::uint32_t ways;
    std::uint64_t all_ways;  // a bit each
    std::size_t padded;
    int row_bits;
    std::unique_ptr<char[], Free> rows;
    std::int64_t misses = 0, written_in = 0, write_backs = 0, resident = 0;
  };

  void miss(char* row, std::uint64_t line, bool write);
  void arrive(std::size_t level, std::uint64_t line);
  void write_back(std::size_t level, std::uint64_t line);

  std::vector<Level> levels_;
  LinePart part_;
  bool parted_;
  int period_bits_, block_bits_;
  Bytes line_bytes_;
};

}  // namespace tcsim::sim
