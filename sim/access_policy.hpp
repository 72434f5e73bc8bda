// What a cache does with the lines of a block under each policy that looks at one set alone, for as
// many sets at once as a vector has lanes. Included once by each file that compiles it for an
// instruction set; Isa is that of sim/access_wide.hpp. Also says which clean lines leave, which
// access_wide() does not.
#pragma once

#include <cstdint>
#include <cstring>

#include "sim/level.hpp"

namespace tcsim::sim {

template <class Isa>
struct PolicyAccess {
  using Vector = typename Isa::Vector;

  static Vector* tags(const LevelData& level, std::uint32_t block) {
    return reinterpret_cast<Vector*>(level.tags_of(block));
  }
  static Vector* words(const LevelData& level, std::uint32_t block) {
    return reinterpret_cast<Vector*>(level.words_of(block));
  }
  static Vector of_lanes(LaneMask lanes) {
    const Vector bit = Isa::bit;
    return Vector((lanes & bit) == bit);
  }
  // The tags of a block's lines, clean.
  static Vector tags_of_lines(std::uint32_t block) {
    return tag_of(block * Isa::width) + 2 * Isa::lane;
  }
  static Vector select(const Vector& mask, const Vector& a, const Vector& b) {
    Vector to;
    Isa::pick(mask, a, b, to);
    return to;
  }

  static Found probe(const LevelData& level, std::uint32_t block, LaneMask lanes) {
    const Vector* const way = tags(level, block);
    const Vector wanted = tags_of_lines(block) | dirty_bit, active = of_lanes(lanes);
    Vector found = {}, dirty = {};
    for (std::uint32_t i = 0; i < level.ways; ++i) {
      const Vector same = Vector((way[i] | dirty_bit) == wanted) & active;
      found |= same;
      dirty |= same & way[i];
    }
    return {Isa::mask_of(found), Isa::mask_of(dirty << 31)};
  }

  // Those that left, of lanes that `missed`.
  static void report(const Vector& missing, const Vector& left, Missed& missed) {
    missed.lanes = Isa::mask_of(missing);
    missed.victims_any = Isa::mask_of(missing & Vector(left != no_tag));
    missed.dirty_victims = Isa::mask_of(missing & (left << 31));
    std::memcpy(missed.victims.data(), &left, sizeof left);
  }

  // Lanes that hit leave the order alone under FIFO; all others come to the front.
  template <bool hits_move>
  static void access_list(const LevelData& level, std::uint32_t block, LaneMask lanes,
                          LaneMask dirty, Missed& missed) {
    Vector* const way = tags(level, block);
    const Vector line = tags_of_lines(block), wanted = line | dirty_bit, active = of_lanes(lanes);
    const Vector written = of_lanes(dirty) & dirty_bit;
    Vector settled = ~active, left = line, hit = {}, seen = {};
    if constexpr (!hits_move) {
      for (std::uint32_t i = 0; i < level.ways; ++i) {
        const Vector same = Vector((way[i] | dirty_bit) == wanted) & active;
        way[i] |= same & written;
        hit |= same;
      }
      settled |= hit;
      if (Isa::mask_of(~settled) == 0) return report(~settled, left, missed);
    }
    for (std::uint32_t i = 0; i < level.ways; ++i) {
      const Vector old = way[i];
      const Vector same = Vector((old | dirty_bit) == wanted);
      Isa::pick(settled, old, left, way[i]);
      seen |= old & same;
      settled |= same;
      left = old;
    }
    way[0] |= (written | (seen & dirty_bit)) & active & ~hit;
    report(~settled, left, missed);
  }

  // The word after a use of a way.
  template <Replacement policy>
  static Vector used(const LevelData& level, std::uint32_t way, const Vector& word) {
    if constexpr (policy == Replacement::tree_plru) {
      const TreePath path = level.paths[way];
      return (word & ~path.nodes) | path.bits;
    } else {
      const std::uint32_t bit = std::uint32_t{1} << way, all = bits_below(level.ways);
      const Vector marked = word | bit, alone = Vector{} + bit;
      return select(Vector(marked == all), alone, marked);
    }
  }
  // Whether the word says that this way's line is to leave.
  template <Replacement policy>
  static Vector is_victim(const LevelData& level, std::uint32_t way, const Vector& word) {
    if constexpr (policy == Replacement::tree_plru) {
      const TreePath path = level.paths[way];
      return Vector((word & path.nodes) == (path.nodes & ~path.bits));
    } else {
      return Vector((word & bits_below(way + 1)) == bits_below(way));
    }
  }
  static constexpr std::uint32_t bits_below(std::uint32_t n) {
    return n >= 32 ? ~std::uint32_t{0} : (std::uint32_t{1} << n) - 1;
  }

  template <Replacement policy>
  static void access_words(const LevelData& level, std::uint32_t block, LaneMask lanes,
                           LaneMask dirty, Missed& missed) {
    Vector* const way = tags(level, block);
    Vector& kept = *words(level, block);
    const Vector line = tags_of_lines(block), wanted = line | dirty_bit, active = of_lanes(lanes);
    const Vector written = of_lanes(dirty) & dirty_bit, word = kept;
    Vector next = word, hit = {}, some_empty = {};
    for (std::uint32_t i = 0; i < level.ways; ++i) {
      const Vector old = way[i];
      const Vector same = Vector((old | dirty_bit) == wanted) & active;
      some_empty |= Vector(old == no_tag);
      if (Isa::mask_of(same) == 0) continue;
      way[i] = old | (same & written);
      next = select(same, used<policy>(level, i, word), next);
      hit |= same;
    }
    const Vector missing = active & ~hit;
    Vector open = missing, left = line;
    if (Isa::mask_of(missing) != 0) {
      for (std::uint32_t i = 0; i < level.ways; ++i) {
        const Vector old = way[i];
        const Vector takes =
            open & select(some_empty, Vector(old == no_tag), is_victim<policy>(level, i, word));
        if (Isa::mask_of(takes) == 0) continue;
        left = select(takes, old, left);
        way[i] = select(takes, line | written, old);
        next = select(takes, used<policy>(level, i, word), next);
        open &= ~takes;
      }
    }
    kept = next;
    report(missing, left, missed);
  }

  // `policy` lru stands for both lists, where a use before it leaves changes nothing.
  template <Replacement policy>
  static Found remove(const LevelData& level, std::uint32_t block, LaneMask lanes, bool use) {
    constexpr bool is_list = policy == Replacement::lru;
    Vector* const way = tags(level, block);
    const Vector wanted = tags_of_lines(block) | dirty_bit, active = of_lanes(lanes);
    const Vector none = Vector{} + no_tag;
    Vector gone = {}, dirty = {};
    for (std::uint32_t i = 0; i < level.ways; ++i) {
      const Vector same = Vector((way[i] | dirty_bit) == wanted) & active;
      dirty |= same & way[i];
      gone |= same;
      if constexpr (is_list) {
        way[i] = select(gone, i + 1 < level.ways ? way[i + 1] : none, way[i]);
      } else {
        if (Isa::mask_of(same) == 0) continue;
        way[i] = select(same, none, way[i]);
        Vector& word = *words(level, block);
        if (use) word = select(same, used<policy>(level, i, word), word);
      }
    }
    return {Isa::mask_of(gone), Isa::mask_of(dirty << 31)};
  }
};

template <class Isa>
LevelOperations operations_for(Replacement policy) {
  using Of = PolicyAccess<Isa>;
  switch (policy) {
    case Replacement::fifo:
      return {Of::template access_list<false>, Of::probe, Of::template remove<Replacement::lru>};
    case Replacement::tree_plru:
      return {Of::template access_words<Replacement::tree_plru>, Of::probe,
              Of::template remove<Replacement::tree_plru>};
    case Replacement::bit_plru:
      return {Of::template access_words<Replacement::bit_plru>, Of::probe,
              Of::template remove<Replacement::bit_plru>};
    default:
      return {Of::template access_list<true>, Of::probe, Of::template remove<Replacement::lru>};
  }
}

}  // namespace tcsim::sim
