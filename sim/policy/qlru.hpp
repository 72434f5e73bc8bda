// Quad-age LRU, the family that Intel's outer caches belong to, with the names of nanoBench and
// uops.info (Abel and Reineke 2020, "nanoBench: a low-overhead tool for running microbenchmarks on
// x86 systems", section VI): QLRU_Hxy_Mm_Rr_Uu, and _UMO; MRmn in place of Mm as nanoBench's
// tools/CacheAnalyzer/cacheSim.py has it.
//  - Lines have ages 0 to 3. A hit makes age 3 x, age 2 y, and what is younger 0.
//  - A line comes with age m. MRmn: by chance one line in 16 comes with age n < m. The i-th line
//    that comes to a set depends on the seed, the set and i.
//  - It goes into an empty way: the first (R0, R1) or the last one (R2). If there is none the first
//    line of age 3 leaves; if there is none of these either, the first one (R1; the others always
//    have one).
//  - After each access, U0: all ages grow by as much as lets the largest be 3. U1: the same without
//    the line of the access. U2: if none is 3, all grow by 1. U3: the same, but not the line of the
//    access. UMO: only on a miss, before a line leaves, and for all lines.
// Empty ways have ages as well, at first 3.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tcsim::sim {

struct Qlru {
  static constexpr int one_in = 16;  // lines that come with the rare age

  std::uint8_t from_3 = 0, from_2 = 0;  // ages after a hit
  std::uint8_t insertion = 0;
  std::optional<std::uint8_t> rare_insertion = {};  // of one line in 16
  std::uint8_t replace = 0, update = 0;
  bool update_on_miss_only = false;

  bool operator==(const Qlru&) const = default;
};

// None if it is no name of a variant. R0 and R2 do not go with U2 and U3.
inline std::optional<Qlru> qlru_named(std::string_view name) {
  Qlru q;
  if (name.ends_with("_UMO")) {
    q.update_on_miss_only = true;
    name.remove_suffix(4);
  }
  // QLRU_H11_M1_R0_U0, QLRU_H11_MR31_R0_U0
  constexpr std::string_view plain = "QLRU_Hxx_Mx_Rx_Ux", by_chance = "QLRU_Hxx_MRxx_Rx_Ux";
  const bool rare = name.size() == by_chance.size();
  const std::string_view pattern = rare ? by_chance : plain;
  if (name.size() != pattern.size()) return {};
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (pattern[i] != 'x' && name[i] != pattern[i]) return {};
  }
  const auto digit = [&](std::size_t at) { return static_cast<std::uint8_t>(name[at] - '0'); };
  q.from_3 = digit(6);
  q.from_2 = digit(7);
  q.insertion = digit(rare ? 11 : 10);
  if (rare) q.rare_insertion = digit(12);
  q.replace = digit(name.size() - 4);
  q.update = digit(name.size() - 1);
  const bool hits = q.from_3 <= 2 && q.from_2 <= 1 && q.from_2 <= q.from_3;
  if (rare && *q.rare_insertion >= q.insertion) return {};
  if (!hits || q.insertion > 3 || q.replace > 2 || q.update > 3) return {};
  if (q.replace != 1 && q.update >= 2) return {};
  return q;
}

}  // namespace tcsim::sim
